/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The ledgers that the program and its children left, in a folder into which
 * they can put anything: what is no file of ours is not opened for long, and
 * who wants gpumem-run to end need not wait until all are read.
 */
#include "common/tool.h"
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Not a FIFO or a device, which may keep who reads waiting, or do something. */
static int open_own(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
				    O_NOCTTY);
	struct stat about;

	if (fd >= 0 && !fstat(fd, &about) && S_ISREG(about.st_mode) &&
	    about.st_uid == geteuid() && about.st_size == sizeof(struct ledger))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* One that was killed while it made its ledger has no magic number there. */
static bool read_one(const char *path, struct ledger *ledger)
{
	int fd = open_own(path);
	bool ok;

	if (fd < 0)
		return false;
	ok = read(fd, ledger, sizeof(*ledger)) == (ssize_t)sizeof(*ledger) &&
	     ledger->magic == LEDGER_MAGIC;
	close(fd);
	ledger->program[LEDGER_PROGRAM - 1] = 0;
	ledger->stopped[LEDGER_PROGRAM - 1] = 0;
	ledger->told[LEDGER_TOLD - 1] = 0;
	ledger->declined[sizeof(ledger->declined) - 1] = 0;
	ledger->unserved[sizeof(ledger->unserved) - 1] = 0;
	ledger->recording[LEDGER_PATH - 1] = 0;
	ledger->unrecorded[sizeof(ledger->unrecorded) - 1] = 0;
	for (int i = 0; i < LEDGER_DEVICES; i++)
		ledger->devices[i].name[LEDGER_PROGRAM - 1] = 0;
	return ok;
}

static bool is_ledger(const char *name)
{
	size_t length = strlen(name), suffix = strlen(LEDGER_SUFFIX);

	return length > suffix &&
	       !strcmp(name + length - suffix, LEDGER_SUFFIX);
}

static struct run_process *add(struct run_ledgers *ledgers)
{
	size_t bytes = (ledgers->count + 1) * sizeof(*ledgers->processes);
	struct run_process *more = realloc(ledgers->processes, bytes);

	if (!more)
		return NULL;
	ledgers->processes = more;
	return &more[ledgers->count];
}

static int by_id(const void *left, const void *right)
{
	const struct run_process *a = left, *b = right;

	if (a->ledger.pid != b->ledger.pid)
		return a->ledger.pid > b->ledger.pid ? 1 : -1;
	return (a->ledger.api > b->ledger.api) -
	       (a->ledger.api < b->ledger.api);
}

/* A signal is here that ends who does not wait for it. */
static bool is_to_end(void)
{
	sigset_t pending;

	return !sigpending(&pending) && (sigismember(&pending, SIGHUP) > 0 ||
					 sigismember(&pending, SIGINT) > 0 ||
					 sigismember(&pending, SIGQUIT) > 0 ||
					 sigismember(&pending, SIGTERM) > 0);
}

static bool read_all(DIR *entries, const char *folder,
		     struct run_ledgers *ledgers)
{
	struct dirent *entry;
	char path[4096];

	while ((entry = readdir(entries)) != NULL && !is_to_end()) {
		struct run_process *process;

		if (!is_ledger(entry->d_name))
			continue;
		process = add(ledgers);
		if (!process)
			return false;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		ledgers->count += read_one(path, &process->ledger);
	}
	return true;
}

bool run_read(const char *folder, struct run_ledgers *ledgers_out)
{
	struct run_ledgers ledgers = {0};
	DIR *entries = opendir(folder);

	if (!entries) {
		tool_error("%s: %s", folder, strerror(errno));
		return false;
	}
	if (!read_all(entries, folder, &ledgers)) {
		tool_error("out of memory");
		closedir(entries);
		run_ledgers_free(&ledgers);
		return false;
	}
	closedir(entries);
	if (ledgers.count)
		qsort(ledgers.processes, ledgers.count,
		      sizeof(*ledgers.processes), by_id);
	*ledgers_out = ledgers;
	return true;
}

void run_ledgers_free(struct run_ledgers *ledgers)
{
	free(ledgers->processes);
	ledgers->processes = NULL;
	ledgers->count = 0;
}
