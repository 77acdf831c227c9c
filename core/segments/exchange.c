/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Without virtual memory: how large new segments are, which unused ones are
 * spared, and how often one goes back for another. See budget.h. All of it
 * trades driver calls for memory (decision 48).
 */
#include "segments.h"

/* New segments are at least so large, or this part of what is reserved. Blocks
 * do not lie across segments, so there is a rest at the end of each: with
 * smaller segments these rests come to more than one segment that is taken too
 * early. */
static const uint64_t segment_min = 2 << 20;
enum { SEGMENT_PART = 48 };

/* A segment is large if it is more than this part of what is reserved: there
 * are fewer than so many. That is twice a new one for several blocks, which
 * would else be spared as soon as they are free. */
enum { LARGE_PART = 24 };

/* Where there are several streams, what a few small blocks keep of a segment
 * comes to more than these rests. Then both are so much smaller, but a new one
 * has no less than this, and a large one twice this. */
enum { FINER = 4 };
static const uint64_t finer_min = 8 << 20;

/* An exchange has to wait for so many allocations, and for one more for each 2
 * MiB, as the driver takes longer for more. So many are had in advance, and as
 * many can be saved up. */
enum { EXCHANGE_BLOCKS = 15, BLOCKS_MAX = 16000 };

static uint64_t part_of_reserved(const struct gm_heap *heap, unsigned part)
{
	uint64_t bytes = heap->counters.reserved.current / part;
	uint64_t finer = bytes / FINER, least = finer_min * SEGMENT_PART / part;

	if (finer < least)
		finer = least;
	if (heap->order->stream_count > 1 && finer < bytes)
		bytes = finer;
	return bytes < segment_min ? segment_min : bytes;
}

uint64_t gm_budget_segment(const struct gm_heap *heap)
{
	return part_of_reserved(heap, SEGMENT_PART);
}

uint64_t gm_budget_spared(const struct gm_heap *heap)
{
	return part_of_reserved(heap, LARGE_PART);
}

static int64_t blocks_of(uint64_t bytes)
{
	return EXCHANGE_BLOCKS + (int64_t)(bytes >> 21);
}

bool gm_budget_may_exchange(struct gm_heap *heap, uint64_t bytes)
{
	int64_t *done = &heap->space->budget.exchanged_blocks;
	int64_t earned = (int64_t)heap->counters.blocks.total;

	if (*done < earned)
		*done = earned;
	if (*done > earned + 2 * BLOCKS_MAX)
		*done = earned + 2 * BLOCKS_MAX;
	return *done + blocks_of(bytes) <= earned + BLOCKS_MAX;
}

void gm_budget_exchange(struct gm_heap *heap, uint64_t bytes)
{
	heap->space->budget.exchanged_blocks += blocks_of(bytes);
}
