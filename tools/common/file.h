/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The file that a tool writes, or standard output. What is there keeps its
 * content until all that is needed was read; a recording is never overwritten,
 * for its program may be running, and cutting the file would end it.
 */
#ifndef GPUMEM_TOOLS_FILE_H
#define GPUMEM_TOOLS_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* Writes all; false, and told, if it cannot be made. */
typedef bool (*file_fn)(FILE *out, void *user);

/* To that file; NULL or "-": to standard output, of which it is looked at when
 * the program ends whether it was written. False, and told, if it was not. */
bool file_write(const char *path, file_fn fn, void *user);

#endif
