/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Handles out of free extents, to be mapped elsewhere. Only settled ones are
 * touched, so that unmapping waits for nothing, and only whole ones; the extent
 * with the most pages comes first, so that few calls move much. See space.h.
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
	heap->toll_bytes += gm_run_bytes(heap, run);
	return GPUMEM_OK;
}

/* One run out of each extent that has any, as long as more is wished for. */
static size_t punch_all(struct gm_heap *heap, struct gm_index *index,
			struct gm_wish *wish, const struct gm_need *need,
			struct gm_handle *handles)
{
	struct gm_extent *extent = gm_index_most_pages(index), *next;
	size_t have = 0;

	for (; extent && wish->pages; extent = next) {
		struct gm_run run;
		size_t pages;

		next = gm_index_fewer_pages(index, extent);
		if (extent == need->a || extent == need->b)
			continue;
		run = gm_handles_settled(heap, extent, wish);
		if (!run.count)
			continue;
		if (punch(heap, extent, &run, handles + have))
			break;
		have += run.count;
		pages = run.count * run.pages;
		wish->pages -= pages < wish->pages ? pages : wish->pages;
	}
	return have;
}

static size_t steal(struct gm_heap *heap, struct gm_wish *wish,
		    const struct gm_need *need, struct gm_handle *handles)
{
	size_t have = 0, before;

	if (!gm_arenas_settle(heap))
		return 0;
	do {
		struct gm_arena *arena = heap->arenas;

		before = have;
		for (; arena && wish->pages; arena = arena->next)
			have += punch_all(heap, &arena->index, wish, need,
					  handles + have);
	} while (wish->pages && have > before);
	return have;
}

size_t gm_handles_steal(struct gm_heap *heap, const struct gm_need *need,
			size_t want, struct gm_handle *handles)
{
	struct gm_wish wish = {.pages = want, .newest = UINT64_MAX};
	size_t have = steal(heap, &wish, need, handles);

	heap->books.moved_bytes += (want - wish.pages) * heap->page_bytes;
	return have;
}

size_t gm_handles_break(struct gm_heap *heap, const struct gm_need *need)
{
	struct gm_wish wish = {
		.pages = 1, .newest = UINT64_MAX, .larger = true};
	struct gm_space *space = &heap->space;
	struct gm_handle handle;

	if (gm_heap_any_capturing(heap))
		return 0;
	if (space->spare_count)
		handle = gm_spare_take(space, space->spare_count - 1);
	else if (!steal(heap, &wish, need, &handle))
		return 0;
	return gm_handles_destroy(heap, &handle, 1) ? handle.pages : 0;
}
