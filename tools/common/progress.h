/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A bar on standard error, when that is a terminal; otherwise every call does
 * nothing. It is redrawn at most ten times a second.
 */
#ifndef GPUMEM_TOOLS_PROGRESS_H
#define GPUMEM_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *label;
	uint64_t drawn_ns;
	bool on;
};

void progress_begin(struct progress *progress, const char *label);
/* done of total, in any unit; done is cut to total. */
void progress_show(struct progress *progress, uint64_t done, uint64_t total);
/* Wipes the bar; may be called again. */
void progress_end(struct progress *progress);

#endif
