/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What is ASLEEP: how it becomes so, and free memory or a hole again. See
 * away.h. */
#include "away.h"
#include "handle.h"
#include "order/order.h"

/* How many of a range's bytes have memory. */
static uint64_t filled(const struct gm_heap *heap,
		       const struct gm_extent *extent)
{
	return extent->bytes - gm_pages_gone_bytes(&heap->spans,
						   extent->address,
						   extent->bytes);
}

static void fall_asleep(struct gm_heap *heap, struct gm_extent *extent)
{
	gm_extent_set(extent, GM_EXTENT_ASLEEP);
	/* Who reads it without the mutex finds no heap. */
	gm_extent_set_seqno(extent, heap->seqno);
	if (!extent->arena->graph)
		gm_extent_move(extent, NULL);
	heap->space->away.parked_bytes += filled(heap, extent);
}

struct gm_extent *gm_away_cut(struct gm_heap *heap, struct gm_extent *extent,
			      uintptr_t start, uintptr_t end)
{
	struct gm_index *index = &extent->arena->index;

	gm_index_remove(index, extent);
	if (start > extent->address) {
		struct gm_extent *rest = gm_extent_split(
			&heap->nodes, extent, start - extent->address);

		gm_index_insert(index, extent);
		extent = rest;
	}
	if (end < gm_extent_end(extent))
		gm_index_insert(index, gm_extent_split(&heap->nodes, extent,
						       end - extent->address));
	fall_asleep(heap, extent);
	return extent;
}

/* What becomes of the pages of an ASLEEP extent. */
enum end {
	STAYS,
	FREES, /* it has memory */
	GOES   /* its page is nobody's */
};

static enum end end_at(const struct gm_heap *heap,
		       const struct gm_extent *extent, uintptr_t at)
{
	uintptr_t start = at & ~(uintptr_t)(heap->page_bytes - 1);
	const struct gm_page *page = gm_page_at(&heap->spans, start);

	if (!gm_page_is_away(page))
		return FREES;
	if (page->handle || extent->arena || heap->space->away.busy ||
	    start < extent->address ||
	    start + heap->page_bytes > gm_extent_end(extent))
		return STAYS;
	return GOES;
}

/* Does what begins there begin within a handle? And does the extent end within
 * one, of which more follows? */
static bool begins_within(const struct gm_heap *heap, uintptr_t at)
{
	return at & (heap->page_bytes - 1) ||
	       !gm_page_begins(gm_page_at(&heap->spans, at));
}

static bool ends_within(const struct gm_heap *heap,
			const struct gm_extent *extent)
{
	uintptr_t end = gm_extent_end(extent);

	return end & (heap->page_bytes - 1) ||
	       !gm_page_begins(gm_page_at(&heap->spans, end - 1) + 1);
}

/* Where the part that begins with the extent, of one end, is over. A handle is
 * of one fate, so where there are several a part that becomes free is in one.
 */
static uintptr_t part_end(const struct gm_heap *heap,
			  const struct gm_extent *extent, enum end end)
{
	uintptr_t at = extent->address, over = gm_extent_end(extent);
	bool handles = heap->order->apart && end == FREES;

	do
		at = (at | (heap->page_bytes - 1)) + 1;
	while (at < over && end_at(heap, extent, at) == end &&
	       !(handles && !begins_within(heap, at)));
	return at < over ? at : over;
}

/* Any stream can have what comes back: nothing is at work there. NULL: no host
 * memory for one. */
static struct gm_arena *receiver_of(struct gm_heap *heap)
{
	struct gm_arena *arena = heap->order->arenas;

	while (arena && arena->dropped)
		arena = arena->next;
	if (!arena && gm_arena_create(heap, NULL, NULL, &arena) != GPUMEM_OK)
		return NULL;
	return arena;
}

static void make_hole(struct gm_heap *heap, struct gm_extent *extent)
{
	struct gm_page *page = gm_page_at(&heap->spans, extent->address);
	size_t count = extent->bytes / heap->page_bytes;

	for (size_t i = 0; i < count; i++)
		page[i] = (struct gm_page){0};
	heap->space->away.pages -= count;
	heap->space->away.gone_pages -= count;
	gm_hole_insert(heap, extent);
}

/* The receiver, or its sibling of the fate of what else is in the handle. */
static struct gm_arena *receiver_there(struct gm_heap *heap,
				       const struct gm_extent *extent,
				       struct gm_arena *receiver)
{
	const struct gm_extent *beside = NULL;

	if (!heap->order->apart)
		return receiver;
	if (begins_within(heap, extent->address))
		beside = gm_extent_prev(&heap->nodes, extent);
	else if (ends_within(heap, extent))
		beside = gm_extent_next(&heap->nodes, extent);
	return gm_arena_of_fate(receiver,
				beside && beside->arena ? beside->arena->fate
							: 0,
				&receiver) == GPUMEM_OK
		       ? receiver
		       : NULL;
}

static void make_free(struct gm_heap *heap, struct gm_extent *extent,
		      struct gm_arena *receiver)
{
	heap->space->away.parked_bytes -= extent->bytes;
	(void)gm_arena_release(receiver, extent);
}

/* Takes in those behind it. */
static void join(struct gm_heap *heap, struct gm_extent *extent)
{
	const struct gm_extent *next;

	while (!extent->arena &&
	       (next = gm_extent_next(&heap->nodes, extent)) &&
	       gm_extent_is(next, GM_EXTENT_ASLEEP) && !next->arena)
		gm_extent_join(&heap->nodes, extent);
}

/* What is behind an extent that may merge with it: that is not ASLEEP. */
static struct gm_extent *beyond(const struct gm_heap *heap,
				const struct gm_extent *extent)
{
	struct gm_extent *next = gm_extent_next(&heap->nodes, extent);

	return next && (gm_extent_is(next, GM_EXTENT_HOLE) ||
			gm_extent_is(next, GM_EXTENT_FREE))
		       ? gm_extent_next(&heap->nodes, next)
		       : next;
}

static void apply(struct gm_heap *heap, struct gm_extent *extent, enum end end,
		  struct gm_arena *receiver)
{
	if (end == GOES)
		make_hole(heap, extent);
	if (end != FREES)
		return;
	if (extent->arena)
		receiver = extent->arena;
	else if (receiver)
		receiver = receiver_there(heap, extent, receiver);
	if (receiver)
		make_free(heap, extent, receiver);
}

/* Part by part. Without host memory the rest waits for the next time. Returns
 * what is behind it in its span. */
static struct gm_extent *settle(struct gm_heap *heap, struct gm_extent *extent,
				struct gm_arena *receiver)
{
	struct gm_extent *after, *rest;

	join(heap, extent);
	after = beyond(heap, extent);
	for (; extent; extent = rest) {
		enum end end = end_at(heap, extent, extent->address);
		uintptr_t to = part_end(heap, extent, end);

		rest = NULL;
		if (to < gm_extent_end(extent)) {
			if (gm_nodes_reserve(&heap->nodes, 1) != GPUMEM_OK)
				break;
			rest = gm_extent_split(&heap->nodes, extent,
					       to - extent->address);
		}
		apply(heap, extent, end, receiver);
	}
	return after;
}

static void settle_all(struct gm_heap *heap)
{
	struct gm_arena *receiver = receiver_of(heap);
	const struct gm_span *span = heap->spans.first;

	for (; span; span = span->next) {
		struct gm_extent *extent = span->first;

		while (extent)
			extent = gm_extent_is(extent, GM_EXTENT_ASLEEP)
					 ? settle(heap, extent, receiver)
					 : gm_extent_next(&heap->nodes, extent);
	}
}

void gm_away_settle(struct gm_heap *heap)
{
	struct gm_extent *extent = gm_heap_first(heap);
	uint64_t parked = 0;

	for (; extent; extent = gm_heap_next(heap, extent))
		if (gm_extent_is(extent, GM_EXTENT_ASLEEP))
			parked += filled(heap, extent);
	heap->space->away.parked_bytes = parked;
	settle_all(heap);
}

void gm_away_end(struct gm_heap *heap, struct gm_extent *extent)
{
	struct gm_extent *prev = gm_extent_prev(&heap->nodes, extent);

	fall_asleep(heap, extent);
	if (heap->space->away.busy)
		return;
	if (prev && gm_extent_is(prev, GM_EXTENT_ASLEEP) && !prev->arena &&
	    !extent->arena)
		extent = prev;
	(void)settle(heap, extent, receiver_of(heap));
}
