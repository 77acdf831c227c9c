/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The check of pages and holes; see pages.h. */
#include "handle.h"
#include "extent/check.h"
#include "extent/ring.h"

typedef unsigned long long ull;

/* All holes are listed, and no page is mapped in one. */
static gpumem_status check_holes(const struct gm_heap *heap,
				 const struct gm_tally *tally)
{
	const struct gm_space *space = heap->space;
	const struct gm_spans *spans = &heap->spans;
	const struct gm_extent *hole = gm_node(&heap->nodes, space->holes);
	size_t count;
	gpumem_status status = gm_check_ring(&heap->nodes, space->holes,
					     GM_EXTENT_HOLE, &count);

	if (status != GPUMEM_OK)
		return status;
	EXPECT(count == tally->hole_count, "%zu of %llu holes are listed",
	       count, (ull)tally->hole_count);
	for (; hole; hole = gm_ring_next(&heap->nodes, space->holes, hole)) {
		size_t first = (size_t)(gm_page_at(spans, hole->address) -
					spans->page);
		size_t end = first + hole->bytes / heap->page_bytes;

		for (size_t i = first; i < end && i < spans->high_page; i++)
			EXPECT(!spans->page[i].handle &&
				       !gm_page_is_away(&spans->page[i]),
			       "page %zu is in a hole", i);
	}
	return GPUMEM_OK;
}

uint64_t gm_pages_unmapped_bytes(const struct gm_heap *heap,
				 const struct gm_extent *extent)
{
	const struct gm_page *page = gm_page_at(&heap->spans, extent->address);
	const struct gm_page *end = page + extent->bytes / heap->page_bytes;
	uint64_t pages = 0;

	for (; page < end; page++)
		pages += !page->handle;
	return pages * heap->page_bytes;
}

gpumem_status gm_check_borders(const struct gm_heap *heap,
			       const struct gm_extent *extent)
{
	const struct gm_page *page = gm_page_at(&heap->spans, extent->address);
	const struct gm_page *end = page + extent->bytes / heap->page_bytes;
	const struct gm_page *high = heap->spans.page + heap->spans.high_page;

	EXPECT(page >= high || gm_page_begins(page),
	       "the extent at %#zx begins within a handle", extent->address);
	EXPECT(end >= high || gm_page_begins(end),
	       "the extent at %#zx ends within a handle", extent->address);
	return GPUMEM_OK;
}

/* Each handle covers a power of two of pages, and no more than the largest. */
static gpumem_status check_handles(const struct gm_heap *heap,
				   uint64_t *pages_out, uint64_t *count_out)
{
	const struct gm_spans *spans = &heap->spans;
	size_t pages;

	*pages_out = *count_out = 0;
	for (size_t i = 0; i < spans->high_page; i += pages) {
		pages = gm_page_handle_pages(spans, &spans->page[i]);
		if (!spans->page[i].handle)
			continue;
		EXPECT(!(pages & (pages - 1)) &&
			       pages <= heap->space->handle_pages,
		       "a handle at page %zu covers %zu pages", i, pages);
		*pages_out += pages;
		++*count_out;
	}
	return GPUMEM_OK;
}

/* *gone_out: pages that are away, without memory. */
static gpumem_status check_away(const struct gm_heap *heap, uint64_t *gone_out)
{
	const struct gm_away *away = &heap->space->away;
	uint64_t pages = 0;

	*gone_out = 0;
	for (size_t i = 0; i < heap->spans.high_page; i++) {
		const struct gm_page *page = &heap->spans.page[i];

		pages += gm_page_is_away(page);
		*gone_out += gm_page_is_away(page) && !page->handle;
		EXPECT(!page->handle || page->first ||
			       gm_page_is_away(page) ==
				       gm_page_is_away(page - 1),
		       "a part of the handle at page %zu is away", i);
	}
	EXPECT(pages == away->pages && *gone_out == away->gone_pages,
	       "%llu pages are away and %llu of them have no memory, the "
	       "counters say %llu and %llu",
	       (ull)pages, (ull)*gone_out, (ull)away->pages,
	       (ull)away->gone_pages);
	return GPUMEM_OK;
}

static gpumem_status check_spare(const struct gm_space *space)
{
	size_t pages = 0;

	for (size_t i = 0; i < space->spare_count; i++)
		pages += space->spare[i].pages;
	EXPECT(pages == space->spare_pages,
	       "%zu spare handles of %zu pages, the counters say %zu",
	       space->spare_count, pages, space->spare_pages);
	return GPUMEM_OK;
}

gpumem_status gm_pages_check(const struct gm_heap *heap,
			     const struct gm_tally *tally)
{
	const struct gm_space *space = heap->space;
	uint64_t mapped = 0, handles = 0, stale = 0, bytes = 0, gone = 0;
	const struct gm_span *span = heap->spans.first;
	gpumem_status status = check_holes(heap, tally);

	if (status == GPUMEM_OK)
		status = check_spare(space);
	if (status == GPUMEM_OK)
		status = check_away(heap, &gone);
	if (status == GPUMEM_OK)
		status = check_handles(heap, &mapped, &handles);
	if (status == GPUMEM_OK)
		status = gm_check_stale(heap, tally, &stale);
	if (status != GPUMEM_OK)
		return status;
	for (; span; span = span->next)
		bytes += span->bytes;
	handles += space->spare_count + space->growth.flight.handles +
		   space->away.taken_handles - stale;
	mapped *= heap->page_bytes;
	gone *= heap->page_bytes;
	EXPECT(mapped + gone + tally->unreleasable_bytes +
			       tally->filling_bytes ==
		       bytes,
	       "%llu bytes are mapped, %llu asleep and %llu are holes, of %llu",
	       (ull)mapped, (ull)gone, (ull)tally->unreleasable_bytes,
	       (ull)bytes);
	EXPECT(tally->releasing_bytes <= space->releasing_bytes &&
		       space->releasing_bytes <=
			       (space->spare_room - space->spare_count -
				space->growth.spare_count) *
				       heap->page_bytes,
	       "%llu bytes are being released, the counters say %llu",
	       (ull)tally->releasing_bytes, (ull)space->releasing_bytes);
	mapped -= space->stale.bytes;
	mapped += space->releasing_bytes - tally->releasing_bytes;
	mapped += space->growth.flight.pages * heap->page_bytes;
	mapped += space->away.taken_bytes;
	EXPECT(mapped + space->spare_pages * heap->page_bytes ==
		       heap->counters.reserved.current,
	       "%llu bytes are mapped and %zu pages spare, but %llu reserved",
	       (ull)mapped, space->spare_pages,
	       (ull)heap->counters.reserved.current);
	EXPECT(space->releasing_bytes ||
		       handles == heap->counters.segments.current,
	       "%llu handles, but %llu counted", (ull)handles,
	       (ull)heap->counters.segments.current);
	return GPUMEM_OK;
}

static bool is_pinned(const struct gm_heap *heap, const struct gm_page *page,
		      const struct gm_page *end)
{
	while (page < end && !gm_page_pinned(heap, page))
		page++;
	return page < end;
}

/* Counts the pages of a handle that lie in the extent. */
static void add_handle(const struct gm_heap *heap, const struct gm_page *page,
		       const struct gm_page *end, struct gm_tally *tally,
		       const struct gm_page **next_out)
{
	const struct gm_page *at = page;

	do
		at++;
	while (at < end && !gm_page_begins(at));
	*next_out = at;
	if (gm_page_begins(page) && !is_pinned(heap, page, at) &&
	    gm_page_handle_pages(&heap->spans, page) == (size_t)(at - page))
		tally->whole_bytes += (size_t)(at - page) * heap->page_bytes;
	else
		tally->handle_part_bytes +=
			(size_t)(at - page) * heap->page_bytes;
}

static gpumem_status check_settled(const struct gm_heap *heap,
				   const struct gm_extent *extent)
{
	size_t pages = gm_extent_pages(extent, heap->page_bytes);
	uintptr_t at = gm_extent_first_page(extent, heap->page_bytes);
	uint64_t seqno =
		pages ? gm_pages_seqno(gm_page_at(&heap->spans, at), pages) : 0;

	EXPECT(seqno <= extent->seqno,
	       "a page of the free extent at %#zx was freed with %#llx, the "
	       "extent with %#llx",
	       extent->address, (ull)seqno, (ull)extent->seqno);
	return GPUMEM_OK;
}

gpumem_status gm_pages_check_free(const struct gm_heap *heap,
				  const struct gm_extent *extent,
				  struct gm_tally *tally)
{
	size_t pages = gm_extent_pages(extent, heap->page_bytes);
	const struct gm_page *page, *end;

	EXPECT(!gm_pages_touch_away(&heap->spans, extent->address,
				    extent->bytes),
	       "the free extent at %#zx is on a page that sleeps",
	       extent->address);
	if (extent->arena->graph)
		tally->graph_bytes += extent->bytes;
	else
		tally->page_part_bytes +=
			extent->bytes - pages * heap->page_bytes;
	if (!pages || extent->arena->graph)
		return check_settled(heap, extent);
	page = gm_page_at(&heap->spans,
			  gm_extent_first_page(extent, heap->page_bytes));
	for (end = page + pages; page < end;)
		add_handle(heap, page, end, tally, &page);
	return check_settled(heap, extent);
}
