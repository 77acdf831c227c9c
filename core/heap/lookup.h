/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What one lookup of free memory knows, between the table of its sources
 * (sources.c, short.c) and the growth of the heap (growing.c); see ladder.h.
 * The heap's mutex guards it.
 */
#ifndef GM_HEAP_LOOKUP_H
#define GM_HEAP_LOOKUP_H

#include "ladder.h"
#include "rungs.h"

struct gm_lookup {
	struct gm_heap *heap;
	struct gm_arena *arena;
	struct gm_attempt *attempt;
	const struct gm_want *want;
	struct gm_extent *extent; /* that was made */
	gpumem_status status;	  /* of growing: why there is none */
	bool anew;   /* others have had their way while it was to grow */
	bool others; /* other threads have caches of the heap */
	bool pages;  /* the heap's memory is of pages, not of segments */
};

/* Growing, as a source: false, nothing has changed. What other streams have
 * comes before more than `stream_waste` is new, and waiting for places before
 * more than `waste_max` is. at_once, for a better place than there is: neither
 * the host nor the stream waits. */
bool gm_lookup_grow(struct gm_lookup *lookup, bool at_once);

/* Sources where memory is short: the place in the arena that takes the fewest
 * unused pages, or a growth if that takes fewer; the smallest free block of all
 * streams. */
bool gm_lookup_fewest_pages(struct gm_lookup *lookup);
bool gm_lookup_smallest(struct gm_lookup *lookup);
/* What the thread keeps, as a source. */
bool gm_lookup_flush_own(struct gm_lookup *lookup);

/* What is pending, of the arena's own and then of others', behind the work that
 * uses it: until a block fits, or, where the arena can lend pages to itself,
 * its size is free more, or at a limit a few times that. looks: as of
 * gm_pending_behind(); SIZE_MAX: all. False: there is none.
 */
bool gm_get_pending(struct gm_arena *arena, const struct gm_attempt *attempt,
		    const struct gm_want *want, size_t looks);
/* Where slots are wanted: pending ones of the arena's own slabs, behind the
 * work that uses them. True: some are free in their slabs. */
bool gm_get_slots(struct gm_arena *arena, const struct gm_attempt *attempt,
		  const struct gm_want *want, size_t looks);
/* That, rather than make a slab where there is waste already: of a page in
 * which a slab lies the rest cannot move, so slabs for slots that stay pending
 * keep far more memory than they have. */
bool gm_get_slots_early(struct gm_arena *arena,
			const struct gm_attempt *attempt,
			const struct gm_want *want);

#endif
