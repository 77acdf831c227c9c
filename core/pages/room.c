/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How large a block of memory from the driver can be: the steps of supply.c, in
 * numbers. It calls no driver but to learn whether a stream is
 * being captured, which may forbid that anything moves or goes back. See
 * space.h.
 */
#include "handle.h"
#include "extent/ring.h"

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t round_down(uint64_t bytes, uint64_t to)
{
	return bytes - bytes % to;
}

/* The largest block in what the driver gives for so many bytes. */
static uint64_t block_in(const struct gm_heap *heap, uint64_t bytes)
{
	return round_down(least_of(bytes, heap->capacity_bytes),
			  heap->page_bytes);
}

/* The longest range of addresses without memory, now or in a new span. */
static uint64_t range_bytes(const struct gm_heap *heap)
{
	const struct gm_space *space = heap->space;
	struct gm_extent *hole = gm_node(&heap->nodes, space->holes);
	uint64_t longest = space->most_bytes - space->span_bytes;

	for (; hole; hole = gm_ring_next(&heap->nodes, space->holes, hole))
		if (hole->bytes > longest)
			longest = hole->bytes;
	return longest;
}

/* An arena of the stream, if that may lend pages to itself, or NULL. */
static const struct gm_arena *lender_of(struct gm_heap *heap,
					const struct gm_attempt *attempt,
					gpumem_stream stream)
{
	struct gm_arena *arena =
		gm_stale_lender(heap, gm_arena_find(heap, stream));

	return arena && !gm_arena_capturing(arena, attempt) ? arena : NULL;
}

/* Is the stream done with all that is free of it, of any fate? */
static bool is_over(const struct gm_arena *lender)
{
	const struct gm_arena *arena = lender;

	while (arena->completed == arena->seqno) {
		arena = gm_arena_sibling(arena);
		if (arena == lender)
			return true;
	}
	return false;
}

/* What is completed, and what the stream may lend to itself besides. */
static uint64_t movable_bytes(struct gm_heap *heap,
			      const struct gm_attempt *attempt,
			      gpumem_stream stream)
{
	const struct gm_arena *lender = lender_of(heap, attempt, stream);
	uint64_t completed = gm_handles_completed_bytes(heap, NULL), lent;

	if (!lender || is_over(lender))
		return completed;
	lent = gm_handles_completed_bytes(heap, lender) - completed;
	return completed +
	       least_of(lent, gm_stale_left(heap) * heap->page_bytes);
}

uint64_t gm_pages_most_bytes(const struct gm_heap *heap)
{
	return block_in(heap,
			least_of(gm_limit_hard(heap), heap->space->most_bytes));
}

uint64_t gm_pages_now_bytes(struct gm_heap *heap,
			    const struct gm_attempt *attempt,
			    gpumem_stream stream, uint64_t driver_bytes)
{
	uint64_t bytes = heap->space->spare_pages * heap->page_bytes;

	if (!gm_capture_would_forbid(heap, attempt, stream))
		bytes += movable_bytes(heap, attempt, stream);
	bytes = gm_limit_beside(heap, bytes, driver_bytes);
	return least_of(block_in(heap, bytes), range_bytes(heap));
}
