/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See output.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_PATH */
#endif
#include "output.h"

#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* False: it was closed. The lowest number that is free is the one that open()
 * gives, and those below are not free. */
static bool hold_descriptor(int number)
{
	if (fcntl(number, F_GETFD) >= 0)
		return true;
	(void)!open("/", O_PATH | O_CLOEXEC);
	return false;
}

/* Runs at exit. The reason of an earlier failure is gone: writing once more, of
 * what is incomplete anyway, gives it again. */
static void close_output(void)
{
	bool failed = ferror(stdout) != 0;

	if (failed)
		putchar('\n');
	errno = 0;
	if (!fflush(stdout) && !failed && !close(STDOUT_FILENO))
		return;
	tool_error("cannot write the output%s%s", errno ? ": " : "",
		   errno ? strerror(errno) : "");
	_exit(TOOL_FAILED);
}

void output_begin(bool needed)
{
	bool open;

	(void)hold_descriptor(STDIN_FILENO);
	open = hold_descriptor(STDOUT_FILENO);
	(void)hold_descriptor(STDERR_FILENO);
	if (needed && !open) {
		tool_error("cannot write the output: it is closed");
		_exit(TOOL_FAILED);
	}
	if (atexit(close_output)) {
		tool_error("out of memory");
		_exit(TOOL_FAILED);
	}
}
