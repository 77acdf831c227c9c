/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How large a block of memory from the driver can be: the steps of supply.c and
 * segment.c, in numbers. It calls no driver but to learn whether a stream is
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

static uint64_t limit_of(const struct gm_heap *heap)
{
	uint64_t limit = heap->space->budget.limit_bytes;

	return limit ? limit : UINT64_MAX;
}

/* The largest block in what the driver gives for so many bytes: whole pages, or
 * a segment; see gm_segment_least(). */
static uint64_t block_in(const struct gm_heap *heap, uint64_t bytes)
{
	const struct gpumem_device *device = heap->driver.device;
	uint64_t extra = device->raw_alignment < heap->unit ? heap->unit : 0;

	bytes = least_of(bytes, heap->capacity_bytes);
	if (heap->vm)
		return round_down(bytes, heap->page_bytes);
	bytes = least_of(bytes, heap->max_alloc_bytes);
	bytes = round_down(bytes, device->info.granularity_bytes);
	return bytes > extra ? round_down(bytes - extra, heap->unit) : 0;
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

/* The arena of the stream, if that may lend pages to itself, or NULL. */
static const struct gm_arena *lender_of(struct gm_heap *heap,
					const struct gm_attempt *attempt,
					gpumem_stream stream)
{
	struct gm_arena *arena =
		gm_stale_lender(heap, gm_arena_find(heap, stream));

	return arena && !gm_arena_capturing(arena, attempt) ? arena : NULL;
}

/* An allocation makes the stream known to the heap, and its capture count. */
static bool is_forbidden(struct gm_heap *heap, const struct gm_attempt *attempt,
			 gpumem_stream stream)
{
	return gm_capture_forbids(heap, attempt) ||
	       (!gm_device_has(heap->driver.device,
			       GPUMEM_CAP_FREES_IN_CAPTURE) &&
		gm_heap_capturing(heap, stream));
}

/* What is completed, and what the stream may lend to itself besides. */
static uint64_t movable_bytes(struct gm_heap *heap,
			      const struct gm_attempt *attempt,
			      gpumem_stream stream)
{
	const struct gm_arena *lender = lender_of(heap, attempt, stream);
	uint64_t completed = gm_handles_completed_bytes(heap, NULL), lent;

	if (!lender || lender->completed == lender->seqno)
		return completed;
	lent = gm_handles_completed_bytes(heap, lender) - completed;
	return completed +
	       least_of(lent, gm_stale_left(heap) * heap->page_bytes);
}

/* What a trim would give back for an allocation on the stream. */
static uint64_t unused_bytes(struct gm_heap *heap,
			     const struct gm_attempt *attempt,
			     gpumem_stream stream)
{
	const struct gm_span *span = heap->spans.first;
	uint64_t bytes = heap->space->spare_pages * heap->page_bytes;

	if (is_forbidden(heap, attempt, stream))
		return bytes;
	if (heap->vm)
		return bytes + movable_bytes(heap, attempt, stream);
	for (; span; span = span->next)
		if (gm_segment_completed(span))
			bytes += span->bytes;
	return bytes;
}

uint64_t gm_space_most_bytes(const struct gm_heap *heap)
{
	uint64_t bytes = limit_of(heap);

	if (heap->vm)
		bytes = least_of(bytes, heap->space->most_bytes);
	return block_in(heap, bytes);
}

uint64_t gm_space_now_bytes(struct gm_heap *heap,
			    const struct gm_attempt *attempt,
			    gpumem_stream stream, uint64_t driver_bytes)
{
	uint64_t reserved = heap->counters.reserved.current;
	uint64_t limit = limit_of(heap);
	uint64_t room = limit > reserved ? limit - reserved : 0;
	uint64_t bytes = unused_bytes(heap, attempt, stream);

	if (heap->vm) /* a part of a page is of no use */
		driver_bytes = round_down(driver_bytes, heap->page_bytes);
	if (__builtin_add_overflow(bytes, least_of(driver_bytes, room), &bytes))
		bytes = UINT64_MAX;
	bytes = block_in(heap, bytes);
	return heap->vm ? least_of(bytes, range_bytes(heap)) : bytes;
}
