/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Files that an option names: "%p" in the name becomes the number of the
 * process. They are tried when the option is set, long before something is to
 * be written; see own.h for what is written to. No lock.
 */
#ifndef GM_BASE_PATH_H
#define GM_BASE_PATH_H

#include "own.h"

enum { GM_PATH_BYTES = 4096 };

/* Copies the name. False: it is too long. */
bool gm_path_expand(const char *path, char *name, size_t bytes);
/* Adds text to the end of an ordinary file, which is made if there is none.
 * False: it could not be written, and own->why is a sentence. */
bool gm_path_add(struct gm_own *own, const char *path, const char *text,
		 size_t bytes);
/* Whether a file of that name could be made, or replaced, now. */
bool gm_path_try(struct gm_own *own, const char *path);
/* Whether something could be added to it; nothing is written. */
bool gm_path_try_add(struct gm_own *own, const char *path);

#endif
