/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the files of the check share: each recomputes the invariants of a
 * header, and changes nothing. The heap's mutex is held.
 */
#ifndef GM_EXTENT_CHECK_H
#define GM_EXTENT_CHECK_H

#include "index.h"
#include "base/error.h"

#define EXPECT(condition, ...)                                                 \
	do {                                                                   \
		if (!(condition))                                              \
			return gm_fail(GPUMEM_CORRUPT, __VA_ARGS__);           \
	} while (0)

/* What the extents add up to, span by span. */
struct gm_tally {
	uint64_t requested, allocated, pending, blocks;
	uint64_t free_bytes, free_count, unreleasable_bytes, hole_count;
	uint64_t free_slabs; /* with a free slot, less those in lists */
	uint64_t shared;     /* blocks that are marked so */
	uint64_t cached_slots, ready_bytes, releasing_bytes, extents;
	uint64_t stale_bytes, stale_count;
	/* Of free_bytes, and what slabs have left over. */
	uint64_t whole_bytes, page_part_bytes, handle_part_bytes, graph_bytes;
	uint64_t slab_part_bytes;
	uint64_t filling_bytes; /* not mapped yet */
	/* What a sleep took: of allocated, without memory; of what is ASLEEP,
	 * with it. */
	uint64_t sleeping, parked_bytes;
};

/* The ring is linked both ways, and all in it are of that state. */
gpumem_status gm_check_ring(const struct gm_nodes *nodes, uint32_t ring,
			    enum gm_extent_state state, size_t *count_out);
/* The index of an arena: bins, bits, trees, rings and sums. */
gpumem_status gm_check_index(const struct gm_index *index,
			     const struct gm_arena *arena);
/* Every node is one of so many extents, or free, or number 0. */
gpumem_status gm_check_nodes(const struct gm_nodes *nodes, uint64_t extents);

/* check_tags.c: before the walk; what a live block has more; after the walk. */
void gm_check_tags_begin(const struct gm_heap *heap);
gpumem_status gm_check_more(const struct gm_heap *heap, uint16_t more,
			    uint64_t requested, struct gm_tally *tally);
gpumem_status gm_check_tags(const struct gm_heap *heap);

#endif
