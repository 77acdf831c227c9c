/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See recorder.h: the file. The first process that gets so far has the name
 * that the user gave, others that name with their number behind it. Who has a
 * name has made an empty file in the folder of the ledgers, which is there for
 * one gpumem-run: what an earlier one recorded is overwritten.
 *
 * A descriptor stays open, for the file gets its storage piece by piece.
 * Programs close descriptors that they have not opened, and then get the number
 * for a file of theirs: it is a high one, and looked at before it is used.
 */
#include "recorder.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/path.h"
#include "record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	RECORD_BYTES = 256 << 20, /* as option record_max by default */
	NAME_SPARE = 64,	  /* for numbers behind a name */
	DESCRIPTOR_LEAST = 512
};

static char folder[LEDGER_FOLDER];
static char wanted[LEDGER_PATH]; /* "": nothing is recorded */
static char place[LEDGER_PATH];	 /* where gpumem-run was started */
static struct stat own;		 /* of the file that is open */
static char opened[LEDGER_PATH]; /* its name */
static char failure[256];	 /* why there is none */

static void copy(char *to, const char *from)
{
	snprintf(to, LEDGER_PATH, "%s", from ? from : "");
}

void recorder_init(const char *ledgers)
{
	snprintf(folder, sizeof(folder), "%s", ledgers);
	copy(wanted, secure_getenv(RECORD_VARIABLE));
	copy(place, secure_getenv(RECORD_FOLDER_VARIABLE));
}

/* ---- its name ---- */

/* The name, with %p replaced. False: it is too long. */
static bool expand(char *path)
{
	size_t used = 0;

	if (wanted[0] != '/')
		used = (size_t)snprintf(path, LEDGER_PATH, "%s/", place);
	return used < LEDGER_PATH - NAME_SPARE &&
	       gm_path_expand(wanted, path + used,
			      LEDGER_PATH - NAME_SPARE - used);
}

/* False, with errno: somebody has it, or nobody can. */
static bool claim(long process, unsigned number)
{
	char path[LEDGER_FOLDER + 64];
	int fd;

	snprintf(path, sizeof(path), "%s/record-%ld-%u", folder, process,
		 number);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* FILE, FILE.PID, FILE.PID.2 ...; of one with %p FILE, FILE.2 ... False: there
 * is none, as the error says. */
static bool choose_name(char *path)
{
	bool has_process = strstr(wanted, "%p");
	long process = getpid();
	unsigned number = 0;
	char text[128], *end;

	if (!expand(path)) {
		gm_fail(GPUMEM_INVALID, "the name is too long");
		return false;
	}
	end = path + strlen(path);
	while (!claim(has_process || number ? process : 0, number)) {
		if (errno != EEXIST) {
			gm_fail(GPUMEM_INVALID, "%s: %s", folder,
				strerror_r(errno, text, sizeof(text)));
			return false;
		}
		number++;
	}
	if (number && !has_process)
		end += sprintf(end, ".%ld", process);
	number += has_process;
	if (number > 1)
		sprintf(end, ".%u", number);
	return true;
}

/* ---- the file ---- */

void recorder_check_file(void)
{
	struct stat now;

	if (fstat(gm_record_file.fd, &now) || now.st_dev != own.st_dev ||
	    now.st_ino != own.st_ino)
		gm_record_file.fd = -1; /* as if the disk were full */
}

static void raise_descriptor(void)
{
	int high = fcntl(gm_record_file.fd, F_DUPFD_CLOEXEC, DESCRIPTOR_LEAST);

	if (high >= 0) {
		close(gm_record_file.fd);
		gm_record_file.fd = high;
	}
	fstat(gm_record_file.fd, &own);
}

static bool open_file(void)
{
	const struct gm_record_config config = {.path = opened,
						.max_bytes = RECORD_BYTES};

	/* A parent's thread may have held it when this child was made. */
	pthread_mutex_init(&gm_record_file.mutex, NULL);
	if (!choose_name(opened) || gm_record_open(&config) != GPUMEM_OK) {
		snprintf(failure, sizeof(failure), "%s", gm_error_text());
		return false;
	}
	raise_descriptor();
	return true;
}

static void try_to_open(struct recorder *recorder)
{
	recorder->tried = true;
	recorder->open = open_file();
	if (recorder->open) {
		atomic_store(&recorder->alive, GM_FORK_PARENT);
		atomic_store(&gm_fork_word, &recorder->alive);
	}
}

/* Each ledger of the process says it. */
static void tell(const struct recorder *recorder, struct ledger *ledger)
{
	if (recorder->open)
		snprintf(ledger->recording, sizeof(ledger->recording), "%s",
			 opened);
	else
		snprintf(ledger->unrecorded, sizeof(ledger->unrecorded), "%s",
			 failure);
}

bool recorder_begin(struct recorder *recorder, struct ledger *ledger)
{
	if (!wanted[0])
		return false;
	if (!recorder->tried)
		try_to_open(recorder);
	if (!ledger->recording[0] && !ledger->unrecorded[0])
		tell(recorder, ledger);
	return recorder->open;
}

/* With the mutex of the recorder. That of the file is a thread's that ends. */
static void end(struct recorder *recorder)
{
	recorder->open = false;
	if (pthread_mutex_trylock(&gm_record_file.mutex))
		return;
	pthread_mutex_unlock(&gm_record_file.mutex);
	recorder_check_file();
	gm_record_close();
}

void recorder_end(struct recorder *recorder, pthread_mutex_t *mutex)
{
	struct timespec soon;

	if (!wanted[0])
		return;
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec++;
	if (pthread_mutex_timedlock(mutex, &soon))
		return;
	if (recorder->open)
		end(recorder);
	pthread_mutex_unlock(mutex);
}
