/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which addresses have memory, for others. A recording is told each handle when
 * it is mapped, by the number that the driver gave it, and all of them when the
 * recording begins; handle.c has the end. A handle moves as a whole, so that
 * its number says which memory it is. See space.h.
 */
#include "handle.h"

void gm_handle_record(const struct gm_heap *heap, uintptr_t address,
		      const struct gm_handle *handle)
{
	GM_RECORD(heap->record, GPUMEM_RECORD_MAP, address,
		  handle->pages * heap->page_bytes, handle->page, handle->from);
}

static bool is_stale(const struct gm_extent *extent)
{
	return gm_extent_is(extent, GM_EXTENT_STALE) ||
	       gm_extent_is(extent, GM_EXTENT_RETIRING);
}

/* The stale ones, or all others. Where a page was before this recording cannot
 * tell. */
static void record_pages(const struct gm_heap *heap, const struct gm_span *span,
			 bool stale)
{
	const struct gm_spans *spans = &heap->spans;
	const struct gm_page *page = spans->page + span->first_page;
	const struct gm_page *end = spans->page + spans->high_page;
	struct gm_extent *extent = span->first;
	uintptr_t at = span->address;

	for (; at < span->address + span->bytes && page < end;
	     at += heap->page_bytes, page++) {
		while (gm_extent_end(extent) <= at)
			extent = gm_extent_next(&heap->nodes, extent);
		if (page->first && is_stale(extent) == stale)
			gm_handle_record(heap, at,
					 &(struct gm_handle){
						 .page = page->handle,
						 .pages = gm_page_handle_pages(
							 spans, page),
						 .from = at});
	}
}

/* Of the places of a page the one in use comes last, as it did before. */
void gm_pages_record(const struct gm_heap *heap)
{
	const struct gm_span *span = heap->spans.first;

	for (; span; span = span->next)
		record_pages(heap, span, true);
	for (span = heap->spans.first; span; span = span->next)
		record_pages(heap, span, false);
}

/* ---- ranges, as space/ranges.h has them ---- */

static bool leaves(const struct gm_extent *extent)
{
	return gm_extent_is(extent, GM_EXTENT_RELEASING) ||
	       gm_extent_is(extent, GM_EXTENT_RETIRING);
}

/* What is side by side is one range. */
static void tell_span(const struct gm_heap *heap, const struct gm_span *span,
		      void (*fn)(uintptr_t address, uint64_t bytes, void *user),
		      void *user)
{
	const struct gm_spans *spans = &heap->spans;
	const struct gm_page *page = spans->page + span->first_page;
	const struct gm_page *end = spans->page + spans->high_page;
	const struct gm_extent *extent = span->first;
	uintptr_t at = span->address, from = at;

	for (; at < span->address + span->bytes && page < end;
	     at += heap->page_bytes, page++) {
		while (gm_extent_end(extent) <= at)
			extent = gm_extent_next(&heap->nodes, extent);
		if (page->handle && !leaves(extent))
			continue;
		if (at > from)
			fn(from, at - from, user);
		from = at + heap->page_bytes;
	}
	if (at > from)
		fn(from, at - from, user);
}

void gm_pages_mapped(const struct gm_heap *heap,
		     void (*fn)(uintptr_t address, uint64_t bytes, void *user),
		     void *user)
{
	const struct gm_span *span = heap->spans.first;

	for (; span; span = span->next)
		tell_span(heap, span, fn, user);
}

/* Pages that serve elsewhere already cannot stay, either. */
static bool can_stay(const struct gm_heap *heap, const struct gm_span *span,
		     uintptr_t at, uintptr_t end)
{
	const struct gm_extent *extent = span->first;

	for (; at < end; at += heap->page_bytes) {
		const struct gm_page *page = gm_page_at(&heap->spans, at);

		while (gm_extent_end(extent) <= at)
			extent = gm_extent_next(&heap->nodes, extent);
		if (page >= heap->spans.page + heap->spans.high_page ||
		    !page->handle || gm_page_is_away(page) || leaves(extent) ||
		    is_stale(extent))
			return false;
	}
	return true;
}

bool gm_pages_pin(struct gm_heap *heap, uintptr_t address, size_t bytes,
		  bool pinned)
{
	const struct gm_span *span = gm_span_of(&heap->spans, address);
	uintptr_t at = address & ~(uintptr_t)(heap->page_bytes - 1);

	if (address - span->address >= span->bytes ||
	    bytes > span->bytes - (address - span->address) ||
	    (pinned && !can_stay(heap, span, at, address + bytes)))
		return false;
	for (; at < address + bytes; at += heap->page_bytes)
		heap->space->ranges
			.page[gm_page_at(&heap->spans, at) - heap->spans.page] =
			pinned;
	return true;
}
