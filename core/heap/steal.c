/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pages out of free extents: to be mapped elsewhere, or back to the driver.
 * Only settled extents are touched, so that unmapping waits for nothing, and
 * only whole pages; the extent with the most of them comes first, so that few
 * calls move much. See space.h.
 */
#include "heap.h"
#include "base/error.h"

enum { TRIM_PAGES = 64 }; /* in one step */

/* Unmaps `count` pages of a free extent from `start` on; their places become a
 * hole, their handles go to pages[]. */
static gpumem_status punch(struct gm_heap *heap, struct gm_extent *extent,
			   uintptr_t start, size_t count, gpumem_page *pages)
{
	struct gm_space *space = &heap->space;
	struct gm_index *index = &extent->arena->index;
	size_t bytes = count * heap->page_bytes;
	size_t first = (start - space->spans->address) / heap->page_bytes;
	gpumem_status status = gm_nodes_reserve(&heap->nodes, 2);

	if (status)
		return status;
	status = gm_driver_unmap(&heap->driver, start, count, heap->page_bytes);
	if (status)
		return status;
	for (size_t i = 0; i < count; i++) {
		pages[i] = space->page[first + i].handle;
		space->page[first + i] = (struct gm_page){0};
	}
	gm_index_remove(index, extent);
	if (start > extent->address) {
		struct gm_extent *rest = gm_extent_split(
			&heap->nodes, extent, start - extent->address);

		gm_index_insert(index, extent);
		extent = rest;
	}
	if (extent->bytes > bytes)
		gm_index_insert(index,
				gm_extent_split(&heap->nodes, extent, bytes));
	gm_hole_insert(heap, extent);
	return GPUMEM_OK;
}

/* Pages of a free extent that may be unmapped now. */
struct run {
	uintptr_t start;
	size_t count;
};

/* The longest run of settled pages in the extent, or the first of at least
 * `want`, cut down to that: at its low end, if it borders on a hole there, so
 * that holes grow rather than multiply. */
static struct run settled_run(const struct gm_heap *heap,
			      const struct gm_extent *extent, size_t want)
{
	const struct gm_space *space = &heap->space;
	uintptr_t at = gm_extent_first_page(extent, heap->page_bytes);
	size_t pages = gm_extent_pages(extent, heap->page_bytes);
	size_t first = (at - space->spans->address) / heap->page_bytes;
	/* What other streams did in it was over when this arena got it. */
	const struct gm_arena *arena = extent->arena;
	uint64_t settled =
		arena->settled == arena->ticket ? UINT64_MAX : arena->settled;
	struct run best = {0}, run = {0};

	for (size_t i = 0; i < pages && best.count < want; i++) {
		if (space->page[first + i].ticket > settled) {
			run.count = 0;
			continue;
		}
		if (run.count++ == 0)
			run.start = at + i * heap->page_bytes;
		if (run.count > best.count)
			best = run;
	}
	return best;
}

static gpumem_status punch_run(struct gm_heap *heap, struct gm_extent *extent,
			       size_t want, gpumem_page *pages, size_t *count)
{
	struct run run = settled_run(heap, extent, want);
	gpumem_status status = GPUMEM_OK;

	*count = 0;
	if (run.count)
		status = punch(heap, extent, run.start, run.count, pages);
	if (!status)
		*count = run.count;
	return status;
}

size_t gm_pages_steal(struct gm_heap *heap, gpumem_page *pages, size_t want,
		      const struct gm_extent *a, const struct gm_extent *b)
{
	struct gm_arena *arena = heap->arenas;
	size_t have = 0;

	if (!gm_arenas_settle(heap))
		return 0;
	for (arena = heap->arenas; arena && have < want; arena = arena->next) {
		struct gm_extent *extent, *next;
		size_t count;

		extent = gm_index_most_pages(&arena->index);
		for (; extent && have < want; extent = next) {
			next = gm_index_fewer_pages(&arena->index, extent);
			if (extent == a || extent == b)
				continue;
			if (punch_run(heap, extent, want - have, pages + have,
				      &count))
				break;
			have += count;
		}
	}
	heap->books.moved_bytes += have * heap->page_bytes;
	heap->toll_bytes += have * heap->page_bytes;
	return have;
}

void gm_pages_touch(struct gm_heap *heap, const struct gm_extent *extent)
{
	const struct gm_space *space = &heap->space;
	size_t shift = (size_t)__builtin_ctzll(heap->page_bytes);
	uintptr_t offset = extent->address - space->spans->address;
	size_t last = (offset + extent->bytes - 1) >> shift;

	for (size_t i = offset >> shift; i <= last; i++)
		if (space->page[i].ticket < extent->ticket)
			space->page[i].ticket = extent->ticket;
}

gpumem_status gm_page_destroy(struct gm_heap *heap, gpumem_page page)
{
	gpumem_status status =
		gm_driver_page_destroy(&heap->driver, page, heap->page_bytes);

	if (status)
		gm_spare_give(&heap->space, &page, 1);
	else
		gm_heap_unreserve(heap, heap->page_bytes, 1);
	return status;
}

static gpumem_status trim_spare(struct gm_heap *heap, uint64_t keep_bytes)
{
	struct gm_space *space = &heap->space;
	gpumem_status status = GPUMEM_OK;

	while (!status && space->spare_count &&
	       heap->books.reserved.current > keep_bytes)
		status = gm_page_destroy(heap,
					 space->spare[--space->spare_count]);
	return status;
}

/* One step: some pages of one extent; count 0: it has none that are settled. */
static gpumem_status trim_extent(struct gm_heap *heap, struct gm_extent *extent,
				 uint64_t keep_bytes, size_t *count)
{
	uint64_t over = heap->books.reserved.current - keep_bytes;
	size_t want = (over + heap->page_bytes - 1) / heap->page_bytes;
	gpumem_page pages[TRIM_PAGES];
	struct gm_first first = {0};

	if (want > TRIM_PAGES)
		want = TRIM_PAGES;
	*count = 0;
	gm_first_keep(&first, gm_spare_room(&heap->space, want));
	if (!first.status)
		gm_first_keep(&first,
			      punch_run(heap, extent, want, pages, count));
	for (size_t i = 0; i < *count; i++)
		gm_first_keep(&first, gm_page_destroy(heap, pages[i]));
	return gm_first_end(&first);
}

/* After a step the extent has fewer pages, or is gone: the walk begins anew,
 * below the extents that were found to have nothing settled. */
static void trim_arena(struct gm_heap *heap, struct gm_arena *arena,
		       uint64_t keep_bytes, struct gm_first *first)
{
	struct gm_extent *extent = gm_index_most_pages(&arena->index);
	struct gm_extent *stuck = NULL;
	size_t count;

	while (extent && heap->books.reserved.current > keep_bytes) {
		gm_first_keep(first,
			      trim_extent(heap, extent, keep_bytes, &count));
		if (!count)
			stuck = extent;
		extent = stuck ? gm_index_fewer_pages(&arena->index, stuck)
			       : gm_index_most_pages(&arena->index);
	}
}

gpumem_status gm_pages_trim(struct gm_heap *heap, uint64_t keep_bytes)
{
	struct gm_arena *arena = heap->arenas;
	struct gm_first first = {0};

	gm_first_keep(&first, trim_spare(heap, keep_bytes));
	for (; arena; arena = arena->next)
		trim_arena(heap, arena, keep_bytes, &first);
	return gm_first_end(&first);
}
