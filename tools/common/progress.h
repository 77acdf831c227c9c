/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A bar on standard error, when that is a terminal that can redraw a line;
 * otherwise every call does nothing. It is redrawn when what it says changes,
 * so at most a hundred times for each label.
 */
#ifndef GPUMEM_TOOLS_PROGRESS_H
#define GPUMEM_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	char label[32];
	int percent; /* as drawn; -1: nothing is */
	bool on;
};

void progress_begin(struct progress *progress, const char *label);
/* Cut to what there is room for. */
void progress_label(struct progress *progress, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* done of total, in any unit; done is cut to total. */
void progress_show(struct progress *progress, uint64_t done, uint64_t total);
/* Wipes the bar; may be called again. */
void progress_end(struct progress *progress);
/* Wipes whichever is drawn, so that a message can be printed. */
void progress_wipe(void);

#endif
