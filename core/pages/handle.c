/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The table of pages: which handle is mapped where, the seqno of the last free
 * there, and which whole handles lie in a free extent. It calls no driver. See
 * space.h.
 */
#include "handle.h"

size_t gm_run_bytes(const struct gm_heap *heap, const struct gm_run *run)
{
	return run->count * run->pages * heap->page_bytes;
}

/* The first handle that begins at `page` or behind it; or `end`. */
static const struct gm_page *first_whole(const struct gm_page *page,
					 const struct gm_page *end)
{
	while (page < end && !gm_page_begins(page))
		page++;
	return page;
}

/* Freed last with seqno `newest` or before, and not pinned, on all its pages.
 */
static bool may_go(const struct gm_heap *heap, const struct gm_page *page,
		   size_t pages, uint64_t newest)
{
	for (size_t i = 0; i < pages; i++)
		if (page[i].seqno > newest || gm_page_pinned(heap, &page[i]))
			return false;
	return true;
}

/* How many handles of so many pages are wished for at most. */
static size_t most(const struct gm_handle_query *query, size_t pages)
{
	if (pages < query->least || pages > query->most)
		return 0;
	return pages < query->pages ? query->pages / pages : 1;
}

/* Of the arena that may be busy all counts. */
static uint64_t newest_completed(const struct gm_arena *arena,
				 const struct gm_arena *busy, uint64_t newest)
{
	return (busy && gm_arenas_in_order(arena, busy)) ||
			       newest < arena->completed
		       ? newest
		       : arena->completed;
}

uint64_t gm_pages_seqno(const struct gm_page *page, size_t count)
{
	uint64_t newest = 0;

	for (size_t i = 0; i < count; i++)
		if (page[i].seqno > newest)
			newest = page[i].seqno;
	return newest;
}

/* At the low end of the extent, if it borders on a hole there, so that holes
 * grow rather than multiply. */
struct gm_run gm_handles_find(const struct gm_heap *heap,
			      const struct gm_extent *extent,
			      const struct gm_handle_query *query)
{
	uintptr_t at = gm_extent_first_page(extent, heap->page_bytes);
	const struct gm_page *first = gm_page_at(&heap->spans, at);
	const struct gm_page *end =
		first + gm_extent_pages(extent, heap->page_bytes);
	uint64_t newest =
		newest_completed(extent->arena, query->busy, query->newest);
	struct gm_run best = {0}, run = {0};
	size_t pages;

	for (const struct gm_page *page = first_whole(first, end); page < end;
	     page += pages) {
		pages = gm_page_handle_pages(&heap->spans, page);
		if (pages > (size_t)(end - page))
			break;
		if (!most(query, pages) || !may_go(heap, page, pages, newest)) {
			run.count = 0;
			continue;
		}
		if (run.pages != pages)
			run.count = 0;
		if (run.count++ == 0)
			run.start =
				at + (size_t)(page - first) * heap->page_bytes;
		run.pages = pages;
		if (run.count * pages > best.count * best.pages)
			best = run;
		if (run.count == most(query, pages))
			break;
	}
	return best;
}

/* What a page keeps: it is away still. */
static uint64_t mark_of(const struct gm_page *page)
{
	return gm_page_is_away(page) ? page->seqno : 0;
}

void gm_handles_set(struct gm_heap *heap, const struct gm_run *run,
		    const gpumem_page *pages)
{
	struct gm_spans *spans = &heap->spans;
	struct gm_page *page = gm_page_at(spans, run->start);
	size_t end;

	for (size_t i = 0; i < run->count * run->pages; i++)
		page[i] = (struct gm_page){.handle = pages[i / run->pages],
					   .first = i % run->pages == 0,
					   .seqno = mark_of(&page[i])};
	end = (size_t)(page - spans->page) + run->count * run->pages;
	if (end > spans->high_page)
		spans->high_page = end;
	gm_run_stays(heap, run);
}

void gm_handles_list(const struct gm_heap *heap, const struct gm_run *run,
		     gpumem_page *pages)
{
	const struct gm_page *page = gm_page_at(&heap->spans, run->start);

	for (size_t i = 0; i < run->count; i++)
		pages[i] = page[i * run->pages].handle;
}

void gm_handles_clear(struct gm_heap *heap, const struct gm_run *run)
{
	struct gm_page *page = gm_page_at(&heap->spans, run->start);

	for (size_t i = 0; i < run->count * run->pages; i++)
		page[i] = (struct gm_page){.seqno = mark_of(&page[i])};
	GM_RECORD(heap->record, GPUMEM_RECORD_UNMAP, run->start,
		  gm_run_bytes(heap, run));
}

void gm_run_leaves(const struct gm_heap *heap, const struct gm_run *run)
{
	gm_ranges_tell(heap, GPUMEM_RANGE_UNMAPPING, run->start,
		       gm_run_bytes(heap, run));
}

void gm_run_stays(const struct gm_heap *heap, const struct gm_run *run)
{
	gm_ranges_tell(heap, GPUMEM_RANGE_MAPPED, run->start,
		       gm_run_bytes(heap, run));
}

/* Of handles of which some is pinned; the first one begins at `page`. */
static size_t pinned_pages(const struct gm_heap *heap,
			   const struct gm_page *page,
			   const struct gm_page *end)
{
	size_t pages, sum = 0;

	if (!heap->space->ranges.pin_count)
		return 0;
	for (; page < end; page += pages) {
		pages = gm_page_handle_pages(&heap->spans, page);
		if (!may_go(heap, page, pages, UINT64_MAX))
			sum += pages;
	}
	return sum;
}

/* Pages of a free extent less those at its ends whose handles go on beyond, and
 * those that are pinned. */
static size_t whole_pages(const struct gm_heap *heap,
			  const struct gm_extent *extent)
{
	uintptr_t at = gm_extent_first_page(extent, heap->page_bytes);
	const struct gm_page *page = gm_page_at(&heap->spans, at);
	const struct gm_page *end =
		page + gm_extent_pages(extent, heap->page_bytes);

	page = first_whole(page, end);
	if (end < heap->spans.page + heap->spans.high_page)
		while (page < end && !gm_page_begins(end))
			end--;
	return (size_t)(end - page) - pinned_pages(heap, page, end);
}

static uint64_t whole_pages_of(const struct gm_heap *heap,
			       const struct gm_arena *arena)
{
	const struct gm_extent *extent = gm_index_most_pages(&arena->index);
	uint64_t pages = 0;

	for (; extent; extent = gm_index_fewer_pages(&arena->index, extent))
		pages += whole_pages(heap, extent);
	return pages;
}

uint64_t gm_handles_whole_bytes(const struct gm_heap *heap)
{
	const struct gm_arena *arena = gm_arena_stocked(heap);
	uint64_t pages = heap->space->spare_pages;

	for (; arena; arena = gm_arena_stocked_after(arena))
		pages += whole_pages_of(heap, arena);
	return pages * heap->page_bytes;
}

static size_t completed_pages(const struct gm_heap *heap,
			      const struct gm_extent *extent,
			      const struct gm_arena *busy)
{
	uintptr_t at = gm_extent_first_page(extent, heap->page_bytes);
	const struct gm_page *page = gm_page_at(&heap->spans, at);
	const struct gm_page *end =
		page + gm_extent_pages(extent, heap->page_bytes);
	uint64_t newest = newest_completed(extent->arena, busy, UINT64_MAX);
	size_t pages, sum = 0;

	for (page = first_whole(page, end); page < end; page += pages) {
		pages = gm_page_handle_pages(&heap->spans, page);
		if (pages <= (size_t)(end - page) &&
		    may_go(heap, page, pages, newest))
			sum += pages;
	}
	return sum;
}

uint64_t gm_handles_completed_bytes(const struct gm_heap *heap,
				    const struct gm_arena *busy)
{
	const struct gm_arena *arena = gm_arena_stocked(heap);
	uint64_t pages = 0;

	for (; arena; arena = gm_arena_stocked_after(arena)) {
		const struct gm_extent *extent =
			gm_index_most_pages(&arena->index);

		for (; extent;
		     extent = gm_index_fewer_pages(&arena->index, extent))
			pages += completed_pages(heap, extent, busy);
	}
	return pages * heap->page_bytes;
}

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
