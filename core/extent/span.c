/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Spans and the table of their pages; see span.h. */
#include "span.h"

#include <sys/mman.h>

void gm_span_link(struct gm_spans *spans, struct gm_span *span)
{
	struct gm_span *prev = NULL, *next = spans->first;

	for (; next && next->address < span->address; next = next->next)
		prev = next;
	span->prev = prev;
	span->next = next;
	if (next)
		next->prev = span;
	if (prev)
		prev->next = span;
	else
		spans->first = span;
}

void gm_span_unlink(struct gm_spans *spans, struct gm_span *span)
{
	if (span->prev)
		span->prev->next = span->next;
	else
		spans->first = span->next;
	if (span->next)
		span->next->prev = span->prev;
}

struct gm_span *gm_span_of(const struct gm_spans *spans, uintptr_t address)
{
	struct gm_span *span = spans->first;

	while (span->next && address - span->address >= span->bytes)
		span = span->next;
	return span;
}

bool gm_spans_extend_table(struct gm_spans *spans, size_t pages)
{
	size_t count = spans->page_count + pages + 1;
	void *table;

	if (spans->page)
		table = mremap(spans->page,
			       spans->page_count * sizeof(*spans->page),
			       count * sizeof(*spans->page), MREMAP_MAYMOVE);
	else
		table = mmap(NULL, count * sizeof(*spans->page),
			     PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			     0);
	if (table == MAP_FAILED)
		return false;
	spans->page = table;
	spans->page_count = count;
	return true;
}

void gm_spans_free_table(struct gm_spans *spans)
{
	if (spans->page)
		munmap(spans->page, spans->page_count * sizeof(*spans->page));
	spans->page = NULL;
	spans->page_count = spans->high_page = 0;
}

struct gm_extent *gm_spans_first(const struct gm_spans *spans)
{
	return spans->first ? spans->first->first : NULL;
}

struct gm_extent *gm_spans_next(const struct gm_spans *spans,
				const struct gm_nodes *nodes,
				const struct gm_extent *extent)
{
	const struct gm_span *next;

	if (extent->next)
		return gm_extent_next(nodes, extent);
	next = gm_span_of(spans, extent->address)->next;
	return next ? next->first : NULL;
}

static size_t shift_of(const struct gm_spans *spans)
{
	return (size_t)__builtin_ctzll(spans->page_bytes);
}

struct gm_page *gm_page_at(const struct gm_spans *spans, uintptr_t address)
{
	const struct gm_span *span = gm_span_of(spans, address);

	return &spans->page[span->first_page +
			    ((address - span->address) >> shift_of(spans))];
}

size_t gm_page_handle_pages(const struct gm_spans *spans,
			    const struct gm_page *page)
{
	const struct gm_page *end = spans->page + spans->high_page;
	const struct gm_page *next = page + 1;

	while (next < end && next->handle == page->handle && !next->first)
		next++;
	return (size_t)(next - page);
}

void gm_pages_touch(struct gm_spans *spans, const struct gm_extent *extent)
{
	uintptr_t offset = extent->address & (spans->page_bytes - 1);
	struct gm_page *page;
	size_t last;

	if (!spans->page_bytes)
		return;
	page = gm_page_at(spans, extent->address);
	last = (offset + extent->bytes - 1) >> shift_of(spans);
	for (size_t i = 0; i <= last; i++)
		if (page[i].seqno < extent->seqno)
			page[i].seqno = extent->seqno;
}

void gm_pages_settle(struct gm_spans *spans, const struct gm_extent *extent,
		     uintptr_t part, size_t bytes)
{
	uintptr_t at = part & ~(uintptr_t)(spans->page_bytes - 1);
	uintptr_t first = gm_extent_first_page(extent, spans->page_bytes);
	uintptr_t end = part + bytes;
	struct gm_page *page;

	if (!spans->page_bytes)
		return;
	if (at < first)
		at = first;
	if (end <= at || !gm_extent_pages(extent, spans->page_bytes))
		return;
	page = gm_page_at(spans, at);
	for (; at < end && at + spans->page_bytes <= gm_extent_end(extent);
	     at += spans->page_bytes, page++)
		if (page->seqno > extent->seqno)
			page->seqno = extent->seqno;
}

bool gm_pages_touch_away(const struct gm_spans *spans, uintptr_t address,
			 size_t bytes)
{
	size_t page_bytes = spans->page_bytes;
	uintptr_t start;
	const struct gm_page *page, *end;

	if (!page_bytes)
		return false;
	start = address & ~(uintptr_t)(page_bytes - 1);
	page = gm_page_at(spans, start);
	end = page + (address + bytes - start + page_bytes - 1) / page_bytes;
	for (; page < end; page++)
		if (gm_page_is_away(page))
			return true;
	return false;
}

uint64_t gm_pages_gone_bytes(const struct gm_spans *spans, uintptr_t address,
			     size_t bytes)
{
	size_t page_bytes = spans->page_bytes;
	uintptr_t end = address + bytes, at = address;
	const struct gm_page *page;
	uint64_t gone = 0;

	if (!page_bytes)
		return 0;
	page = gm_page_at(spans, address & ~(uintptr_t)(page_bytes - 1));
	for (; at < end; page++) {
		uintptr_t next = (at | (page_bytes - 1)) + 1;

		if (next > end)
			next = end;
		if (gm_page_is_away(page) && !page->handle)
			gone += next - at;
		at = next;
	}
	return gone;
}
