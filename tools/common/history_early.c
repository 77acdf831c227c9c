/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See history_early.h.
 */
#include "history_early.h"

/* The longest that an address can be on its way. */
#define EARLY_NS 2000

void history_early_put(struct history_early *early,
		       const struct recording_event *end)
{
	early->end[early->put++ % HISTORY_EARLY] = *end;
}

bool history_early_take(struct history_early *early,
			const struct recording_event *begun,
			struct recording_event *end_out)
{
	uint64_t from =
		early->put < HISTORY_EARLY ? 0 : early->put - HISTORY_EARLY;

	for (uint64_t i = early->put; i > from; i--) {
		struct recording_event *end =
			&early->end[(i - 1) % HISTORY_EARLY];

		if (begun->time_ns - end->time_ns > EARLY_NS)
			return false;
		if (!end->bytes || end->address != begun->address)
			continue;
		*end_out = *end;
		end_out->time_ns = begun->time_ns;
		end->bytes = 0;
		return true;
	}
	return false;
}
