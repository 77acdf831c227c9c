/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Pages mapped at two places: see stale.h. */
#include "handle.h"
#include "extent/ring.h"
#include "base/error.h"

/* So many times what is reserved may be stale: a program that repeats itself
 * uses one to three times its peak of addresses. */
enum { STALE_PART = 4 };

struct gm_arena *gm_stale_lender(const struct gm_heap *heap,
				 struct gm_arena *arena)
{
	if (!heap->space->stale.on || !arena || arena->graph || arena->dropped)
		return NULL;
	return arena;
}

static size_t room(const struct gm_heap *heap)
{
	uint64_t most = STALE_PART * heap->counters.reserved.current;
	uint64_t have = heap->space->stale.bytes;

	return have < most ? (size_t)((most - have) / heap->page_bytes) : 0;
}

size_t gm_stale_room(struct gm_heap *heap, size_t want)
{
	/* What does not unmap now takes room for now. */
	if (room(heap) < want)
		(void)gm_stale_retire(heap);
	return room(heap) < want ? room(heap) : want;
}

void gm_stale_begin(struct gm_heap *heap, struct gm_extent *extent)
{
	struct gm_stale *stale = &heap->space->stale;

	gm_extent_set(extent, GM_EXTENT_STALE);
	gm_ring_add(&heap->nodes, &stale->lending, extent);
	stale->bytes += extent->bytes;
}

static struct gm_run run_of(const struct gm_heap *heap,
			    const struct gm_extent *extent)
{
	struct gm_run run = {.start = extent->address};

	run.pages = gm_page_handle_pages(
		&heap->spans, gm_page_at(&heap->spans, extent->address));
	run.count = extent->bytes / (run.pages * heap->page_bytes);
	return run;
}

void gm_stale_undo(struct gm_heap *heap, size_t pages)
{
	struct gm_stale *stale = &heap->space->stale;
	struct gm_extent *extent = gm_node(&heap->nodes, stale->lending), *next;

	for (; extent; extent = next) {
		next = gm_ring_next(&heap->nodes, stale->lending, extent);
		if (run_of(heap, extent).pages > pages)
			continue;
		gm_ring_remove(&heap->nodes, &stale->lending, extent);
		stale->bytes -= extent->bytes;
		(void)gm_arena_insert(extent->arena, extent);
	}
}

void gm_stale_commit(struct gm_heap *heap)
{
	struct gm_stale *stale = &heap->space->stale;
	struct gm_extent *extent;

	while ((extent = gm_node(&heap->nodes, stale->lending))) {
		gm_ring_remove(&heap->nodes, &stale->lending, extent);
		gm_ring_add(&heap->nodes, &stale->ring, extent);
	}
}

static gpumem_status unmap(struct gm_heap *heap, const struct gm_run *run)
{
	return gm_driver_unmap(&heap->driver, run->start, run->count,
			       run->pages * heap->page_bytes);
}

/* An arena that has lent all that it had free is asked here, once in a row. */
static bool completed(const struct gm_extent *extent,
		      const struct gm_arena **asked)
{
	struct gm_arena *arena = extent->arena;

	if (!gm_arena_completed(arena, extent->seqno) && arena != *asked) {
		gm_arena_poll(arena, true);
		*asked = arena;
	}
	return gm_arena_completed(arena, extent->seqno);
}

/* A place that is over takes in those behind it that are so too, if one call
 * can unmap them with it. */
static void merge(struct gm_heap *heap, struct gm_extent *extent,
		  const struct gm_arena **asked)
{
	struct gm_stale *stale = &heap->space->stale;
	struct gm_extent *next = gm_extent_next(&heap->nodes, extent);

	for (; next && gm_extent_is(next, GM_EXTENT_STALE) &&
	       next->arena == extent->arena && completed(next, asked) &&
	       run_of(heap, next).pages == run_of(heap, extent).pages;
	     next = gm_extent_next(&heap->nodes, extent)) {
		gm_ring_remove(&heap->nodes, &stale->ring, next);
		gm_extent_join(&heap->nodes, extent);
	}
}

static void merge_all(struct gm_heap *heap, const struct gm_arena **asked)
{
	uint32_t *ring = &heap->space->stale.ring;
	struct gm_extent *extent = gm_node(&heap->nodes, *ring);

	for (; extent; extent = gm_ring_next(&heap->nodes, *ring, extent))
		if (completed(extent, asked))
			merge(heap, extent, asked);
}

gpumem_status gm_stale_retire(struct gm_heap *heap)
{
	struct gm_stale *stale = &heap->space->stale;
	const struct gm_arena *asked = NULL;
	struct gm_extent *extent, *next;
	struct gm_first first = {0};
	uint64_t outer = gm_search_begin(heap);

	merge_all(heap, &asked);
	for (extent = gm_node(&heap->nodes, stale->ring); extent;
	     extent = next) {
		struct gm_run run = run_of(heap, extent);
		gpumem_status status;

		next = gm_ring_next(&heap->nodes, stale->ring, extent);
		if (!completed(extent, &asked))
			continue;
		status = unmap(heap, &run);
		gm_first_keep(&first, status);
		if (status != GPUMEM_OK)
			continue;
		gm_ring_remove(&heap->nodes, &stale->ring, extent);
		stale->bytes -= extent->bytes;
		gm_handles_clear(heap, &run);
		gm_hole_insert(heap, extent);
	}
	gm_search_end(heap, outer);
	return gm_first_end(&first);
}

void gm_stale_fini(struct gm_heap *heap, struct gm_first *first)
{
	struct gm_stale *stale = &heap->space->stale;
	struct gm_extent *extent = gm_node(&heap->nodes, stale->ring);

	for (; extent;
	     extent = gm_ring_next(&heap->nodes, stale->ring, extent)) {
		struct gm_run run = run_of(heap, extent);
		gpumem_status status = unmap(heap, &run);

		gm_first_keep(first, status);
		if (status != GPUMEM_OK)
			gm_span_of(&heap->spans, extent->address)->stuck = true;
		gm_handles_clear(heap, &run);
	}
	stale->ring = 0;
	stale->bytes = 0;
}
