/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How large a block an allocation could have: the most that a source of the
 * ladder would give, counting neither what waits, nor the pressure callbacks,
 * nor what the device's other pools hold. See heap.h.
 */
#include "lookup.h"

static uint64_t largest(const struct gm_arena *arena)
{
	const struct gm_extent *extent = gm_index_largest(&arena->index);

	return extent ? extent->bytes : 0;
}

uint64_t gm_gives_own(const struct gm_inquiry *inquiry)
{
	return inquiry->arena ? largest(inquiry->arena) : 0;
}

/* What streams are done with. */
uint64_t gm_gives_others(const struct gm_inquiry *inquiry)
{
	const struct gm_arena *arena = gm_arena_stocked(inquiry->heap);
	uint64_t most = 0;

	for (; arena; arena = gm_arena_stocked_after(arena)) {
		const struct gm_extent *extent =
			gm_index_largest(&arena->index);

		if (extent->bytes > most &&
		    gm_arena_completed(arena, extent->seqno))
			most = extent->bytes;
	}
	return most;
}

uint64_t gm_gives_growth(const struct gm_inquiry *inquiry)
{
	return gm_space_now_bytes(inquiry->heap, NULL, inquiry->stream,
				  inquiry->driver_bytes);
}

struct gm_capacity gm_heap_capacity(struct gm_heap *heap, gpumem_stream stream,
				    uint32_t tag, uint64_t driver_bytes)
{
	struct gm_inquiry inquiry = {
		.heap = heap, .stream = stream, .driver_bytes = driver_bytes};
	struct gm_capacity capacity;
	uint32_t fate = gm_space_has_pages(heap) ? gm_tag_fate(tag) : 0;

	gm_heap_gather(heap);
	(void)gm_arenas_poll(heap);
	inquiry.arena = gm_arena_find_fate(heap, stream, fate);
	capacity.most_bytes = gm_space_most_bytes(heap);
	capacity.now_bytes = gm_sources_give(&inquiry);
	pthread_mutex_unlock(&heap->mutex);
	/* So little is for slabs, which take more than one small block. */
	if (capacity.now_bytes <= GM_SMALL_MAX)
		capacity.now_bytes = 0;
	return capacity;
}
