/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A file that is written under a name which a user gave: the library's and the
 * tools', which compile own.c too. What is written goes to a new file beside
 * that name, which takes the name when it is whole; until then what had the
 * name is as it was. It is replaced only if it is an ordinary file of the same
 * owner that nobody has locked: no link is followed at the end of the name, and
 * what is a device, a pipe, a folder or another user's is left alone.
 *
 * It is not about standard output, nor about what is read. Keeps nothing, takes
 * no lock of the process, and needs no host memory. Sentences say why, behind a
 * name and a colon.
 */
#ifndef GM_BASE_OWN_H
#define GM_BASE_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { GM_OWN_WHY_BYTES = 128, GM_OWN_NAME_BYTES = 256 };

/*
 *     fd >= 0: the new file, locked (flock), with the name `made` in `folder`
 *     old >= 0: what has the name, locked; -1: it was not there
 */
struct gm_own {
	int folder, fd, old;
	bool busy;   /* it failed because another process has it locked */
	bool absent; /* it failed because there is none */
	char name[GM_OWN_NAME_BYTES];
	char made[48];
	char why[GM_OWN_WHY_BYTES];
};

/* Makes the new file, to be read and written through `fd`. It has that mode,
 * less the umask, or that of the file that it will replace. False: nothing was
 * made, and `why` is a sentence. */
bool gm_own_begin(struct gm_own *own, const char *path, mode_t mode);
/* It gets its name. The descriptor stays open, and is the caller's. False: the
 * new file is gone, its descriptor is closed, and `why` is a sentence. */
bool gm_own_keep(struct gm_own *own);
/* The new file is gone, its descriptor closed. */
void gm_own_drop(struct gm_own *own);

/* Whether a file of that name could be written now: makes one and drops it. */
bool gm_own_try(struct gm_own *own, const char *path);

/* Opens a file to add to its end, and with `make` makes it if there is none: an
 * ordinary one, the process' own, with one name only. -1, and `why` is a
 * sentence. */
int gm_own_append(struct gm_own *own, const char *path, bool make);

#endif
