/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Text from outside, such as the names of devices, processes and files, made
 * fit for a terminal. The library does the same with its sentences
 * (core/base/line.h), but a tool knows its public headers only.
 */
#ifndef GPUMEM_TOOLS_CLEAN_H
#define GPUMEM_TOOLS_CLEAN_H

#include <stdarg.h>
#include <stddef.h>

/* One line of printable UTF-8, to be freed; NULL: out of memory. Line breaks
 * and tabs become blanks; each byte of another control character, of a mark
 * that reverses or breaks the line, or of no UTF-8 becomes four characters such
 * as \x1b. */
char *clean_copy(const char *from);

/* The same of what printf() would print. */
char *clean_format(const char *format, va_list args)
	__attribute__((format(printf, 1, 0)));

/* The columns that `bytes` of such a line take: one for each character. Those
 * that take two, or none, are not known here. */
size_t clean_columns(const char *line, size_t bytes);

#endif
