/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The beginning and the end of a heap's stream order; see order.h. */
#include "order.h"
#include "base/error.h"

#include <stdlib.h>

gpumem_status gm_order_init(struct gm_heap *heap, gm_slot_free_fn free_slot)
{
	struct gm_order *order = calloc(1, sizeof(*order));

	if (!order)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for the streams of a pool");
	gm_pending_init(&order->pending);
	order->bucket = order->first_bucket;
	order->bucket_count = GM_FIRST_BUCKETS;
	order->free_slot = free_slot;
	heap->order = order;
	return GPUMEM_OK;
}

void gm_order_fini(struct gm_heap *heap)
{
	if (!heap->order)
		return;
	gm_uses_fini(heap);
	gm_events_fini(heap);
	if (heap->order->bucket != heap->order->first_bucket)
		free(heap->order->bucket);
	free(heap->order);
	heap->order = NULL;
}

uint64_t gm_order_host_bytes(const struct gm_heap *heap)
{
	const struct gm_order *order = heap->order;
	const struct gm_arena *arena = gm_arena_first(heap);
	uint64_t bytes = sizeof(*order);

	for (; arena; arena = gm_arena_after(heap, arena))
		bytes += sizeof(*arena) +
			 (arena->follows ? sizeof(*arena->follows) : 0);
	if (order->bucket != order->first_bucket)
		bytes += order->bucket_count * sizeof(*order->bucket);
	bytes += order->events.room * sizeof(*order->events.event);
	bytes += 2 * order->uses.bucket_count * sizeof(struct gm_use *);
	bytes += order->uses.count * sizeof(struct gm_use);
	return bytes;
}
