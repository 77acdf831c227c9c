/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How large a block an allocation could have: what the ladder would find before
 * it waits, counting neither the pressure callbacks nor what the device's other
 * pools hold. See heap.h.
 */
#include "heap.h"

/* The largest free extent that the stream can have as it is. */
static uint64_t largest_free(struct gm_heap *heap, gpumem_stream stream)
{
	const struct gm_arena *own = gm_arena_find(heap, stream);
	const struct gm_arena *arena = gm_arena_stocked(heap);
	const struct gm_extent *extent;
	uint64_t largest = 0;

	extent = own ? gm_index_largest(&own->index) : NULL;
	if (extent)
		largest = extent->bytes;
	for (; arena && !(own && own->graph);
	     arena = gm_arena_stocked_after(arena)) {
		extent = gm_index_largest(&arena->index);
		if (extent && extent->bytes > largest &&
		    gm_arena_completed(arena, extent->seqno))
			largest = extent->bytes;
	}
	return largest;
}

struct gm_capacity gm_heap_capacity(struct gm_heap *heap, gpumem_stream stream,
				    uint64_t driver_bytes)
{
	struct gm_capacity capacity;
	uint64_t free_bytes;

	gm_heap_gather(heap);
	(void)gm_arenas_poll(heap);
	capacity.most_bytes = gm_space_most_bytes(heap);
	capacity.now_bytes =
		gm_space_now_bytes(heap, NULL, stream, driver_bytes);
	free_bytes = largest_free(heap, stream);
	pthread_mutex_unlock(&heap->mutex);
	if (free_bytes > capacity.now_bytes)
		capacity.now_bytes = free_bytes;
	/* So little is for slabs, which take more than one small block. */
	if (capacity.now_bytes <= GM_SMALL_MAX)
		capacity.now_bytes = 0;
	return capacity;
}
