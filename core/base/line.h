/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Text from outside made fit for a terminal and a log: one line of printable
 * UTF-8. Drivers, plugins, other processes and the environment choose names
 * and sentences, and a terminal obeys what it finds in them.
 */
#ifndef GM_BASE_LINE_H
#define GM_BASE_LINE_H

#include <stddef.h>

/* Copies `from` into `to`, which has room for `room` bytes (at least 1), and
 * ends it. Line breaks and tabs become blanks, and blanks at the end go. Every
 * byte of another control character, of a character that reverses or breaks
 * the line, or of no UTF-8 at all becomes four characters such as \x1b. What
 * does not fit is left out, whole characters at a time. A backslash stays as it
 * is, so that a line that has been copied once is copied unchanged. The two
 * must not overlap. */
void gm_line_copy(char *to, size_t room, const char *from);

#endif
