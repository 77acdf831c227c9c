/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Cases that may end their process: each runs in a child, which uses the
 * library for the first time and ends with the first thing that is wrong. The
 * parent has not used the library. Only the main thread of a process calls what
 * is here.
 */
#ifndef LIB_CHILD_H
#define LIB_CHILD_H

#include "fixture.h"
#include <fcntl.h>
#include <sys/wait.h>

static int report; /* where a child says what is wrong */

__attribute__((format(printf, 1, 2), noreturn)) static void
wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vdprintf(report, format, args);
	va_end(args);
	_exit(1);
}

#define need(condition, ...)                                                   \
	do {                                                                   \
		if (!(condition))                                              \
			wrong(__VA_ARGS__);                                    \
	} while (0)

#define works(call)                                                            \
	need((call) == GPUMEM_OK, "line %d: %s: %s", __LINE__, #call,          \
	     last_text())

LIB_USE void in_child(void (*fn)(const void *arg), const void *arg,
		      const char *name)
{
	char said[512] = "";
	int ends[2], status = -1;
	pid_t child;

	if (pipe(ends))
		bail("no pipe");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		alarm(60);
		/* Out of the way of what a case does to low numbers. */
		report = fcntl(ends[1], F_DUPFD_CLOEXEC, 40);
		close(ends[0]);
		close(ends[1]);
		fn(arg);
		_exit(0);
	}
	close(ends[1]);
	while (read(ends[0], said, sizeof(said) - 1) > 0)
		continue;
	close(ends[0]);
	(void)waitpid(child, &status, 0);
	if (!is_int(status, 0, "%s", name))
		diag("%s", said);
}

#endif
