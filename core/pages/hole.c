/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Addresses without memory: what joins them. See handle.h. */
#include "handle.h"
#include "extent/ring.h"

void gm_hole_add(struct gm_heap *heap, struct gm_extent *hole)
{
	gm_ring_add(&heap->nodes, &heap->space->holes, hole);
}

void gm_hole_remove(struct gm_heap *heap, struct gm_extent *hole)
{
	gm_ring_remove(&heap->nodes, &heap->space->holes, hole);
}

void gm_hole_insert(struct gm_heap *heap, struct gm_extent *extent)
{
	struct gm_extent *next = gm_extent_next(&heap->nodes, extent);
	struct gm_extent *prev = gm_extent_prev(&heap->nodes, extent);

	gm_extent_set(extent, GM_EXTENT_HOLE);
	gm_extent_move(extent, NULL);
	if (next && gm_extent_is(next, GM_EXTENT_HOLE)) {
		gm_hole_remove(heap, next);
		gm_extent_join(&heap->nodes, extent);
	}
	if (prev && gm_extent_is(prev, GM_EXTENT_HOLE))
		gm_extent_join(&heap->nodes, prev);
	else
		gm_hole_add(heap, extent);
}
