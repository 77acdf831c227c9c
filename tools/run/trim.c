/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-run --trim: asks a process that another gpumem-run has started to give
 * unused memory back, by its ledger, see preload/request.h. Ledgers are looked
 * for where gpumem-run makes them; only those of this user are opened.
 */
#include "common/human.h"
#include "common/tool.h"
#include "run.h"

#include "../preload/request.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATIENCE_S = 60 }; /* a device may be at work */

static bool is_own(const char *path, int fd)
{
	struct stat about;

	return !fstat(fd, &about) && S_ISREG(about.st_mode) &&
	       about.st_uid == geteuid() &&
	       about.st_size == sizeof(struct ledger) && *path == '/';
}

/* NULL: it is none, or of another user. */
static struct ledger *map(const char *path)
{
	int fd = open(path,
		      O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct ledger *ledger = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (is_own(path, fd))
		ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE,
			      MAP_SHARED, fd, 0);
	close(fd);
	return ledger == MAP_FAILED ? NULL : ledger;
}

static void unmap(struct ledger *ledger)
{
	if (ledger)
		munmap(ledger, sizeof(*ledger));
}

/* When it was made, in nanoseconds: behind the process's number. */
static uint64_t time_of(const char *path)
{
	const char *behind = strchr(strrchr(path, '/'), '-');

	return behind ? strtoull(behind + 1, NULL, 10) : 0;
}

/* A process that has executed another program has an earlier one, too, and so
 * may one whose number it has now and whose gpumem-run was killed. */
static struct ledger *newest(const glob_t *found, uint64_t pid)
{
	struct ledger *newest = NULL;
	uint64_t newest_time = 0;

	for (size_t i = 0; i < found->gl_pathc; i++) {
		struct ledger *ledger = map(found->gl_pathv[i]);
		uint64_t time = time_of(found->gl_pathv[i]);

		if (ledger && ledger->magic == LEDGER_MAGIC &&
		    ledger->pid == pid && !ledger->exited &&
		    time >= newest_time) {
			unmap(newest);
			newest = ledger;
			newest_time = time;
		} else {
			unmap(ledger);
		}
	}
	return newest;
}

static struct ledger *find(uint64_t pid)
{
	struct ledger *ledger;
	char pattern[64];
	glob_t found;

	snprintf(pattern, sizeof(pattern),
		 "/dev/shm/gpumem-run-*/%llu-*-%d" LEDGER_SUFFIX,
		 (unsigned long long)pid, LEDGER_CUDA);
	(void)glob(pattern, 0, NULL, &found);
	snprintf(pattern, sizeof(pattern),
		 "/tmp/gpumem-run-*/%llu-*-%d" LEDGER_SUFFIX,
		 (unsigned long long)pid, LEDGER_CUDA);
	(void)glob(pattern, GLOB_APPEND, NULL, &found);
	ledger = newest(&found, pid);
	globfree(&found);
	return ledger;
}

/* False: the process has ended, or does not answer. */
static bool ask(struct ledger *ledger, pid_t pid)
{
	const struct timespec second = {.tv_sec = 1};
	uint32_t asked = atomic_fetch_add(&ledger->trim_asked, 1) + 1;

	request_wake(&ledger->trim_asked);
	for (int i = 0; i < PATIENCE_S; i++) {
		uint32_t done = atomic_load(&ledger->trim_done);

		/* Another one's question may be a later one. */
		if ((int32_t)(done - asked) >= 0)
			return true;
		if (kill(pid, 0) && errno == ESRCH)
			return false;
		(void)request_wait(&ledger->trim_done, done, &second);
	}
	return false;
}

bool run_trim(pid_t pid)
{
	struct ledger *ledger = find((uint64_t)pid);
	char text[HUMAN_BYTES];
	bool ok = false;

	if (!ledger)
		tool_error("%ld: no process of this user that uses NVIDIA's "
			   "driver under gpumem-run",
			   (long)pid);
	else if (!ledger->listens)
		tool_error("%ld: that gpumem-run was started without --adopt, "
			   "or with --no-pool",
			   (long)pid);
	else if (!ask(ledger, pid))
		tool_error("%ld: the process does not answer", (long)pid);
	else
		ok = printf("gave back %s\n",
			    human_bytes(text, ledger->trimmed_bytes)) > 0;
	unmap(ledger);
	return ok;
}
