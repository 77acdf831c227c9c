/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A plan that is carried out: what is to be copied, that pages are away from
 * now on, and what that makes of the extents on them. The heap is stopped. See
 * parts.h.
 */
#include "parts.h"
#include "base/error.h"

static struct gm_slab *slab_of(const struct gm_extent *extent)
{
	return gm_slab_of_entry(gm_map_get(extent->address));
}

/* So much of a block that goes is in an area. */
static gpumem_status add(struct gm_taking *taking, uint32_t tag,
			 uintptr_t start, uintptr_t end)
{
	uint8_t sleep = taking->choice->of[tag];

	if (sleep == GPUMEM_SLEEP_KEEP)
		return gm_pieces_add(&taking->kept, start, end - start);
	taking->dropped_bytes += end - start;
	if (sleep == GPUMEM_SLEEP_ZERO)
		return gm_pieces_add(&taking->zeros, start, end - start);
	return GPUMEM_OK;
}

static uintptr_t most_of(uintptr_t a, uintptr_t b)
{
	return a > b ? a : b;
}

static uintptr_t least_of(uintptr_t a, uintptr_t b)
{
	return a < b ? a : b;
}

static gpumem_status add_slots(struct gm_taking *taking,
			       const struct gm_slab *slab, uintptr_t start,
			       uintptr_t end)
{
	size_t bytes = slab->class.bytes;
	gpumem_status status = GPUMEM_OK;

	for (uint32_t i = 0; i < slab->class.slots && status == GPUMEM_OK;
	     i++) {
		uintptr_t from = most_of(slab->address + i * bytes, start);
		uintptr_t to = least_of(slab->address + (i + 1) * bytes, end);

		if (from < to && atomic_load(gm_slab_mark(slab, i)))
			status =
				add(taking, gm_slab_more(slab, i) & GM_MORE_TAG,
				    from, to);
	}
	return status;
}

static gpumem_status add_part(struct gm_taking *taking,
			      const struct gm_extent *extent,
			      const struct gm_area *area)
{
	uintptr_t start = most_of(extent->address, area->start);
	uintptr_t end =
		least_of(gm_extent_end(extent), area->start + area->bytes);

	if (start >= end)
		return GPUMEM_OK;
	if (gm_extent_is(extent, GM_EXTENT_LARGE))
		return add(taking, gm_extent_more(extent) & GM_MORE_TAG, start,
			   end);
	return gm_extent_is(extent, GM_EXTENT_RUN)
		       ? add_slots(taking, slab_of(extent), start, end)
		       : GPUMEM_OK;
}

gpumem_status gm_plan_pieces(struct gm_heap *heap, struct gm_taking *taking)
{
	const struct gm_extent *extent = gm_heap_first(heap);
	const struct gm_areas *areas = &taking->areas;
	gpumem_status status = GPUMEM_OK;
	size_t first = 0;

	for (; extent && status == GPUMEM_OK;
	     extent = gm_heap_next(heap, extent)) {
		while (first < areas->count &&
		       areas->area[first].start + areas->area[first].bytes <=
			       extent->address)
			first++;
		for (size_t i = first;
		     i < areas->count && status == GPUMEM_OK &&
		     areas->area[i].start < gm_extent_end(extent);
		     i++)
			status = add_part(taking, extent, &areas->area[i]);
	}
	return status;
}

void gm_plan_free(struct gm_taking *taking)
{
	gm_areas_free(&taking->areas);
	gm_pieces_free(&taking->kept);
	gm_pieces_free(&taking->zeros);
}

/* Returns the extent that is the part of it in the area. */
static struct gm_extent *lay_down(struct gm_heap *heap,
				  struct gm_extent *extent,
				  const struct gm_area *area)
{
	uintptr_t start = most_of(extent->address, area->start);
	uintptr_t end =
		least_of(gm_extent_end(extent), area->start + area->bytes);

	if (gm_extent_is(extent, GM_EXTENT_FREE))
		return gm_away_cut(heap, extent, start, end);
	if (gm_extent_is(extent, GM_EXTENT_RUN) && !slab_of(extent)->asleep)
		gm_slab_sleep(slab_of(extent));
	return extent;
}

gpumem_status gm_plan_mark(struct gm_heap *heap, const struct gm_taking *taking,
			   uint64_t number)
{
	const struct gm_areas *areas = &taking->areas;
	gpumem_status status =
		gm_nodes_reserve(&heap->nodes, 2 * areas->count + 1);
	struct gm_extent *extent = gm_heap_first(heap);

	if (status != GPUMEM_OK)
		return status;
	for (size_t i = 0; i < areas->count; i++) {
		const struct gm_area *area = &areas->area[i];
		uintptr_t end = area->start + area->bytes;

		gm_away_mark(heap, area->start, area->bytes, number);
		while (gm_extent_end(extent) <= area->start)
			extent = gm_heap_next(heap, extent);
		while (extent && extent->address < end) {
			extent = lay_down(heap, extent, area);
			/* It may go on into the next area. */
			if (gm_extent_end(extent) > end)
				break;
			extent = gm_heap_next(heap, extent);
		}
	}
	return GPUMEM_OK;
}

/* How much of it has no memory; a slab sleeps as long as a page of its does. */
static uint64_t count(const struct gm_heap *heap,
		      const struct gm_extent *extent)
{
	struct gm_slab *slab;
	uint64_t bytes = 0;
	bool asleep;

	if (gm_extent_is(extent, GM_EXTENT_LARGE))
		return gm_pages_gone_bytes(&heap->spans, extent->address,
					   extent->bytes);
	if (!gm_extent_is(extent, GM_EXTENT_RUN))
		return 0;
	slab = slab_of(extent);
	asleep = gm_pages_touch_away(&heap->spans, extent->address,
				     extent->bytes);
	if (slab->asleep && !asleep)
		gm_slab_wake(slab);
	for (uint32_t i = 0; slab->asleep && i < slab->class.slots; i++)
		if (atomic_load(gm_slab_mark(slab, i)))
			bytes += gm_slot_gone_bytes(heap, slab, i);
	return bytes;
}

void gm_plan_settle(struct gm_heap *heap)
{
	struct gm_gauge *sleeping = &heap->counters.sleeping;
	const struct gm_extent *extent = gm_heap_first(heap);
	uint64_t bytes = 0;

	for (; extent; extent = gm_heap_next(heap, extent))
		bytes += count(heap, extent);
	if (bytes > sleeping->current)
		gm_gauge_add(sleeping, bytes - sleeping->current);
	else
		gm_gauge_sub(sleeping, sleeping->current - bytes);
	gm_away_settle(heap);
	gm_heap_gate(heap);
}
