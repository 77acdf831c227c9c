/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Free memory that passes from one stream to another. See arena.h. */
#include "arena.h"
#include "heap.h"
#include "local.h"
#include "slab.h"

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
static void pass_on(struct gm_arena *heir, struct gm_extent *extent)
{
	if (heir->settled == heir->ticket && extent->ticket > heir->ticket)
		heir->settled = heir->ticket = extent->ticket;
	if (extent->ticket > heir->settled)
		extent->ticket = heir->settled;
}

static void adopt(struct gm_arena *arena, struct gm_arena *from)
{
	const struct gm_nodes *nodes = &from->heap->nodes;
	struct gm_extent *extent;
	uint32_t list;

	gm_arena_settle(from, true);
	list = take_all(&from->index);
	while ((extent = gm_node(nodes, list))) {
		list = extent->left;
		if (gm_arena_settled(from, extent->ticket)) {
			pass_on(arena, extent);
			gm_arena_insert(arena, extent);
		} else {
			gm_index_insert(&from->index, extent);
		}
	}
}

bool gm_arenas_borrow(struct gm_heap *heap, struct gm_arena *heir, size_t bytes,
		      size_t alignment)
{
	struct gm_arena *arena = heap->arenas;

	for (; arena; arena = arena->next) {
		struct gm_extent *extent;

		if (arena == heir || !arena->index.count)
			continue;
		gm_arena_settle(arena, true);
		extent = gm_arena_fit(arena, bytes, alignment);
		if (!extent || !gm_arena_settled(arena, extent->ticket))
			continue;
		gm_index_remove(&arena->index, extent);
		pass_on(heir, extent);
		gm_arena_insert(heir, extent);
		return true;
	}
	return false;
}

/* Everything of `from`, whose last use is over, becomes `heir`'s. */
static void inherit(struct gm_arena *heir, struct gm_arena *from)
{
	struct gm_extent *extent = gm_heap_first(heir->heap);

	gm_slabs_purge(from);
	from->settled = from->ticket;
	adopt(heir, from);
	for (; extent; extent = gm_heap_next(heir->heap, extent)) {
		if (extent->arena != from)
			continue;
		if (gm_extent_is(extent, GM_EXTENT_RUN))
			gm_slab_move(extent, heir);
		/* As in adopt(): it may come back as free memory. */
		if (gm_extent_is(extent, GM_EXTENT_LEAVING))
			pass_on(heir, extent);
		gm_extent_move(extent, heir);
	}
}

/* Arenas of dropped streams, once settled, end. */
static void reap(struct gm_heap *heap, struct gm_arena *heir)
{
	struct gm_arena **link = &heap->arenas, *arena;

	while ((arena = *link)) {
		if (arena->dropped)
			gm_arena_settle(arena, false);
		if (!arena->dropped || arena->settled != arena->ticket) {
			link = &arena->next;
			continue;
		}
		/* Whose a block is, other threads look up without a lock. */
		gm_locals_stop(heap);
		inherit(heir, arena);
		gm_locals_go(heap);
		*link = arena->next;
		gm_arena_fini(arena);
	}
}

void gm_arenas_adopt(struct gm_heap *heap, struct gm_arena *heir)
{
	struct gm_arena *arena;

	reap(heap, heir);
	for (arena = heap->arenas; arena; arena = arena->next)
		if (arena != heir && arena->index.count)
			adopt(heir, arena);
}
