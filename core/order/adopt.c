/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Free memory that passes from one stream to another. See arena.h. */
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

/* What is settled passes on as old as it is, for decay, and settled; if the
 * heir is busy, older. */
void gm_arena_pass_on(struct gm_arena *heir, struct gm_extent *extent)
{
	if (heir->settled == heir->ticket && extent->ticket > heir->ticket)
		heir->settled = heir->ticket = extent->ticket;
	if (extent->ticket > heir->settled)
		extent->ticket = heir->settled;
}

void gm_arena_adopt(struct gm_arena *heir, struct gm_arena *from)
{
	const struct gm_nodes *nodes = &from->heap->nodes;
	struct gm_extent *extent;
	uint32_t list;

	gm_arena_settle(from, true);
	list = take_all(&from->index);
	while ((extent = gm_node(nodes, list))) {
		list = extent->left;
		if (gm_arena_settled(from, extent->ticket)) {
			gm_arena_pass_on(heir, extent);
			(void)gm_arena_insert(heir, extent);
		} else {
			gm_index_insert(&from->index, extent);
		}
	}
}

bool gm_arenas_borrow(struct gm_heap *heap, struct gm_arena *heir, size_t bytes,
		      size_t alignment)
{
	struct gm_arena *arena = heap->order->arenas;

	for (; arena; arena = arena->next) {
		struct gm_extent *extent;

		if (arena == heir || !arena->index.count)
			continue;
		gm_arena_settle(arena, true);
		extent = gm_arena_fit(arena, bytes, alignment);
		if (!extent || !gm_arena_settled(arena, extent->ticket))
			continue;
		gm_index_remove(&arena->index, extent);
		gm_arena_pass_on(heir, extent);
		(void)gm_arena_insert(heir, extent);
		return true;
	}
	return false;
}

void gm_arenas_adopt(struct gm_heap *heap, struct gm_arena *heir)
{
	struct gm_arena *arena;

	for (arena = heap->order->arenas; arena; arena = arena->next)
		if (arena != heir && arena->index.count)
			gm_arena_adopt(heir, arena);
}
