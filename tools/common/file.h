/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The file that a tool writes, or standard output. What is there keeps its
 * content until the new one is whole, and takes its name only then (base/own.h,
 * which says what is replaced); a recording is never overwritten. /dev/stdout,
 * /dev/fd/N and other character devices are written to in place.
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

/* Whether it could be written now: what ends in a file hours later is tried
 * when it is asked for. False, and told, if not. */
bool file_try(const char *path);

#endif
