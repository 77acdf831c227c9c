/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Growth with virtual memory: where to map. What, is pages.c's business. See
 * space.h. */
#include "handle.h"
#include "extent/ring.h"

static size_t divide_up(size_t bytes, size_t page_bytes)
{
	return (bytes + page_bytes - 1) / page_bytes;
}

static struct gm_extent *usable(struct gm_extent *extent,
				const struct gm_arena *arena)
{
	return extent && gm_extent_is(extent, GM_EXTENT_FREE) &&
			       extent->arena == arena
		       ? extent
		       : NULL;
}

/* The cheapest way to place `bytes` at one end of the hole, or over all of it.
 * Neighbours count only where any address will do. False: it does not fit. */
static bool plan_hole(const struct gm_heap *heap, const struct gm_arena *arena,
		      struct gm_extent *hole, size_t bytes,
		      struct gm_plan *plan)
{
	size_t page = heap->page_bytes, pages = hole->bytes / page;
	struct gm_extent *left =
		usable(gm_extent_prev(&heap->nodes, hole), arena);
	struct gm_extent *right =
		usable(gm_extent_next(&heap->nodes, hole), arena);
	size_t left_bytes = left ? left->bytes : 0;
	size_t right_bytes = right ? right->bytes : 0;

	*plan = (struct gm_plan){.hole = hole, .start = hole->address};
	if (right_bytes <= left_bytes &&
	    divide_up(bytes - left_bytes, page) <= pages) {
		plan->left = left;
		plan->count = divide_up(bytes - left_bytes, page);
		return true;
	}
	if (divide_up(bytes - right_bytes, page) <= pages) {
		plan->right = right;
		plan->count = divide_up(bytes - right_bytes, page);
		plan->start = gm_extent_end(hole) - plan->count * page;
		return true;
	}
	plan->left = left;
	plan->right = right;
	plan->count = pages;
	return left_bytes + hole->bytes + right_bytes >= bytes;
}

static bool plan_aligned(const struct gm_heap *heap, struct gm_extent *hole,
			 size_t bytes, size_t alignment, struct gm_plan *plan)
{
	size_t page = heap->page_bytes;
	uintptr_t start;

	if (alignment < page)
		alignment = page;
	start = (hole->address + alignment - 1) & ~(uintptr_t)(alignment - 1);
	*plan = (struct gm_plan){
		.hole = hole, .start = start, .count = divide_up(bytes, page)};
	return start + plan->count * page <= gm_extent_end(hole);
}

/* Of all holes the one that takes the fewest pages, lowest address first. */
static bool choose(const struct gm_heap *heap, const struct gm_arena *arena,
		   size_t bytes, size_t alignment, struct gm_plan *best)
{
	uint32_t holes = heap->space->holes;
	struct gm_extent *hole = gm_node(&heap->nodes, holes);

	*best = (struct gm_plan){0};
	for (; hole; hole = gm_ring_next(&heap->nodes, holes, hole)) {
		struct gm_plan plan;
		bool fits =
			alignment > heap->unit
				? plan_aligned(heap, hole, bytes, alignment,
					       &plan)
				: plan_hole(heap, arena, hole, bytes, &plan);

		if (!fits)
			continue;
		if (!best->hole || plan.count < best->count ||
		    (plan.count == best->count && plan.start < best->start))
			*best = plan;
	}
	return best->hole != NULL;
}

/* The same; where there are no addresses, also those of stale places that are
 * over, a few at a time. */
static bool choose_or_retire(struct gm_heap *heap, const struct gm_arena *arena,
			     size_t bytes, size_t alignment,
			     struct gm_plan *plan)
{
	bool found = choose(heap, arena, bytes, alignment, plan);

	if (found || gm_capture_forbids(heap))
		return found;
	while (!found && gm_stale_retire_apart(heap))
		found = choose(heap, arena, bytes, alignment, plan);
	return found;
}

gpumem_status gm_pages_grow(struct gm_heap *heap, struct gm_arena *arena,
			    size_t bytes, size_t alignment,
			    struct gm_extent **extent_out)
{
	struct gm_plan plan;

	if (!choose_or_retire(heap, arena, bytes, alignment, &plan)) {
		gpumem_status status = gm_range_extend(heap, bytes, alignment);

		if (status != GPUMEM_OK)
			return status;
		(void)choose(heap, arena, bytes, alignment, &plan);
	}
	plan.in_order = true;
	plan.lets_go = !heap->space->growth.let_go;
	return gm_plan_map(heap, arena, &plan, bytes, extent_out);
}
