/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Growth with virtual memory: where to map, and which pages. See space.h. */
#include "heap.h"
#include "map.h"
#include "ring.h"
#include "base/error.h"

#include <stdlib.h>

/* Where pages will be mapped: `count` from `start` on, all in `hole`. Together
 * with the free extents left and right of them, where not NULL, they hold what
 * was asked for. */
struct plan {
	struct gm_extent *hole, *left, *right;
	uintptr_t start;
	size_t count;
};

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
		      struct gm_extent *hole, size_t bytes, struct plan *plan)
{
	size_t page = heap->page_bytes, pages = hole->bytes / page;
	struct gm_extent *left =
		usable(gm_extent_prev(&heap->nodes, hole), arena);
	struct gm_extent *right =
		usable(gm_extent_next(&heap->nodes, hole), arena);
	size_t left_bytes = left ? left->bytes : 0;
	size_t right_bytes = right ? right->bytes : 0;

	*plan = (struct plan){.hole = hole, .start = hole->address};
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
			 size_t bytes, size_t alignment, struct plan *plan)
{
	size_t page = heap->page_bytes;
	uintptr_t start;

	if (alignment < page)
		alignment = page;
	start = (hole->address + alignment - 1) & ~(uintptr_t)(alignment - 1);
	*plan = (struct plan){
		.hole = hole, .start = start, .count = divide_up(bytes, page)};
	return start + plan->count * page <= gm_extent_end(hole);
}

/* Of all holes the one that takes the fewest pages, lowest address first. */
static bool choose(const struct gm_heap *heap, const struct gm_arena *arena,
		   size_t bytes, size_t alignment, struct plan *best)
{
	uint32_t holes = heap->space.holes;
	struct gm_extent *hole = gm_node(&heap->nodes, holes);

	*best = (struct plan){0};
	for (; hole; hole = gm_ring_next(&heap->nodes, holes, hole)) {
		struct plan plan;
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

/* Cuts [start, + count pages) out of its hole. */
static struct gm_extent *isolate(struct gm_heap *heap, const struct plan *plan)
{
	struct gm_extent *middle = plan->hole;
	size_t bytes = plan->count * heap->page_bytes;

	gm_hole_remove(heap, middle);
	if (plan->start > middle->address) {
		struct gm_extent *front = middle;

		middle = gm_extent_split(&heap->nodes, front,
					 plan->start - front->address);
		gm_hole_add(heap, front);
	}
	if (middle->bytes > bytes)
		gm_hole_add(heap, gm_extent_split(&heap->nodes, middle, bytes));
	gm_extent_set(middle, GM_EXTENT_FILLING);
	return middle;
}

/* New pages from the driver, at most `want`. Returns how many; fewer: why. */
static size_t create(struct gm_heap *heap, gpumem_page *pages, size_t want,
		     gpumem_status *status_out)
{
	uint64_t room = gm_heap_limit_room(heap) / heap->page_bytes;
	size_t made = 0, wanted = want;

	if (want > room)
		want = (size_t)room;
	if (want)
		*status_out = gm_driver_page_create(
			&heap->driver, heap->page_bytes, pages, want, &made);
	gm_heap_reserve(heap, made * heap->page_bytes, made);
	if (made == want && want < wanted)
		*status_out = gm_heap_limit_check(heap, heap->page_bytes);
	return made;
}

/* Undoes create(), but for a capture that is under way: then they stay, as
 * spare ones. The thread's last error stays why. */
static void give_back(struct gm_heap *heap, gpumem_page *pages, size_t count)
{
	struct gpumem_error cause = {.size = sizeof(cause)};

	gm_error_get(&cause);
	if (gm_heap_any_capturing(heap))
		gm_spare_give(&heap->space, pages, count);
	else
		(void)gm_pages_destroy(heap, pages, count);
	gm_error_set(&cause);
}

/* Fills pages[] from the cheapest source on: spare ones; those of holes, as far
 * as new ones would be waste; new ones; those of holes after all. On failure
 * the new ones go back, and what was ours is spare. */
static gpumem_status gather(struct gm_heap *heap, const struct plan *plan,
			    size_t bytes, gpumem_page *pages)
{
	struct gm_space *space = &heap->space;
	uint64_t target = gm_heap_target(heap, bytes);
	uint64_t reserved = heap->books.reserved.current;
	size_t want = plan->count, have = 0, fresh, old, made;
	gpumem_status status = GPUMEM_OK;

	while (have < want && space->spare_count)
		pages[have++] = space->spare[--space->spare_count];
	fresh = target > reserved ? (target - reserved) / heap->page_bytes : 0;
	if (have + fresh < want)
		have += gm_pages_steal(heap, pages + have, want - have - fresh,
				       plan->left, plan->right);
	old = have;
	made = create(heap, pages + old, want - old, &status);
	have += made;
	if (have < want)
		have += gm_pages_steal(heap, pages + have, want - have,
				       plan->left, plan->right);
	if (have == want)
		return GPUMEM_OK;
	gm_spare_give(space, pages, old);
	gm_spare_give(space, pages + old + made, have - old - made);
	give_back(heap, pages + old, made);
	return status;
}

static void set_table(struct gm_heap *heap, const struct gm_extent *extent,
		      const gpumem_page *pages)
{
	struct gm_space *space = &heap->space;
	size_t count = extent->bytes / heap->page_bytes;
	size_t first =
		(extent->address - space->spans->address) / heap->page_bytes;

	for (size_t i = 0; i < count; i++)
		space->page[first + i] = (struct gm_page){.handle = pages[i]};
	if (first + count > space->high_page)
		space->high_page = first + count;
}

static gpumem_status fill(struct gm_heap *heap, struct gm_arena *arena,
			  const struct plan *plan, size_t bytes,
			  gpumem_page *pages)
{
	struct gm_extent *extent = isolate(heap, plan);
	gpumem_status status = gather(heap, plan, bytes, pages);

	if (status)
		goto back_to_hole;
	status = gm_driver_map(&heap->driver, extent->address, pages,
			       plan->count, heap->page_bytes);
	if (status) {
		gm_spare_give(&heap->space, pages, plan->count);
		goto back_to_hole;
	}
	set_table(heap, extent, pages);
	extent->ticket = 0;
	gm_arena_insert(arena, extent);
	return GPUMEM_OK;

back_to_hole:
	gm_hole_insert(heap, extent);
	return status;
}

gpumem_status gm_pages_grow(struct gm_heap *heap, struct gm_arena *arena,
			    size_t bytes, size_t alignment)
{
	gpumem_page *pages;
	struct plan plan;
	gpumem_status status;

	if (!choose(heap, arena, bytes, alignment, &plan))
		return gm_fail(GPUMEM_NO_MEMORY,
			       "no range of %zu bytes is left among the "
			       "addresses of the pool (option `space`)",
			       bytes);
	status = gm_nodes_reserve(&heap->nodes, 2);
	if (!status)
		status = gm_map_ensure(plan.start,
				       plan.count * heap->page_bytes);
	if (!status)
		status = gm_spare_room(heap, plan.count);
	if (status)
		return status;
	pages = malloc(plan.count * sizeof(*pages));
	if (!pages)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a list of %zu pages",
			       plan.count);
	status = fill(heap, arena, &plan, bytes, pages);
	free(pages);
	return status;
}
