/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What a request comes to: the size of its block, and the extent that is looked
 * for. No lock: classes and units are constant. */
#include "heap.h"
#include "ladder.h"

size_t gm_heap_usable(const struct gm_heap *heap,
		      const struct gm_request *request)
{
	if (gm_request_is_small(request))
		return heap->classes
			.of[gm_class_aligned(&heap->classes, request->bytes,
					     request->alignment)]
			.bytes;
	/* What will be refused may be too much to be rounded. */
	if (request->bytes > heap->capacity_bytes)
		return request->bytes;
	return gm_heap_large_bytes(heap, request->bytes);
}

struct gm_want gm_heap_want(const struct gm_heap *heap,
			    const struct gm_request *request)
{
	struct gm_want want = {.bytes = gm_heap_usable(heap, request),
			       .alignment = request->alignment,
			       .flags = request->flags};

	if (gm_request_is_small(request)) {
		want.class = &heap->classes.of[gm_class_aligned(
			&heap->classes, request->bytes, request->alignment)];
		want.bytes = want.class->run_bytes;
		want.alignment = GM_RUN_UNIT;
	}
	if (want.alignment < heap->unit)
		want.alignment = heap->unit;
	return want;
}
