/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pages at one place: where a block is to grow into the hole behind it. Which
 * block, and whether the addresses are its to take, is the caller's business;
 * where growth may choose, it is pages.c's. See space.h.
 */
#include "handle.h"

static struct gm_extent *free_one(struct gm_extent *extent)
{
	return extent && gm_extent_is(extent, GM_EXTENT_FREE) ? extent : NULL;
}

gpumem_status gm_pages_extend(struct gm_heap *heap, struct gm_attempt *attempt,
			      struct gm_arena *arena, struct gm_extent *hole,
			      size_t hole_bytes, size_t bytes, bool in_order)
{
	const struct gm_plan plan = {
		.hole = hole,
		.left = free_one(gm_extent_prev(&heap->nodes, hole)),
		.right = free_one(gm_extent_next(&heap->nodes, hole)),
		.start = hole->address,
		.count = (hole_bytes + heap->page_bytes - 1) / heap->page_bytes,
		.in_order = in_order,
	};
	struct gm_gate *gate = heap->driver.device->gate;
	struct gm_extent *mapped;
	gpumem_status status;

	gm_gate_enter(gate);
	status = gm_plan_map(heap, attempt, arena, &plan, bytes, &mapped);
	gm_gate_leave(gate);
	return status;
}
