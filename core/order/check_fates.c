/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Whether the blocks of each fate have handles of their own: see arena.h. */
#include "order.h"
#include "extent/check.h"

/* Does the extent begin in a handle that has begun before that address? */
static bool shares(const struct gm_heap *heap, const struct gm_extent *extent,
		   uintptr_t before)
{
	const struct gm_page *page = gm_page_at(&heap->spans, extent->address);
	uintptr_t at = extent->address & ~(uintptr_t)(heap->page_bytes - 1);

	for (; !gm_page_begins(page); page--)
		at -= heap->page_bytes;
	return at < before;
}

static bool has_arena(const struct gm_extent *extent)
{
	return gm_extent_is(extent, GM_EXTENT_FREE) ||
	       gm_extent_is(extent, GM_EXTENT_LARGE) ||
	       gm_extent_is(extent, GM_EXTENT_RUN) ||
	       gm_extent_is(extent, GM_EXTENT_PENDING);
}

gpumem_status gm_check_fates(const struct gm_heap *heap)
{
	const struct gm_extent *extent = gm_spans_first(&heap->spans);
	const struct gm_extent *last = NULL;

	if (!heap->order->apart || heap->order->mixed)
		return GPUMEM_OK;
	for (; extent;
	     extent = gm_spans_next(&heap->spans, &heap->nodes, extent)) {
		if (!has_arena(extent))
			continue;
		EXPECT(!last || last->arena->fate == extent->arena->fate ||
			       !shares(heap, extent, gm_extent_end(last)),
		       "the extent at %#zx is of fate %u, and shares a handle "
		       "with one of %u",
		       extent->address, extent->arena->fate, last->arena->fate);
		last = extent;
	}
	return GPUMEM_OK;
}
