/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pages that serve elsewhere before their last use is over. A page of a free
 * extent cannot be unmapped while work may still touch it; but where the driver
 * maps a page at a second address (CAP_ALIAS), the same stream can have it
 * there at once, since what the stream does there comes after all that it did
 * before. The extent lends it: its addresses, still mapped, are *stale* until
 * the work is over, and are unmapped then, a hole. Other streams get nothing
 * so but what has become theirs, behind the work (order/behind.c), nor does a
 * graph, and nothing is lent while a stream is being captured.
 *
 *     a handle is mapped at one place that is not stale, or is spare; its
 *         stale places are besides
 *     seqno of a stale extent <= page[].seqno of its handles' other places
 *     so: a handle whose last free has completed is stale in no place but such
 *         as have completed, which gm_stale_retire() unmaps
 *     bytes == sum of the stale extents; `lending` is empty but during a growth
 *     bytes <= STALE_PART * reserved when pages are lent
 *
 * Each stale extent has handles of one size, and is merged only with such as
 * are over, to be unmapped in one call. The heap's mutex guards it.
 */
#ifndef GM_VM_STALE_H
#define GM_VM_STALE_H

#include "extent/heap_core.h"

struct gm_arena;
struct gm_first;
struct gm_tally;

struct gm_stale {
	bool on;	  /* constant: pages can be lent */
	uint32_t ring;	  /* the stale extents, the oldest first */
	uint32_t lending; /* those of the growth under way */
	uint64_t bytes;
};

/* The arena, if it may lend pages to itself, or NULL. */
struct gm_arena *gm_stale_lender(const struct gm_heap *heap,
				 struct gm_arena *arena);
/* How many more pages may become stale; at the bound, completed ones are
 * unmapped first. No stream is being captured. */
size_t gm_stale_room(struct gm_heap *heap, size_t want);

/* The extent, which is in no index and of handles of one size, becomes stale,
 * for the growth under way. */
void gm_stale_begin(struct gm_heap *heap, struct gm_extent *extent);
/* Of that growth, those of handles of so many pages or fewer are free memory
 * again: their handles were not mapped elsewhere. */
void gm_stale_undo(struct gm_heap *heap, size_t pages);
/* The growth has ended. */
void gm_stale_commit(struct gm_heap *heap);

/* Unmaps the completed ones, which become holes. Before a handle goes back to
 * the driver, which takes none that is mapped. No stream is being captured. OK,
 * or the first error of the driver: then some have stayed. */
gpumem_status gm_stale_retire(struct gm_heap *heap);
/* For the end of a heap: unmaps all, and takes them out of the table of pages.
 * What does not unmap keeps its span. */
void gm_stale_fini(struct gm_heap *heap, struct gm_first *first);

/* check_stale.c: *handles_out counts the stale places of handles. */
gpumem_status gm_check_stale(const struct gm_heap *heap,
			     const struct gm_tally *tally,
			     uint64_t *handles_out);

#endif
