/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Streams that go, and where their memory goes; see heap.h. */
#include "heap.h"

gpumem_status gm_heap_drop(struct gm_arena *arena)
{
	gpumem_status status = gm_arena_drop(arena);

	if (status == GPUMEM_OK)
		gm_slabs_orphan(arena);
	return status;
}

gpumem_status gm_heap_publish(struct gm_arena *arena, gpumem_stream stream)
{
	gpumem_status status = gm_arena_publish(arena, stream);

	if (status == GPUMEM_OK)
		gm_slabs_orphan(arena);
	return status;
}

/* Everything of `from`, whose last use is over, becomes `receiver`'s. */
static void inherit(struct gm_arena *receiver, struct gm_arena *from)
{
	struct gm_extent *extent = gm_heap_first(receiver->heap);

	gm_slabs_purge(from);
	from->completed = from->seqno;
	gm_arena_transfer(receiver, from);
	for (; extent; extent = gm_heap_next(receiver->heap, extent)) {
		if (extent->arena != from)
			continue;
		if (gm_extent_is(extent, GM_EXTENT_RUN))
			gm_slab_move(extent, receiver);
		/* The first may come back as free memory. */
		if (gm_extent_is(extent, GM_EXTENT_RELEASING) ||
		    gm_extent_is(extent, GM_EXTENT_STALE) ||
		    gm_extent_is(extent, GM_EXTENT_RETIRING))
			gm_arena_transfer_extent(receiver, extent);
		gm_extent_move(extent, receiver);
	}
}

/* With no host memory for the slabs of the receiver they stay for now. */
void gm_heap_reap(struct gm_heap *heap, struct gm_arena *receiver, size_t most)
{
	struct gm_arena *arena = heap->order->dropped, *next;

	/* The stream of a growth under way may go meanwhile. */
	if (!gm_growth_none(heap))
		return;
	for (; arena && most--; arena = next) {
		next = arena->next_dropped;
		gm_arena_poll(arena, false);
		if (arena->completed != arena->seqno ||
		    gm_slabs_make(receiver) != GPUMEM_OK)
			continue;
		/* Whose a block is, other threads look up without a lock. */
		gm_locals_stop(heap);
		inherit(receiver, arena);
		gm_locals_go(heap);
		gm_slabs_fini(arena);
		gm_arena_fini(arena);
	}
}

void gm_heap_transfer_some(struct gm_heap *heap, struct gm_arena *receiver,
			   size_t most)
{
	gm_heap_reap(heap, receiver, most);
	gm_arenas_transfer(heap, receiver, most);
}

void gm_heap_transfer(struct gm_heap *heap, struct gm_arena *receiver)
{
	gm_heap_transfer_some(heap, receiver, SIZE_MAX);
}
