/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Which streams are captured, asked of the driver; within one search each
 * stream once. See order.h and attempt.h. */
#include "order.h"

bool gm_heap_capturing(struct gm_heap *heap, gpumem_stream stream)
{
	uint64_t id = 0;
	gpumem_status status = gm_driver_capture_id(&heap->driver, stream, &id);

	/* One that cannot be asked is left alone too; what is no stream any
	 * more is not captured. */
	return status == GPUMEM_OK ? id != 0 : status != GPUMEM_INVALID;
}

void gm_search_renew(struct gm_heap *heap, struct gm_attempt *attempt)
{
	if (attempt->search)
		attempt->search = ++heap->order->searches;
}

void gm_search_begin(struct gm_heap *heap, struct gm_attempt *attempt)
{
	attempt->search = ++heap->order->searches;
}

void gm_search_end(struct gm_attempt *attempt)
{
	attempt->search = 0;
	attempt->sparing = false;
}

bool gm_arena_capturing(struct gm_arena *arena,
			const struct gm_attempt *attempt)
{
	uint64_t search = gm_attempt_search(attempt);

	if (search && arena->asked == search)
		return false;
	if (gm_heap_capturing(arena->heap, arena->stream))
		return true;
	arena->asked = arena->heap->order->searches;
	return false;
}

/* An error of the driver's says of no capture, or it would forbid for ever. */
static bool is_captured(struct gm_arena *arena,
			const struct gm_attempt *attempt)
{
	uint64_t search = gm_attempt_search(attempt), id = 0;

	if (search && arena->asked == search)
		return false;
	if (gm_driver_capture_id(&arena->heap->driver, arena->stream, &id) !=
	    GPUMEM_OK)
		return false;
	if (!id)
		arena->asked = arena->heap->order->searches;
	return id;
}

bool gm_capture_forbids(struct gm_heap *heap, const struct gm_attempt *attempt)
{
	struct gm_arena *arena = heap->order->private_arenas;

	if (gm_device_has(heap->driver.device, GPUMEM_CAP_FREES_IN_CAPTURE))
		return false;
	for (; arena; arena = arena->next)
		if (arena->routed && is_captured(arena, attempt))
			return true;
	for (arena = heap->order->arenas; arena; arena = arena->next)
		if (!arena->dropped && is_captured(arena, attempt))
			return true;
	return false;
}

bool gm_capture_would_forbid(struct gm_heap *heap,
			     const struct gm_attempt *attempt,
			     gpumem_stream stream)
{
	return gm_capture_forbids(heap, attempt) ||
	       (!gm_device_has(heap->driver.device,
			       GPUMEM_CAP_FREES_IN_CAPTURE) &&
		gm_heap_capturing(heap, stream));
}
