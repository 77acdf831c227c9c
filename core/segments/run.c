/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Without virtual memory: what several streams have free side by side, for one
 * of them that is made to wait for the others' work. Their blocks lie between
 * each other's, so that none may have a large piece of its own. What one other
 * stream has is order/transfer_free.c's. Under the heap's mutex.
 */
#include "segments.h"

/* Free extents side by side, from `first` on, of so many bytes together. */
struct run {
	struct gm_extent *first;
	size_t bytes;
	bool is_segment; /* all of one */
};

/* So many extents are looked at, of the newest segments first: a heap with more
 * has its large pieces there. */
enum { LOOKS = 4096 };

static bool is_free(const struct gm_extent *extent)
{
	return extent && gm_extent_is(extent, GM_EXTENT_FREE) &&
	       !extent->arena->graph;
}

/* The run that begins with the extent. */
static struct run run_from(const struct gm_nodes *nodes,
			   struct gm_extent *extent)
{
	struct run run = {.first = extent};

	for (; is_free(extent); extent = gm_extent_next(nodes, extent))
		run.bytes += extent->bytes;
	run.is_segment = !run.first->prev && !extent;
	return run;
}

/* An unused segment is not cut for little. */
static bool fits(const struct gm_attempt *attempt, const struct run *run,
		 size_t bytes)
{
	return run->bytes >= bytes &&
	       !(run->is_segment &&
		 gm_attempt_spares(attempt, run->bytes, bytes) &&
		 attempt->spares_busy);
}

/* The smallest run in a span that so many bytes fit; *looks_inout less what was
 * looked at. */
static struct run smallest_of(const struct gm_heap *heap,
			      const struct gm_attempt *attempt,
			      const struct gm_span *span, size_t bytes,
			      unsigned *looks_inout)
{
	const struct gm_nodes *nodes = &heap->nodes;
	struct gm_extent *extent = span->first, *before = NULL;
	struct run best = {0};

	for (; extent && *looks_inout; --*looks_inout) {
		if (is_free(extent) && !is_free(before)) {
			struct run run = run_from(nodes, extent);

			if (fits(attempt, &run, bytes) &&
			    (!best.first || run.bytes < best.bytes))
				best = run;
		}
		before = extent;
		extent = gm_extent_next(nodes, extent);
	}
	return best;
}

static struct run smallest(const struct gm_heap *heap,
			   const struct gm_attempt *attempt, size_t bytes)
{
	const struct gm_span *span = heap->spans.first;
	struct run best = {0};
	unsigned looks = LOOKS;

	for (; span && looks; span = span->next) {
		struct run run =
			smallest_of(heap, attempt, span, bytes, &looks);

		if (run.first && (!best.first || run.bytes < best.bytes))
			best = run;
	}
	return best;
}

/* For so much of it. */
static bool wait_for(const struct gm_transfer *transfer,
		     struct gm_extent *extent, size_t bytes)
{
	const struct gm_nodes *nodes = &transfer->receiver->heap->nodes;

	for (size_t had = 0; had < bytes;
	     had += extent->bytes, extent = gm_extent_next(nodes, extent))
		if (extent->arena != transfer->receiver &&
		    !gm_transfer_wait(transfer->receiver, transfer->attempt,
				      extent->arena, extent->seqno))
			return false;
	return true;
}

/* Nothing is done to the extents before all is waited for, so none of them has
 * joined another. False: all was the receiver's. */
static bool join(struct gm_arena *receiver, struct gm_extent *first)
{
	const struct gm_nodes *nodes = &receiver->heap->nodes;
	struct gm_extent *next =
		first->arena == receiver ? gm_extent_next(nodes, first) : first;
	bool joined = false;

	while (gm_transfer_terms(receiver, next, GM_TERMS_NOW)) {
		next = gm_extent_next(nodes,
				      gm_transfer_extent(receiver, next));
		joined = true;
	}
	return joined;
}

bool gm_segment_transfer(const struct gm_transfer *transfer)
{
	struct gm_arena *receiver = transfer->receiver;
	struct gm_heap *heap = receiver->heap;
	size_t bytes = transfer->bytes;
	struct run run = {0};

	/* Long enough wherever it begins. */
	if (transfer->alignment > heap->unit)
		bytes += transfer->alignment - heap->unit;
	if (gm_transfer_may_wait(receiver))
		run = smallest(heap, transfer->attempt, bytes);
	return run.first && !gm_arena_capturing(receiver, transfer->attempt) &&
	       wait_for(transfer, run.first, bytes) &&
	       join(receiver, run.first);
}
