/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Ends of blocks that come before their beginnings. A thread that frees what
 * another has just allocated may read the clock while it still waits for the
 * address, and so before the other had the block (gpumem_record(5), "Order").
 * Such an end is put right behind its beginning, with that one's time. No
 * locks.
 */
#ifndef GPUMEM_TOOLS_HISTORY_EARLY_H
#define GPUMEM_TOOLS_HISTORY_EARLY_H

#include "recording.h"

enum { HISTORY_EARLY = 64 };

/* The last ends of what was not live: end[i % HISTORY_EARLY] for the i below
 * put. Their times never decrease. bytes 0: it was taken. */
struct history_early {
	struct recording_event end[HISTORY_EARLY];
	uint64_t put;
};

void history_early_put(struct history_early *early,
		       const struct recording_event *end);
/* The end of a block that has just begun; false: there was none. */
bool history_early_take(struct history_early *early,
			const struct recording_event *begun,
			struct recording_event *end_out);

#endif
