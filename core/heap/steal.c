/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Handles out of free extents, to be mapped elsewhere. Only settled ones are
 * touched, so that unmapping waits for nothing, and only whole ones. Small
 * extents come first: a large one is what was put together for a request that
 * will come again. But one that has all that is wanted saves many calls. See
 * space.h.
 */
#include "heap.h"
#include "base/error.h"

struct gm_extent *gm_run_cut(struct gm_heap *heap, struct gm_extent *extent,
			     const struct gm_run *run)
{
	struct gm_index *index = &extent->arena->index;
	size_t bytes = gm_run_bytes(heap, run);

	gm_index_remove(index, extent);
	if (run->start > extent->address) {
		struct gm_extent *rest = gm_extent_split(
			&heap->nodes, extent, run->start - extent->address);

		gm_index_insert(index, extent);
		extent = rest;
	}
	if (extent->bytes > bytes)
		gm_index_insert(index,
				gm_extent_split(&heap->nodes, extent, bytes));
	return extent;
}

/* Unmaps a run of a free extent; its place becomes a hole. The handles go to
 * handles[]. */
static gpumem_status punch(struct gm_heap *heap, struct gm_extent *extent,
			   const struct gm_run *run, struct gm_handle *handles)
{
	const struct gm_page *page = gm_page_at(heap, run->start);
	gpumem_status status = gm_nodes_reserve(&heap->nodes, 2);

	if (!status)
		status = gm_driver_unmap(&heap->driver, run->start, run->count,
					 run->pages * heap->page_bytes);
	if (status)
		return status;
	for (size_t i = 0; i < run->count; i++)
		handles[i] =
			(struct gm_handle){.page = page[i * run->pages].handle,
					   .pages = run->pages};
	gm_handles_clear(heap, run);
	gm_hole_insert(heap, gm_run_cut(heap, extent, run));
	heap->toll_handles += run->count;
	return GPUMEM_OK;
}

/* What is taken, and for what. */
struct theft {
	const struct gm_need *need;
	struct gm_wish wish; /* what is still wanted */
	struct gm_handle *handles;
	size_t have;
};

/* One run of an extent, if it has any. False: the driver refuses. */
static bool take(struct gm_heap *heap, struct gm_extent *extent,
		 struct theft *theft)
{
	struct gm_wish *wish = &theft->wish;
	struct gm_run run;
	size_t pages;

	if (extent == theft->need->a || extent == theft->need->b)
		return true;
	run = gm_handles_settled(heap, extent, wish);
	if (!run.count)
		return true;
	if (punch(heap, extent, &run, theft->handles + theft->have))
		return false;
	theft->have += run.count;
	pages = run.count * run.pages;
	wish->pages -= pages < wish->pages ? pages : wish->pages;
	return true;
}

/* From an extent of at least so many pages on, upwards, until there are `most`
 * handles or all. */
static bool take_from(struct gm_heap *heap, const struct gm_index *index,
		      size_t pages, size_t most, struct theft *theft)
{
	struct gm_extent *extent = gm_index_least_pages(index, pages), *next;

	for (; extent && theft->wish.pages && theft->have < most;
	     extent = next) {
		next = gm_index_more_pages(index, extent);
		if (!take(heap, extent, theft))
			return false;
	}
	return true;
}

static size_t steal(struct gm_heap *heap, struct theft *theft)
{
	size_t before;

	if (!gm_arenas_settle(heap))
		return 0;
	do {
		struct gm_arena *arena = heap->arenas;

		before = theft->have;
		for (; arena && theft->wish.pages; arena = arena->next)
			if (take_from(heap, &arena->index, theft->wish.pages,
				      theft->have + 1, theft))
				(void)take_from(heap, &arena->index, 1,
						SIZE_MAX, theft);
	} while (theft->wish.pages && theft->have > before);
	return theft->have;
}

size_t gm_handles_steal(struct gm_heap *heap, const struct gm_need *need,
			size_t want, struct gm_handle *handles)
{
	struct theft theft = {
		.need = need,
		.wish = {.pages = want, .newest = UINT64_MAX},
		.handles = handles,
	};
	size_t have = steal(heap, &theft);

	heap->books.moved_bytes += (want - theft.wish.pages) * heap->page_bytes;
	return have;
}

size_t gm_handles_break(struct gm_heap *heap, const struct gm_need *need)
{
	struct gm_space *space = &heap->space;
	struct gm_handle handle;
	struct theft theft = {
		.need = need,
		.wish = {.pages = 1, .newest = UINT64_MAX, .larger = true},
		.handles = &handle,
	};

	if (gm_heap_any_capturing(heap))
		return 0;
	if (space->spare_count)
		handle = gm_spare_take(space, space->spare_count - 1);
	else if (!steal(heap, &theft))
		return 0;
	return gm_handles_destroy(heap, &handle, 1) ? handle.pages : 0;
}
