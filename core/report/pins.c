/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The live blocks that keep most free memory from use: a handle goes back to
 * the driver, or to other addresses, only whole, and so does a segment. One
 * walk over the extents of a heap in order of address, of which only those at
 * both ends of an extent can be in such a handle. See oom.h.
 */
#include "oom.h"
#include "extent/map.h"

struct search {
	const struct gm_heap *heap;
	struct gm_pin *pin; /* the best so far, the largest first */
	unsigned count, room;
	struct gm_pin at; /* the handle or segment under way; 0 bytes: none */
};

/* The handle or segment under way is over. */
static void close_unit(struct search *search)
{
	const struct gm_pin at = search->at;
	struct gm_pin *pin = search->pin;
	unsigned i;

	search->at = (struct gm_pin){0};
	if (!at.first || !at.free_bytes)
		return;
	if (search->count < search->room)
		search->count++;
	else if (pin[search->count - 1].free_bytes >= at.free_bytes)
		return;
	for (i = search->count - 1; i && pin[i - 1].free_bytes < at.free_bytes;
	     i--)
		pin[i] = pin[i - 1];
	pin[i] = at;
}

/* What the address lies in: a handle, or a segment. */
static void open_unit(struct search *search, const struct gm_span *span,
		      uintptr_t address)
{
	struct gm_pin *at = &search->at;
	struct gm_unit unit;

	if (address - at->address < at->unit_bytes)
		return;
	close_unit(search);
	unit = gm_space_unit(search->heap, span, address);
	*at = (struct gm_pin){.address = unit.address,
			      .unit_bytes = unit.bytes};
}

/* How much of this lies in what is under way. */
static uint64_t overlap(const struct gm_pin *at, uintptr_t from, size_t bytes)
{
	uintptr_t end = at->address + at->unit_bytes, to = from + bytes;

	if (from < at->address)
		from = at->address;
	if (to > end)
		to = end;
	return to > from ? to - from : 0;
}

static void add_block(struct gm_pin *at, const struct gm_extent *extent,
		      uint32_t slot)
{
	if (!at->first) {
		at->first = extent;
		at->slot = slot;
	}
	at->blocks++;
}

/* A slab may lie in two: its slots there count, and its first live one. */
static void count_slots(struct gm_pin *at, const struct gm_extent *run)
{
	const struct gm_slab *slab = gm_slab_of_entry(gm_map_get(run->address));
	uint32_t live = slab->class.slots;

	for (uint32_t i = slab->class.slots; i-- > 0;) {
		uint64_t bytes = overlap(
			at, slab->address + (uintptr_t)i * slab->class.bytes,
			slab->class.bytes);
		uint32_t mark = atomic_load(gm_slab_mark(slab, i));

		if (!mark)
			at->free_bytes += bytes;
		else if (bytes && gm_mark_live(mark))
			live = i;
	}
	if (live < slab->class.slots)
		add_block(at, run, live);
}

/* What the part of the extent that lies in the unit adds to it. */
static void count(struct search *search, const struct gm_extent *extent)
{
	struct gm_pin *at = &search->at;

	if (gm_extent_is(extent, GM_EXTENT_RUN))
		count_slots(at, extent);
	else if (gm_extent_is(extent, GM_EXTENT_LARGE))
		add_block(at, extent, 0);
	else
		at->free_bytes += overlap(at, extent->address, extent->bytes);
}

static void visit(struct search *search, const struct gm_span *span,
		  const struct gm_extent *extent)
{
	switch (gm_extent_state(extent)) {
	case GM_EXTENT_FREE:
	case GM_EXTENT_CACHED:
	case GM_EXTENT_RUN:
	case GM_EXTENT_LARGE:
		break;
	default:
		return;
	}
	open_unit(search, span, extent->address);
	count(search, extent);
	if (gm_extent_end(extent) <= search->at.address + search->at.unit_bytes)
		return;
	open_unit(search, span, gm_extent_end(extent) - 1);
	count(search, extent);
}

static void name_block(struct gpumem_pool *pool, struct gm_pin *pin)
{
	uintptr_t entry = gm_map_get(pin->first->address);
	struct gpumem_block block;

	if (gm_slab_of_entry(entry))
		gm_pool_describe_slot(pool, gm_slab_of_entry(entry), pin->slot,
				      &block);
	else
		gm_pool_describe(pool, pin->first, &block);
	pin->ptr = (uintptr_t)block.ptr;
	pin->bytes = block.requested_bytes;
	pin->tag = block.tag;
}

unsigned gm_pins_find(struct gpumem_pool *pool, struct gm_pin *pin,
		      unsigned room)
{
	struct gm_heap *heap = &pool->heap;
	struct search search = {.heap = heap, .pin = pin, .room = room};
	const struct gm_span *span;

	gm_heap_stop(heap);
	for (span = heap->spans.first; span; span = span->next) {
		const struct gm_extent *extent = span->first;

		for (; extent; extent = gm_extent_next(&heap->nodes, extent))
			visit(&search, span, extent);
		close_unit(&search);
	}
	for (unsigned i = 0; i < search.count; i++)
		name_block(pool, &pin[i]);
	gm_heap_go(heap);
	return search.count;
}
