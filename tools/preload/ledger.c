/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See ledger.h. The blocks of storage are taken when the file is made, so that
 * a full file system is an error here and not a SIGBUS later; its descriptor is
 * closed at once. Keeps nothing. Its callers hold a mutex, so the thread cannot
 * be cancelled here; and a file that the process may not write is not begun:
 * the kernel's signal would end the program.
 */
#include "ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Whether RLIMIT_FSIZE allows a file of so many bytes. */
static bool may_write(uint64_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) ||
	       limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes;
}

static struct ledger *ledger_map(const char *path)
{
	struct ledger *ledger = MAP_FAILED;
	int fd;

	if (!may_write(sizeof(*ledger)))
		return NULL;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	if (fd < 0)
		return NULL;
	if (!posix_fallocate(fd, 0, sizeof(*ledger)))
		ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE,
			      MAP_SHARED, fd, 0);
	close(fd);
	if (ledger != MAP_FAILED)
		return ledger;
	unlink(path);
	return NULL;
}

static struct ledger *make(const char *folder, enum ledger_api api)
{
	char path[LEDGER_FOLDER + 64];
	struct ledger *ledger;
	struct timespec now;

	/* The same process may count again after it executed another program.
	 */
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(path, sizeof(path), "%s/%ld-%lld%09ld-%d" LEDGER_SUFFIX,
		 folder, (long)getpid(), (long long)now.tv_sec, now.tv_nsec,
		 api);
	ledger = ledger_map(path);
	if (!ledger)
		return NULL;
	ledger->pid = (uint64_t)getpid();
	ledger->api = api;
	snprintf(ledger->program, sizeof(ledger->program), "%s",
		 program_invocation_short_name);
	atomic_store(&ledger->magic, LEDGER_MAGIC);
	return ledger;
}

struct ledger *ledger_make(const char *folder, enum ledger_api api)
{
	struct ledger *ledger;
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	ledger = make(folder, api);
	pthread_setcancelstate(before, NULL);
	return ledger;
}
