/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Without virtual memory: how large new segments are, which unused ones are
 * spared, and how often one goes back for another. See budget.h. All of it
 * trades driver calls for memory, at a better rate the more is unused.
 */
#include "handle.h"

/* New segments are at least so large, or this part of what is reserved. Blocks
 * do not lie across segments, so there is a rest at the end of each: with
 * smaller segments these rests come to more than one segment that is taken too
 * early. */
static const uint64_t segment_min = 2 << 20;
enum { SEGMENT_PART = 32 };

/* A segment is large if it is more than this part of what is reserved: there
 * are fewer than so many. */
enum { LARGE_PART = 16 };

/* Where several streams leave more than this part of the peak unused, both are
 * half as large. With one stream it is no better (decision 48). */
enum { WASTE_PART = 6, FINER = 2 };

/* An exchange for so many blocks, or where so much is unused, and so many at
 * once. */
enum { EXCHANGE_BLOCKS = 500, CHEAP_BLOCKS = 50, EXCHANGES_MAX = 32 };

static bool wastes_much(const struct gm_heap *heap)
{
	uint64_t high = gm_budget_high(heap, 0);

	return heap->order->stream_count > 1 &&
	       heap->counters.reserved.current > high + high / WASTE_PART;
}

static uint64_t part_of_reserved(const struct gm_heap *heap, unsigned part)
{
	uint64_t bytes = heap->counters.reserved.current / part;

	if (wastes_much(heap))
		bytes /= FINER;
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

/* What they stand for now, and at most. */
static const int64_t blocks_max = (int64_t)EXCHANGE_BLOCKS * EXCHANGES_MAX;

static int64_t cost(const struct gm_heap *heap)
{
	return wastes_much(heap) ? CHEAP_BLOCKS : EXCHANGE_BLOCKS;
}

int64_t gm_budget_exchanges(struct gm_heap *heap)
{
	int64_t *done = &heap->space->budget.exchanged_blocks;
	int64_t earned = (int64_t)heap->counters.blocks.total;

	if (*done < earned)
		*done = earned;
	if (*done > earned + 2 * blocks_max)
		*done = earned + 2 * blocks_max;
	return (earned + blocks_max - *done) / cost(heap);
}

void gm_budget_exchange(struct gm_heap *heap)
{
	heap->space->budget.exchanged_blocks += cost(heap);
}
