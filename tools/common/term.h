/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What standard output can show: how wide a line may be, and whether it may be
 * coloured. Text for people goes through here.
 */
#ifndef GPUMEM_TOOLS_TERM_H
#define GPUMEM_TOOLS_TERM_H

#include <stdbool.h>
#include <stdio.h>

enum term_style { TERM_PLAIN, TERM_TITLE, TERM_GOOD, TERM_BAD, TERM_DIM };

/* A terminal's columns, or COLUMNS where it does not tell them; 80 for anything
 * else, so that what is written to a file does not depend on a window. */
int term_columns(void);

/* Prints with the colour of that style, if standard output is a terminal that
 * has colours and NO_COLOR is not set. `line` is clean. */
void term_put(enum term_style style, const char *line);

/* Prints a clean line that begins in column `at`, broken at blanks before the
 * right edge; further lines begin in column `indent`. What has no blank is not
 * broken. Ends the last line. */
void term_wrap(const char *line, int at, int indent);

/* Prints a paragraph, cleaned and wrapped. False: out of memory. */
bool term_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
