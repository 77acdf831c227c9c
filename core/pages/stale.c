/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Pages mapped at two places: who lends, and how much; see stale.h. What has
 * completed is unmapped by retire.c. */
#include "handle.h"
#include "extent/ring.h"
#include "base/error.h"

/* Of the addresses half may be stale; 32 times the device's memory is
 * reserved as a rule (range.c). */
enum { ADDRESS_PART = 2 };

/* From so many handles on there is much: to unmap them takes an H200 0.3 s. */
enum { PLACES = 16384 };

/* So many are let be, whatever the device does. Each may be a mapping to the
 * system, of which Linux gives a process 65530. */
enum { MOST = 32768 };

void gm_stale_init(struct gm_heap *heap)
{
	heap->space->stale.places = PLACES;
	heap->space->stale.most = MOST;
	pthread_cond_init(&heap->space->stale.retired, NULL);
}

void gm_stale_fini(struct gm_heap *heap)
{
	pthread_cond_destroy(&heap->space->stale.retired);
}

struct gm_arena *gm_stale_lender(const struct gm_heap *heap,
				 struct gm_arena *arena)
{
	if (!heap->space->stale.on || !arena || arena->graph || arena->dropped)
		return NULL;
	return arena;
}

/* A place has at least one page. */
size_t gm_stale_left(const struct gm_heap *heap)
{
	const struct gm_stale *stale = &heap->space->stale;
	uint64_t most = heap->space->span_bytes / ADDRESS_PART;
	uint64_t pages = most > stale->bytes
				 ? (most - stale->bytes) / heap->page_bytes
				 : 0;
	size_t places =
		stale->most > stale->handles ? stale->most - stale->handles : 0;

	return pages < places ? (size_t)pages : places;
}

struct gm_run gm_stale_run(const struct gm_heap *heap,
			   const struct gm_extent *extent)
{
	struct gm_run run = {.start = extent->address};

	run.pages = gm_page_handle_pages(
		&heap->spans, gm_page_at(&heap->spans, extent->address));
	run.count = extent->bytes / (run.pages * heap->page_bytes);
	return run;
}

/* What does not unmap is not why something fails. */
static void retire(struct gm_heap *heap, const struct gm_attempt *attempt,
		   size_t most)
{
	struct gpumem_error error = {.size = sizeof(error)};

	gm_error_get(&error);
	(void)gm_stale_retire(heap, attempt, most);
	gm_error_set(&error);
}

size_t gm_stale_room(struct gm_heap *heap, const struct gm_attempt *attempt,
		     size_t want)
{
	size_t left = gm_stale_left(heap);

	if (left < want) {
		retire(heap, attempt, want);
		left = gm_stale_left(heap);
	}
	return left < want ? left : want;
}

void gm_stale_begin(struct gm_heap *heap, struct gm_extent *extent)
{
	struct gm_stale *stale = &heap->space->stale;

	gm_extent_set(extent, GM_EXTENT_STALE);
	gm_ring_add(&heap->nodes, &stale->lending, extent);
	stale->bytes += extent->bytes;
	stale->handles += gm_stale_run(heap, extent).count;
}

void gm_stale_undo(struct gm_heap *heap, size_t pages)
{
	struct gm_stale *stale = &heap->space->stale;
	struct gm_extent *extent = gm_node(&heap->nodes, stale->lending), *next;

	for (; extent; extent = next) {
		struct gm_run run = gm_stale_run(heap, extent);

		next = gm_ring_next(&heap->nodes, stale->lending, extent);
		if (run.pages > pages)
			continue;
		gm_ring_remove(&heap->nodes, &stale->lending, extent);
		stale->bytes -= extent->bytes;
		stale->handles -= run.count;
		(void)gm_arena_insert(extent->arena, extent);
	}
}

void gm_stale_commit(struct gm_heap *heap, const struct gm_attempt *attempt)
{
	struct gm_stale *stale = &heap->space->stale;
	struct gm_extent *extent;
	size_t lent = 0;

	while ((extent = gm_node(&heap->nodes, stale->lending))) {
		gm_ring_remove(&heap->nodes, &stale->lending, extent);
		gm_ring_add(&heap->nodes, &stale->ring, extent);
		lent += gm_stale_run(heap, extent).count;
	}
	if (lent && stale->handles > stale->places)
		retire(heap, attempt, 2 * lent);
}

/* In parts, between which those that take memory go first. */
static gpumem_status unmap_run(struct gm_heap *heap, struct gm_run run)
{
	size_t bytes = run.pages * heap->page_bytes, count;
	gpumem_status status = GPUMEM_OK;

	for (; run.count && status == GPUMEM_OK; run.count -= count) {
		count = run.count < GM_STEP_HANDLES ? run.count
						    : GM_STEP_HANDLES;
		status =
			gm_driver_unmap(&heap->driver, run.start, count, bytes);
		run.start += count * bytes;
		gm_gate_give_way(heap->driver.device->gate);
	}
	return status;
}

void gm_stale_unmap_all(struct gm_heap *heap, struct gm_first *first)
{
	struct gm_stale *stale = &heap->space->stale;
	struct gm_extent *extent = gm_node(&heap->nodes, stale->ring);

	for (; extent;
	     extent = gm_ring_next(&heap->nodes, stale->ring, extent)) {
		struct gm_run run = gm_stale_run(heap, extent);
		gpumem_status status = unmap_run(heap, run);

		gm_first_keep(first, status);
		if (status != GPUMEM_OK)
			gm_span_of(&heap->spans, extent->address)->stuck = true;
		gm_handles_clear(heap, &run);
	}
	stale->ring = 0;
	stale->bytes = 0;
	stale->handles = 0;
}
