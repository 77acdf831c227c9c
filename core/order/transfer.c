/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Transfers free memory from one stream to another. See arena.h. */
#include "order.h"

/* Takes all extents out of the index, linked by `left`. Returns the first. */
static uint32_t take_all(struct gm_index *index)
{
	struct gm_extent *extent;
	uint32_t list = 0;

	while ((extent = gm_index_any(index))) {
		gm_index_remove(index, extent);
		extent->left = list;
		list = gm_node_number(index->nodes, extent);
	}
	return list;
}

/* It keeps its age, for decay, and is completed for the receiver as well; if
 * the receiver has work of its own, it counts as older. */
void gm_arena_transfer_extent(struct gm_arena *receiver,
			      struct gm_extent *extent)
{
	if (receiver->completed == receiver->seqno &&
	    extent->seqno > receiver->seqno)
		receiver->completed = receiver->seqno = extent->seqno;
	if (extent->seqno > receiver->completed)
		extent->seqno = receiver->completed;
}

void gm_arena_transfer(struct gm_arena *receiver, struct gm_arena *from)
{
	const struct gm_nodes *nodes = &from->heap->nodes;
	struct gm_extent *extent;
	uint32_t list;

	gm_arena_poll(from, true);
	list = take_all(&from->index);
	while ((extent = gm_node(nodes, list))) {
		list = extent->left;
		if (gm_arena_completed(from, extent->seqno)) {
			gm_arena_transfer_extent(receiver, extent);
			(void)gm_arena_insert(receiver, extent);
		} else {
			gm_index_insert(&from->index, extent);
		}
	}
}

bool gm_arenas_transfer_one(struct gm_heap *heap, struct gm_arena *receiver,
			    size_t bytes, size_t alignment)
{
	struct gm_arena *arena = heap->order->arenas;

	for (; arena; arena = arena->next) {
		struct gm_extent *extent;

		if (arena == receiver || !arena->index.count)
			continue;
		gm_arena_poll(arena, true);
		extent = gm_arena_fit(arena, bytes, alignment);
		if (!extent || !gm_arena_completed(arena, extent->seqno))
			continue;
		gm_index_remove(&arena->index, extent);
		gm_arena_transfer_extent(receiver, extent);
		(void)gm_arena_insert(receiver, extent);
		return true;
	}
	return false;
}

void gm_arenas_transfer(struct gm_heap *heap, struct gm_arena *receiver)
{
	struct gm_arena *arena;

	for (arena = heap->order->arenas; arena; arena = arena->next)
		if (arena != receiver && arena->index.count)
			gm_arena_transfer(receiver, arena);
}
