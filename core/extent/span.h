/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Spans: the ranges of addresses that a heap has from the driver, each cut into
 * extents (extent.h); and the table that says of each page of them which
 * physical handle is mapped there, and the seqno of the last free. With virtual
 * memory a heap has one span as a rule, without a span for each raw allocation.
 *
 * A handle covers a power of two of pages side by side, and is mapped whole: at
 * one place, or with CAP_ALIAS at several, of which all but one are stale (see
 * pages/stale.h). `first` says where a mapping begins. The number of a page
 * that several extents have a part of may be of another arena than theirs.
 *
 *     page[i].handle != 0  <=>  the address of page i is in no hole, and a
 *         sleep has not taken its memory (pages/away.h)
 *     page[i].seqno <= extent->seqno, if it lies wholly in a free extent
 *     the entry behind the pages of each span is 0
 *
 * The heap's mutex guards it. Calls no driver.
 */
#ifndef GM_EXTENT_SPAN_H
#define GM_EXTENT_SPAN_H

#include "extent.h"

#include <gpumem/backend.h>

struct gm_span {
	uintptr_t address; /* as the driver gave it */
	size_t bytes;
	size_t first_page; /* VM: where its part of the table begins */
	struct gm_extent *first;
	struct gm_span *next, *prev;
	bool stuck; /* VM: something in it does not unmap: it stays */
	bool pinned; /* without: some of it is (space/ranges.h) */
};

struct gm_page {
	gpumem_page handle;  /* that covers it; 0: nothing is mapped here */
	uint64_t first : 1;  /* the first of its handle */
	uint64_t seqno : 63; /* of the latest free that touched it; from
				GM_AWAY_BASE on the number of a sleep, whose
				it is */
};

/* No free has such a number, ever. */
#define GM_AWAY_BASE (UINT64_C(3) << 61)

/* It sleeps, or is about to: what it holds is in a store (core/sleep). */
static inline bool gm_page_is_away(const struct gm_page *page)
{
	return page->seqno >= GM_AWAY_BASE;
}

struct gm_spans {
	struct gm_span *first; /* in address order */
	struct gm_page *page;  /* VM: by span, in order of their making */
	size_t page_count;     /* VM: entries, one more for each span */
	size_t high_page;      /* VM: page[] beyond was never touched */
	size_t page_bytes;     /* VM: constant; 0: there is no table */
};

void gm_span_link(struct gm_spans *spans, struct gm_span *span);
void gm_span_unlink(struct gm_spans *spans, struct gm_span *span);
/* That of an address, which lies in one. */
struct gm_span *gm_span_of(const struct gm_spans *spans, uintptr_t address);

/* Room in the table for the pages of one more span, and the 0 behind them.
 * False: no host memory. */
bool gm_spans_extend_table(struct gm_spans *spans, size_t pages);
void gm_spans_free_table(struct gm_spans *spans);

/* All extents, span by span in address order. */
struct gm_extent *gm_spans_first(const struct gm_spans *spans);
struct gm_extent *gm_spans_next(const struct gm_spans *spans,
				const struct gm_nodes *nodes,
				const struct gm_extent *extent);

/* The entry for the page at an address. */
struct gm_page *gm_page_at(const struct gm_spans *spans, uintptr_t address);
/* How many pages the handle covers whose first page this is. */
size_t gm_page_handle_pages(const struct gm_spans *spans,
			    const struct gm_page *page);
/* It is the first page of its handle, or of none. */
static inline bool gm_page_begins(const struct gm_page *page)
{
	return page->first || !page->handle;
}
/* Is one of the pages that a range touches away? And how many bytes of the
 * range have no memory for that? */
bool gm_pages_touch_away(const struct gm_spans *spans, uintptr_t address,
			 size_t bytes);
uint64_t gm_pages_gone_bytes(const struct gm_spans *spans, uintptr_t address,
			     size_t bytes);
/* Part of an extent was freed, with the extent's seqno. Of what has no pages
 * nothing is kept, here and below. */
void gm_pages_touch(struct gm_spans *spans, const struct gm_extent *extent);
/* Part of a free extent has come from another arena, or was joined to it: the
 * pages that are wholly in the extent now were freed when it was, or before. */
void gm_pages_settle(struct gm_spans *spans, const struct gm_extent *extent,
		     uintptr_t part, size_t bytes);

#endif
