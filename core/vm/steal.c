/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Handles out of free extents, to be mapped elsewhere. Only settled ones are
 * touched, so that unmapping waits for nothing, and only whole ones. Large
 * handles come first, since each costs the same. Then small extents: a large
 * one is what was put together for a request that will come again. But one that
 * has all that is wanted saves many calls. See space.h.
 */
#include "handle.h"
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

/* What is taken, and for what. */
struct theft {
	const struct gm_need *need;
	struct gm_wish wish; /* what may still be taken */
	size_t want;	     /* pages of it that are needed now */
	struct gm_handle *handles;
	size_t have;
};

/* What is not needed now is spare. */
static void share_out(struct gm_heap *heap, const struct gm_handle *handle,
		      struct theft *theft)
{
	if (handle->pages > theft->want) {
		gm_spare_give(heap, handle, 1);
		return;
	}
	theft->handles[theft->have++] = *handle;
	theft->want -= handle->pages;
}

/* Unmaps a run of a free extent; its place becomes a hole. */
static gpumem_status punch(struct gm_heap *heap, struct gm_extent *extent,
			   const struct gm_run *run, struct theft *theft)
{
	const struct gm_page *page = gm_page_at(&heap->spans, run->start);
	gpumem_status status = gm_nodes_reserve(&heap->nodes, 2);

	if (status == GPUMEM_OK)
		status = gm_driver_unmap(&heap->driver, run->start, run->count,
					 run->pages * heap->page_bytes);
	if (status != GPUMEM_OK)
		return status;
	for (size_t i = 0; i < run->count; i++) {
		const struct gm_handle handle = {
			.page = page[i * run->pages].handle,
			.pages = run->pages};

		share_out(heap, &handle, theft);
	}
	gm_handles_clear(heap, run);
	gm_hole_insert(heap, gm_run_cut(heap, extent, run));
	heap->space->budget.toll_handles += run->count;
	return GPUMEM_OK;
}

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
	if (punch(heap, extent, &run, theft) != GPUMEM_OK)
		return false;
	pages = run.count * run.pages;
	wish->pages -= pages < wish->pages ? pages : wish->pages;
	if (wish->most > wish->pages)
		wish->most = wish->pages;
	return true;
}

/* From extents of at least so many pages on, upwards, until so many had some.
 */
static bool take_from(struct gm_heap *heap, const struct gm_index *index,
		      size_t pages, size_t extents, struct theft *theft)
{
	struct gm_extent *extent = gm_index_least_pages(index, pages), *next;
	size_t before;

	for (; extent && theft->wish.pages && extents; extent = next) {
		next = gm_index_more_pages(index, extent);
		before = theft->wish.pages;
		if (!take(heap, extent, theft))
			return false;
		extents -= theft->wish.pages < before;
	}
	return true;
}

static void take_all(struct gm_heap *heap, struct theft *theft)
{
	size_t before;

	do {
		struct gm_arena *arena = heap->order->arenas;

		before = theft->wish.pages;
		for (; arena && theft->wish.pages; arena = arena->next)
			if (take_from(heap, &arena->index, theft->wish.pages, 1,
				      theft))
				(void)take_from(heap, &arena->index, 1,
						SIZE_MAX, theft);
	} while (theft->wish.pages && theft->wish.pages < before);
}

/* From handles of `pages` on, downwards. */
static void take_by_size(struct gm_heap *heap, size_t pages,
			 struct theft *theft)
{
	for (; pages && theft->wish.pages; pages /= 2) {
		theft->wish.least = pages;
		take_all(heap, theft);
	}
}

/* What is known to be settled comes first: it takes no question to a stream. */
static void steal(struct gm_heap *heap, size_t pages, struct theft *theft)
{
	if (gm_heap_any_capturing(heap))
		return;
	take_by_size(heap, pages, theft);
	if (!theft->wish.pages)
		return;
	gm_arenas_ask(heap);
	take_by_size(heap, pages, theft);
}

size_t gm_handles_steal(struct gm_heap *heap, const struct gm_need *need,
			size_t want, size_t more, struct gm_handle *handles)
{
	struct theft theft = {
		.need = need,
		.wish = {.pages = want + more,
			 .most = want,
			 .newest = UINT64_MAX},
		.want = want,
		.handles = handles,
	};

	steal(heap, heap->space->handle_pages, &theft);
	heap->books.moved_bytes +=
		(want + more - theft.wish.pages) * heap->page_bytes;
	return theft.have;
}

size_t gm_handles_break(struct gm_heap *heap, const struct gm_need *need)
{
	struct gm_space *space = heap->space;
	struct gm_handle handle;
	struct theft theft = {
		.need = need,
		.wish = {.pages = 1, .most = SIZE_MAX, .newest = UINT64_MAX},
	};

	if (!space->spare_count)
		steal(heap, 1, &theft);
	else if (gm_heap_any_capturing(heap))
		return 0;
	if (!space->spare_count)
		return 0;
	handle = gm_spare_take(space, space->spare_count - 1);
	return gm_handles_destroy(heap, &handle, 1) ? handle.pages : 0;
}
