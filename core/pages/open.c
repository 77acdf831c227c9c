/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * All that is mapped is opened to one more device, in use or free. Not what is
 * stale: no block will be there before it is mapped anew. Handles of one size
 * side by side take one call. See space.h.
 *
 * The heap's mutex guards it, and nothing is being mapped; but another thread
 * may be unmapping (struct walk).
 */
#include "handle.h"

/*
 * What is mapped in an extent that is being released goes, without the mutex.
 * If the driver refuses to unmap it, it is used again: so it is opened too, and
 * if that fails it was gone already.
 */
enum fate { STAYS, GOES, STALE };

/* A walk through the pages of a span. */
struct walk {
	const struct gm_heap *heap;
	struct gm_extent *extent; /* that `at` is in, or one before it */
	const struct gm_page *page, *last; /* none is mapped from `last` on */
	uintptr_t at, end;
};

static enum fate fate_at(struct walk *walk, uintptr_t at)
{
	while (gm_extent_end(walk->extent) <= at)
		walk->extent = gm_extent_next(&walk->heap->nodes, walk->extent);
	if (gm_extent_is(walk->extent, GM_EXTENT_STALE) ||
	    gm_extent_is(walk->extent, GM_EXTENT_RETIRING))
		return STALE;
	return gm_extent_is(walk->extent, GM_EXTENT_RELEASING) ? GOES : STAYS;
}

/* The handles of one size, and of one fate, from here on. */
static struct gm_run run_at(struct walk *walk, enum fate fate)
{
	const struct gm_spans *spans = &walk->heap->spans;
	struct gm_run run = {.start = walk->at,
			     .pages = gm_page_handle_pages(spans, walk->page)};
	const struct gm_page *next;
	uintptr_t at;

	do {
		run.count++;
		next = walk->page + run.count * run.pages;
		at = run.start + gm_run_bytes(walk->heap, &run);
	} while (at < walk->end && next < walk->last && next->first &&
		 gm_page_handle_pages(spans, next) == run.pages &&
		 fate_at(walk, at) == fate);
	return run;
}

static gpumem_status open_run(const struct gm_heap *heap,
			      const struct gm_run *run,
			      struct gpumem_device *peer, enum fate fate)
{
	gpumem_status status;

	if (fate == STALE)
		return GPUMEM_OK;
	status = gm_device_open_mapped(heap->driver.device, peer, run->start,
				       run->count,
				       run->pages * heap->page_bytes);
	return fate == GOES ? GPUMEM_OK : status;
}

static gpumem_status open_span(const struct gm_heap *heap,
			       const struct gm_span *span,
			       struct gpumem_device *peer)
{
	struct walk walk = {.heap = heap,
			    .extent = span->first,
			    .page = heap->spans.page + span->first_page,
			    .last = heap->spans.page + heap->spans.high_page,
			    .at = span->address,
			    .end = span->address + span->bytes};
	gpumem_status status = GPUMEM_OK;

	while (status == GPUMEM_OK && walk.at < walk.end &&
	       walk.page < walk.last) {
		struct gm_run run = {.count = 1, .pages = 1};

		if (walk.page->handle) {
			enum fate fate = fate_at(&walk, walk.at);

			run = run_at(&walk, fate);
			status = open_run(heap, &run, peer, fate);
		}
		walk.page += run.count * run.pages;
		walk.at += gm_run_bytes(heap, &run);
	}
	return status;
}

gpumem_status gm_pages_open(struct gm_heap *heap, struct gpumem_device *peer)
{
	const struct gm_span *span = heap->spans.first;
	gpumem_status status = GPUMEM_OK;

	for (; span && status == GPUMEM_OK; span = span->next)
		status = open_span(heap, span, peer);
	return status;
}
