/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What every tool does alike: exit codes, messages on standard error, numbers
 * given as arguments, and the end. Nothing here is for several threads.
 */
#ifndef GPUMEM_TOOLS_TOOL_H
#define GPUMEM_TOOLS_TOOL_H

#include <gpumem/gpumem.h>
#include <stdio.h>

enum tool_exit {
	TOOL_OK = 0,
	TOOL_FAILED = 1, /* what was asked did not work */
	TOOL_USAGE = 2,	 /* bad arguments (usage.h) */
	TOOL_ABSENT = 3	 /* a named backend or device is not there */
};

/* To be called first. Sets up the name that messages begin with, standard
 * output (output.h) and what is common to all arguments (usage.h). */
void tool_begin(const char *name);
/* The same of a tool that executes a program, whose standard output it is. */
void tool_begin_runner(const char *name);

/* Of a tool that reads files as large as memory: a long list grows where it is
 * instead of being copied, and its memory goes back when it is freed. */
void tool_expect_lists(void);

/* "NAME: MESSAGE" on standard error, cleaned (clean.h). */
void tool_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, then ": " and the sentence of the calling thread's last error. */
void tool_error_last(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* TOOL_ABSENT for a status that says "not there", TOOL_USAGE for a name or an
 * option that is wrong, else TOOL_FAILED. */
int tool_exit_of(gpumem_status status);

/* "" for a real device, else a sentence: no figure of a simulated one may be
 * taken for a GPU's. */
const char *tool_simulated(const struct gpumem_device_info *info);

/* TOOL_OK when the library understands its environment; if not, that is told.
 * To be called before anything is shown; tool_open() does so itself. */
int tool_configured(void);

/* Opens a device, or says why not and sets *code_out. */
gpumem_device *tool_open(const char *name, int *code_out);

/* Closes what is not NULL; a failure is told, and code made TOOL_FAILED. */
int tool_close(gpumem_device *device, int code);

/* Decimal digits only, at most `max`. */
bool tool_parse_count(const char *text, uint64_t max, uint64_t *count_out);

/* "0.25"; finite, > 0, at most `max`. */
bool tool_parse_seconds(const char *text, double max, double *seconds_out);

#endif
