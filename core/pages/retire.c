/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stale places that have completed are unmapped, and become holes: a few at a
 * time, so that nobody waits for many. Who unmaps takes the places out of the
 * ring first, so that the mutex can be free during the call. See stale.h.
 */
#include "handle.h"
#include "extent/ring.h"
#include "base/error.h"

#include <limits.h>

/* What becomes of the mutex during a call of the driver: it is kept, or free
 * for a trim, or for the growth of an attempt. */
struct hold {
	bool trims;
	struct gm_attempt *attempt; /* NULL: it is no growth */
};

static const struct hold keep = {0}, for_trim = {.trims = true};

/* So many extents are looked at for one growth. */
enum { LOOKS = 16 };

static gpumem_status call_unmap(struct gm_heap *heap, const struct gm_run *run,
				const struct hold *hold)
{
	const struct gm_flight none = {0};
	gpumem_status status;

	if (hold->attempt)
		gm_growth_let_go(heap, &none);
	if (hold->trims)
		pthread_mutex_unlock(&heap->mutex);
	status = gm_driver_unmap(&heap->driver, run->start, run->count,
				 run->pages * heap->page_bytes);
	if (hold->trims) {
		gm_gate_give_way(heap->driver.device->gate);
		pthread_mutex_lock(&heap->mutex);
	}
	if (hold->attempt)
		gm_growth_take_up(heap, hold->attempt);
	return status;
}

/* A whole extent, out of the ring. */
static gpumem_status unmap(struct gm_heap *heap, struct gm_extent *extent,
			   const struct hold *hold)
{
	struct gm_stale *stale = &heap->space->stale;
	struct gm_run run = gm_stale_run(heap, extent);
	gpumem_status status;

	gm_run_leaves(heap, &run);
	gm_extent_set(extent, GM_EXTENT_RETIRING);
	gm_ring_add(&heap->nodes, &stale->retiring, extent);
	status = call_unmap(heap, &run, hold);
	gm_ring_remove(&heap->nodes, &stale->retiring, extent);
	if (hold->trims || hold->attempt)
		pthread_cond_broadcast(&stale->retired);
	if (status != GPUMEM_OK) {
		gm_extent_set(extent, GM_EXTENT_STALE);
		gm_ring_add(&heap->nodes, &stale->ring, extent);
		gm_run_stays(heap, &run);
		return status;
	}
	stale->bytes -= extent->bytes;
	stale->handles -= run.count;
	gm_handles_clear(heap, &run);
	gm_hole_insert(heap, extent);
	return GPUMEM_OK;
}

/* Stays the oldest. */
static void put_back(struct gm_heap *heap, struct gm_extent *extent)
{
	uint32_t *ring = &heap->space->stale.ring;

	gm_ring_add(&heap->nodes, ring, extent);
	*ring = gm_node_number(&heap->nodes, extent);
}

/* Takes the handles from `first` on, of `most` at most, out of the ring; the
 * rest of the extent stays. Two nodes have been reserved. */
static struct gm_extent *cut(struct gm_heap *heap, struct gm_extent *extent,
			     size_t first, size_t most)
{
	struct gm_run run = gm_stale_run(heap, extent);
	size_t bytes = run.pages * heap->page_bytes;

	gm_ring_remove(&heap->nodes, &heap->space->stale.ring, extent);
	if (first + most < run.count)
		put_back(heap, gm_extent_split(&heap->nodes, extent,
					       (first + most) * bytes));
	if (first) {
		struct gm_extent *rest =
			gm_extent_split(&heap->nodes, extent, first * bytes);

		put_back(heap, extent);
		extent = rest;
	}
	return extent;
}

gpumem_status gm_stale_unmap(struct gm_heap *heap, struct gm_extent *extent,
			     size_t first, size_t count)
{
	gpumem_status status = gm_nodes_reserve(&heap->nodes, 2);

	if (status != GPUMEM_OK)
		return status;
	return unmap(heap, cut(heap, extent, first, count), &keep);
}

/* One call can unmap both. */
static bool goes_with(const struct gm_heap *heap,
		      const struct gm_extent *extent,
		      const struct gm_extent *beside)
{
	return beside && gm_extent_is(beside, GM_EXTENT_STALE) &&
	       beside->arena == extent->arena &&
	       gm_arena_completed(beside->arena, beside->seqno) &&
	       gm_stale_run(heap, beside).pages ==
		       gm_stale_run(heap, extent).pages;
}

/* An extent that is over takes in those beside it that are so too, up to so
 * many handles; one that has more gives up the rest. Out of the ring. NULL: no
 * host memory. */
static struct gm_extent *gather(struct gm_heap *heap, struct gm_extent *extent,
				size_t most)
{
	uint32_t *ring = &heap->space->stale.ring;
	size_t have = gm_stale_run(heap, extent).count;
	struct gm_extent *beside;

	if (gm_nodes_reserve(&heap->nodes, 2) != GPUMEM_OK)
		return NULL;
	if (have > most)
		return cut(heap, extent, 0, most);
	while (goes_with(heap, extent,
			 beside = gm_extent_prev(&heap->nodes, extent)) &&
	       have + gm_stale_run(heap, beside).count <= most) {
		have += gm_stale_run(heap, beside).count;
		gm_ring_remove(&heap->nodes, ring, extent);
		gm_extent_join(&heap->nodes, beside);
		extent = beside;
	}
	while (goes_with(heap, extent,
			 beside = gm_extent_next(&heap->nodes, extent)) &&
	       have + gm_stale_run(heap, beside).count <= most) {
		have += gm_stale_run(heap, beside).count;
		gm_ring_remove(&heap->nodes, ring, beside);
		gm_extent_join(&heap->nodes, extent);
	}
	gm_ring_remove(&heap->nodes, ring, extent);
	return extent;
}

/* A walk along the ring, the oldest first. */
struct walk {
	struct hold hold;
	size_t looked; /* handles that were passed over, or tried */
	size_t done;   /* that were unmapped */
};

/* The oldest extent is passed over, and the last then, or so many of its
 * handles are unmapped at most. False: no host memory. */
static bool look(struct gm_heap *heap, size_t most, struct walk *walk,
		 struct gm_first *first)
{
	struct gm_stale *stale = &heap->space->stale;
	struct gm_extent *extent = gm_node(&heap->nodes, stale->ring);
	size_t count = gm_stale_run(heap, extent).count;
	gpumem_status status;

	if (!gm_arena_completed(extent->arena, extent->seqno)) {
		walk->looked += count;
		stale->ring = extent->ring_next;
		return true;
	}
	extent = gather(heap, extent, most);
	if (!extent)
		return false;
	count = gm_stale_run(heap, extent).count;
	status = unmap(heap, extent, &walk->hold);
	gm_first_keep(first, status);
	walk->looked += count;
	walk->done += status == GPUMEM_OK ? count : 0;
	return true;
}

/* Asks each stream once whether it is done with what is stale. */
static void poll(struct gm_heap *heap, const struct gm_attempt *attempt,
		 unsigned looks)
{
	const struct gm_stale *stale = &heap->space->stale;
	const struct gm_extent *extent = gm_node(&heap->nodes, stale->ring);

	for (; extent && looks--;
	     extent = gm_ring_next(&heap->nodes, stale->ring, extent))
		if (!gm_arena_completed(extent->arena, extent->seqno))
			gm_arena_poll(extent->arena, attempt, true);
}

size_t gm_stale_retire(struct gm_heap *heap, const struct gm_attempt *attempt,
		       size_t most)
{
	struct walk walk = {.hold = keep};
	struct gm_first first = {0};
	unsigned looks = LOOKS;

	/* What a growth has just lent is in another ring. */
	if (heap->space->stale.lending)
		return 0;
	poll(heap, attempt, LOOKS);
	while (heap->space->stale.ring && looks-- && walk.done < most &&
	       look(heap, most - walk.done, &walk, &first))
		;
	return walk.done;
}

bool gm_stale_retire_apart(struct gm_heap *heap, struct gm_attempt *attempt)
{
	size_t all = heap->space->stale.handles;
	struct walk walk = {.hold = {.attempt = attempt}};
	struct gm_first first = {0};

	poll(heap, attempt, UINT_MAX);
	while (heap->space->stale.ring && walk.looked < all && !walk.done &&
	       look(heap, GM_STALE_HOLD, &walk, &first))
		;
	return walk.done > 0;
}

gpumem_status gm_stale_retire_all(struct gm_heap *heap)
{
	size_t all = heap->space->stale.handles;
	struct walk walk = {.hold = for_trim};
	struct gm_first first = {0};
	struct gm_attempt asks = {0};

	gm_search_begin(heap, &asks);
	poll(heap, &asks, UINT_MAX);
	while (heap->space->stale.ring && walk.looked < all &&
	       look(heap, GM_STEP_HANDLES, &walk, &first))
		;
	return gm_first_end(&first);
}

/* ---- the places of some handles ---- */

struct place {
	struct gm_extent *extent; /* NULL: there is none */
	size_t at;		  /* the handle in it */
};

static bool has(const gpumem_page *handles, size_t count, gpumem_page handle)
{
	for (size_t i = 0; i < count; i++)
		if (handles[i] == handle)
			return true;
	return false;
}

static struct place find(const struct gm_heap *heap, uint32_t ring,
			 const gpumem_page *handles, size_t count)
{
	struct gm_extent *extent = gm_node(&heap->nodes, ring);

	for (; extent; extent = gm_ring_next(&heap->nodes, ring, extent)) {
		const struct gm_run run = gm_stale_run(heap, extent);
		const struct gm_page *page =
			gm_page_at(&heap->spans, run.start);

		for (size_t i = 0; i < run.count; i++)
			if (has(handles, count, page[i * run.pages].handle))
				return (struct place){extent, i};
	}
	return (struct place){0};
}

gpumem_status gm_stale_clear(struct gm_heap *heap, const gpumem_page *handles,
			     size_t count)
{
	struct gm_stale *stale = &heap->space->stale;
	gpumem_status status = GPUMEM_OK;

	while (status == GPUMEM_OK) {
		struct place place =
			find(heap, stale->retiring, handles, count);

		if (place.extent) {
			pthread_cond_wait(&stale->retired, &heap->mutex);
			continue;
		}
		place = find(heap, stale->ring, handles, count);
		if (!place.extent)
			break;
		status = gm_nodes_reserve(&heap->nodes, 2);
		if (status == GPUMEM_OK)
			status = unmap(heap,
				       cut(heap, place.extent, place.at,
					   GM_STEP_HANDLES),
				       &for_trim);
	}
	return status;
}

bool gm_stale_clear_now(struct gm_heap *heap, gpumem_page handle)
{
	const struct gm_stale *stale = &heap->space->stale;
	struct place place = find(heap, stale->ring, &handle, 1);

	for (size_t i = 0; i < GM_STALE_HOLD && place.extent; i++) {
		if (gm_stale_unmap(heap, place.extent, place.at, 1) !=
		    GPUMEM_OK)
			return false;
		place = find(heap, stale->ring, &handle, 1);
	}
	return !place.extent && !find(heap, stale->retiring, &handle, 1).extent;
}
