/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pages out of free extents, to be mapped elsewhere. Only settled ones are
 * touched, so that unmapping waits for nothing, and only whole ones; the extent
 * with the most of them comes first, so that few calls move much. See space.h.
 */
#include "heap.h"
#include "base/error.h"

struct gm_extent *gm_pages_cut(struct gm_heap *heap, struct gm_extent *extent,
			       const struct gm_page_run *run)
{
	struct gm_index *index = &extent->arena->index;
	size_t bytes = run->count * heap->page_bytes;

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

void gm_pages_clear(struct gm_heap *heap, const struct gm_page_run *run,
		    gpumem_page *pages)
{
	struct gm_page *page = gm_page_at(heap, run->start);

	for (size_t i = 0; i < run->count; i++) {
		pages[i] = page[i].handle;
		page[i] = (struct gm_page){0};
	}
}

/* Unmaps pages of a free extent; their places become a hole, their handles go
 * to pages[]. */
static gpumem_status punch(struct gm_heap *heap, struct gm_extent *extent,
			   const struct gm_page_run *run, gpumem_page *pages)
{
	gpumem_status status = gm_nodes_reserve(&heap->nodes, 2);

	if (!status)
		status = gm_driver_unmap(&heap->driver, run->start, run->count,
					 heap->page_bytes);
	if (status)
		return status;
	gm_pages_clear(heap, run, pages);
	gm_hole_insert(heap, gm_pages_cut(heap, extent, run));
	return GPUMEM_OK;
}

/* At the low end of the extent, if it borders on a hole there, so that holes
 * grow rather than multiply. */
struct gm_page_run gm_pages_settled(const struct gm_heap *heap,
				    const struct gm_extent *extent, size_t want,
				    uint64_t newest)
{
	uintptr_t at = gm_extent_first_page(extent, heap->page_bytes);
	size_t pages = gm_extent_pages(extent, heap->page_bytes);
	const struct gm_page *page = gm_page_at(heap, at);
	/* What other streams did in it was over when this arena got it. */
	const struct gm_arena *arena = extent->arena;
	struct gm_page_run best = {0}, run = {0};

	if (arena->settled != arena->ticket && arena->settled < newest)
		newest = arena->settled;
	for (size_t i = 0; i < pages && best.count < want; i++) {
		if (page[i].ticket > newest) {
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
	struct gm_page_run run =
		gm_pages_settled(heap, extent, want, UINT64_MAX);
	gpumem_status status = GPUMEM_OK;

	*count = 0;
	if (run.count)
		status = punch(heap, extent, &run, pages);
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
