/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The pages that are away: marked, unmapped, mapped again. See away.h; what
 * becomes of the extents there is away_settle.c. */
#include "away.h"
#include "handle.h"
#include "base/error.h"

/* So many handles are unmapped by one call. */
enum { STEP_HANDLES = 64 };

static struct gm_page *table_end(const struct gm_heap *heap)
{
	return heap->spans.page + heap->spans.high_page;
}

void gm_away_mark(struct gm_heap *heap, uintptr_t start, size_t bytes,
		  uint64_t number)
{
	struct gm_page *page = gm_page_at(&heap->spans, start);
	size_t count = bytes / heap->page_bytes;

	for (size_t i = 0; i < count; i++)
		page[i].seqno = GM_AWAY_BASE + number;
	heap->space->away.pages += count;
}

void gm_away_unmark(struct gm_heap *heap, uint64_t number)
{
	struct gm_page *page = heap->spans.page;

	for (; page < table_end(heap); page++) {
		if (page->seqno != GM_AWAY_BASE + number || !page->handle)
			continue;
		page->seqno = 0;
		heap->space->away.pages--;
	}
}

void gm_away_unmark_area(struct gm_heap *heap, uintptr_t start, size_t bytes)
{
	struct gm_page *page = gm_page_at(&heap->spans, start);
	const struct gm_page *end = page + bytes / heap->page_bytes;

	for (; page < end; page++) {
		if (!gm_page_is_away(page) || !page->handle)
			continue;
		page->seqno = 0;
		heap->space->away.pages--;
	}
}

bool gm_away_has(const struct gm_heap *heap, uint64_t number)
{
	const struct gm_page *page = heap->spans.page;

	for (; page < table_end(heap); page++)
		if (page->seqno == GM_AWAY_BASE + number)
			return true;
	return false;
}

/* Handles of one size, of one sleep, side by side, as many as one step has. */
static struct gm_run run_at(const struct gm_heap *heap,
			    const struct gm_page *page, uintptr_t start)
{
	const struct gm_page *next = page;
	struct gm_run run = {.start = start,
			     .pages = gm_page_handle_pages(&heap->spans, page)};

	/* What is behind the pages of a span is 0. */
	do {
		run.count++;
		next += run.pages;
	} while (run.count < STEP_HANDLES && next < table_end(heap) &&
		 next->handle && next->seqno == page->seqno &&
		 gm_page_handle_pages(&heap->spans, next) == run.pages);
	return run;
}

/* Its pages keep their mark, and have no memory. */
static void clear(struct gm_heap *heap, const struct gm_run *run)
{
	gm_handles_clear(heap, run);
	heap->space->away.gone_pages += run->count * run->pages;
}

static void unmark_run(struct gm_heap *heap, const struct gm_run *run)
{
	struct gm_page *page = gm_page_at(&heap->spans, run->start);
	size_t count = run->count * run->pages;

	for (size_t i = 0; i < count; i++)
		page[i].seqno = 0;
	heap->space->away.pages -= count;
}

/* Those that the driver does not take are spare, for which there is room.
 * Returns how many went. */
static size_t destroy(struct gm_heap *heap, const struct gm_run *run,
		      const gpumem_page *pages, struct gm_first *first)
{
	size_t bytes = run->pages * heap->page_bytes, i = 0, gone = 0, done;

	while (i < run->count) {
		gm_first_keep(first, gm_driver_page_destroy(
					     &heap->driver, bytes, pages + i,
					     run->count - i, &done));
		i += done;
		gone += done;
		if (i < run->count) {
			const struct gm_handle kept = {.page = pages[i++],
						       .pages = run->pages};

			gm_spare_give(heap, &kept, 1);
		}
	}
	gm_budget_unreserve(heap, gone * bytes, gone);
	return gone;
}

static gpumem_status unmap(struct gm_heap *heap, const struct gm_run *run,
			   size_t bytes)
{
	gpumem_status status;

	gm_run_leaves(heap, run);
	status = gm_driver_unmap(&heap->driver, run->start, run->count, bytes);
	if (status != GPUMEM_OK)
		gm_run_stays(heap, run);
	return status;
}

static uint64_t unmap_run(struct gm_heap *heap, const struct gm_run *run,
			  struct gm_first *first)
{
	size_t bytes = run->pages * heap->page_bytes;
	gpumem_page pages[STEP_HANDLES];
	gpumem_status status = gm_spare_room(heap, run->count);

	gm_handles_list(heap, run, pages);
	for (size_t i = 0; i < run->count && status == GPUMEM_OK; i++)
		if (!gm_stale_clear_now(heap, pages[i]))
			status = gm_fail(GPUMEM_BUSY,
					 "a page is still mapped where it was "
					 "before");
	if (status == GPUMEM_OK)
		status = unmap(heap, run, bytes);
	gm_first_keep(first, status);
	if (status != GPUMEM_OK) {
		unmark_run(heap, run);
		return 0;
	}
	clear(heap, run);
	return destroy(heap, run, pages, first) * bytes;
}

gpumem_status gm_away_unmap(struct gm_heap *heap, uint64_t *bytes_out)
{
	const struct gm_span *span = heap->spans.first;
	struct gm_first first = {0};

	*bytes_out = 0;
	for (; span; span = span->next) {
		struct gm_page *page = heap->spans.page + span->first_page;
		uintptr_t at = span->address, end = at + span->bytes;
		struct gm_run run;

		while (at < end && page < table_end(heap)) {
			run = (struct gm_run){.count = 1, .pages = 1};
			if (page->handle && gm_page_is_away(page)) {
				run = run_at(heap, page, at);
				*bytes_out += unmap_run(heap, &run, &first);
			}
			page += run.count * run.pages;
			at += gm_run_bytes(heap, &run);
		}
	}
	return gm_first_end(&first);
}

void gm_away_refill(struct gm_heap *heap, const struct gm_run *run,
		    const gpumem_page *pages)
{
	gm_handles_set(heap, run, pages);
	for (size_t i = 0; i < run->count; i++) {
		const struct gm_handle handle = {.page = pages[i],
						 .pages = run->pages};

		gm_handle_record(heap,
				 run->start + i * run->pages * heap->page_bytes,
				 &handle);
	}
	heap->space->away.gone_pages -= run->count * run->pages;
}

void gm_away_restore(struct gm_heap *heap, const struct gm_run *run,
		     const gpumem_page *pages)
{
	gm_away_refill(heap, run, pages);
	unmark_run(heap, run);
}
