/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a recording is told of addresses that have memory: each handle when it
 * is mapped, by the number that the driver gave it, and all of them when the
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
