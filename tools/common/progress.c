/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See progress.h. The line has 78 columns at most, and is wiped with blanks: no
 * escape sequence is needed.
 */
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 36, LINE = 78 };

static bool can_redraw(void)
{
	const char *kind = getenv("TERM");

	return isatty(STDERR_FILENO) == 1 && kind && *kind &&
	       strcmp(kind, "dumb");
}

/* There is one line to draw on. */
static struct progress *drawn;

void progress_begin(struct progress *progress, const char *label)
{
	*progress = (struct progress){.percent = -1, .on = can_redraw()};
	progress_label(progress, "%s", label);
}

void progress_label(struct progress *progress, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(progress->label, sizeof(progress->label), format, args);
	va_end(args);
	progress_end(progress);
}

void progress_show(struct progress *progress, uint64_t done, uint64_t total)
{
	static const char bar[] = "####################################";
	double part = done < total ? (double)done / (double)total : 1.0;
	int percent = (int)(part * 100.0);

	if (!progress->on || percent == progress->percent)
		return;
	progress->percent = percent;
	drawn = progress;
	fprintf(stderr, "\r%s [%-*.*s] %3d %%", progress->label, BAR,
		(int)(part * BAR), bar, percent);
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->percent >= 0)
		fprintf(stderr, "\r%*s\r", LINE, "");
	progress->percent = -1;
	drawn = NULL;
}

void progress_wipe(void)
{
	if (drawn)
		progress_end(drawn);
}
