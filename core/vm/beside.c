/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which stale places are unmapped first: those beside free memory. What is free
 * there is often a part of a page, which no growth can use as long as no hole
 * borders on it. See stale.h.
 */
#include "handle.h"

/* So many free extents are looked at, the smallest first. */
enum { LOOKS = 128 };

struct search {
	size_t most, done; /* handles */
	size_t looks;
};

/* Up to so many handles of a stale place, those next to the free extent that
 * lies above it, or below. False: the driver refuses, or no host memory. */
static bool unmap(struct gm_heap *heap, struct gm_extent *beside, bool is_above,
		  struct search *search)
{
	size_t count, some = search->most - search->done;

	if (!beside || !gm_extent_is(beside, GM_EXTENT_STALE) ||
	    !gm_arena_completed(beside->arena, beside->seqno))
		return true;
	count = gm_stale_run(heap, beside).count;
	if (some > count)
		some = count;
	if (gm_stale_unmap(heap, beside, is_above ? count - some : 0, some) !=
	    GPUMEM_OK)
		return false;
	search->done += some;
	return true;
}

/* False: no more. */
static bool look(struct gm_heap *heap, const struct gm_extent *extent,
		 struct search *search)
{
	const struct gm_nodes *nodes = &heap->nodes;

	return search->looks-- &&
	       unmap(heap, gm_extent_prev(nodes, extent), true, search) &&
	       search->done < search->most &&
	       unmap(heap, gm_extent_next(nodes, extent), false, search) &&
	       search->done < search->most;
}

size_t gm_stale_retire_beside(struct gm_heap *heap, size_t most)
{
	struct search search = {.most = most, .looks = LOOKS};
	const struct gm_arena *arena = gm_arena_stocked(heap);

	for (; arena; arena = gm_arena_stocked_after(arena)) {
		const struct gm_extent *extent = gm_index_fit(&arena->index, 1);

		for (; extent; extent = gm_index_next(&arena->index, extent))
			if (!look(heap, extent, &search))
				return search.done;
	}
	return search.done;
}
