/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a recording says in short: how much memory, when, and how many events.
 */
#ifndef GPUMEM_TOOLS_TRACE_SUMMARY_H
#define GPUMEM_TOOLS_TRACE_SUMMARY_H

#include "common/history.h"

#include <gpumem/gpumem.h>

/* Of a pool, or of all together. */
struct summary_usage {
	uint64_t requested_bytes, peak_requested_bytes, peak_requested_ns;
	uint64_t reserved_bytes, peak_reserved_bytes, peak_reserved_ns;
	uint64_t blocks, peak_blocks; /* that are live */
	uint64_t allocs, events;
};

struct summary {
	struct summary_usage all;
	struct summary_usage *pools; /* by number, SUMMARY_POOLS */
	uint64_t kinds[UINT8_MAX + 1];
	uint64_t served[GPUMEM_SERVED_COUNT]; /* of all.allocs */
	struct trace_ids threads, streams;    /* different ones */
	uint64_t last_ns;		      /* of the last event */
	bool failed;			      /* out of memory */
};

enum { SUMMARY_POOLS = UINT16_MAX + 1 };

/* False: out of memory; summary_free() is right all the same. */
bool summary_init(struct summary *summary);
/* A history_fn of which user is the summary. */
bool summary_add(const struct recording_event *event,
		 const struct history_block *block, void *user);
void summary_free(struct summary *summary);

#endif
