/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See progress.h.
 */
#include "progress.h"

#include "clock.h"

#include <stdio.h>
#include <unistd.h>

#define WIDTH 40
#define REDRAW_NS 100000000u

void progress_begin(struct progress *progress, const char *label)
{
	*progress = (struct progress){.label = label, .on = isatty(2) == 1};
}

void progress_show(struct progress *progress, uint64_t done, uint64_t total)
{
	static const char bar[] = "########################################";
	uint64_t now;
	double part;

	if (!progress->on)
		return;
	now = clock_ns();
	if (progress->drawn_ns && now - progress->drawn_ns < REDRAW_NS)
		return;
	progress->drawn_ns = now;
	part = total && done < total ? (double)done / (double)total : 1.0;
	fprintf(stderr, "\r%s [%-*.*s] %3d %%", progress->label, WIDTH,
		(int)(part * WIDTH), bar, (int)(part * 100.0));
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->on && progress->drawn_ns)
		fputs("\r\033[K", stderr);
	progress->drawn_ns = 0;
}
