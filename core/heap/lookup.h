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

/* How large a block can it be? */
struct gm_inquiry {
	struct gm_heap *heap;
	gpumem_stream stream;
	const struct gm_arena *arena; /* for blocks of the fate; NULL: none */
	uint64_t driver_bytes;	      /* that the driver has free */
};

/* The largest that a source would give; and what single ones would
 * (capacity.c). */
uint64_t gm_sources_give(const struct gm_inquiry *inquiry);
uint64_t gm_gives_own(const struct gm_inquiry *inquiry);
uint64_t gm_gives_others(const struct gm_inquiry *inquiry);
uint64_t gm_gives_growth(const struct gm_inquiry *inquiry);

/* Growing, as a source: false, nothing has changed. What other streams have
 * comes before more than `stream_waste` is new, and waiting for places before
 * more than `waste_max` is. at_once, for a better place than there is: neither
 * the host nor the stream waits. */
bool gm_lookup_grow(struct gm_lookup *lookup, bool at_once);
/* Sources: a growth, if that is for little; one, and if that fails what all
 * streams have free; and before, what they have free where no page can move, or
 * where it is worth it. */
bool gm_lookup_grow_a_little(struct gm_lookup *lookup);
bool gm_lookup_grow_or_transfer(struct gm_lookup *lookup);
bool gm_lookup_transfer_before(struct gm_lookup *lookup);

/* Sources where memory is short: the place in the arena that takes the fewest
 * unused pages, or a growth if that takes fewer; the smallest free block of all
 * streams. */
bool gm_lookup_fewest_pages(struct gm_lookup *lookup);
bool gm_lookup_smallest(struct gm_lookup *lookup);
/* What the thread keeps, as a source. */
bool gm_lookup_flush_own(struct gm_lookup *lookup);

/* What other streams have and the arena may get behind their work, for rows of
 * both tables (behind.c); the first that there is any of. */
enum gm_behind {
	/* Where slots are wanted: pending ones of the arena's own slabs. */
	GM_BEHIND_SLOTS = 1,
	/* What is pending, of the arena's own and then of others': until a
	 * block fits, or, where the arena can lend pages to itself, its size is
	 * free more, or at a limit a few times that. */
	GM_BEHIND_PENDING = 2,
	/* A free block. */
	GM_BEHIND_FREE = 4,
	/* Several: what lies side by side in a segment, or pages. */
	GM_BEHIND_SEVERAL = 8,
	/* However many have to be looked at. */
	GM_BEHIND_EVERYWHERE = 16
};

/* True: some is free memory of the arena now, or free slots in its slabs. */
bool gm_heap_get_behind(struct gm_arena *arena,
			const struct gm_attempt *attempt,
			const struct gm_want *want, unsigned what);
/* Slots, rather than make a slab where there is waste already: of a page in
 * which a slab lies the rest cannot move, so slabs for slots that stay pending
 * keep far more memory than they have. */
bool gm_heap_get_behind_early(struct gm_arena *arena,
			      const struct gm_attempt *attempt,
			      const struct gm_want *want);

/* A transfer for so much. */
static inline struct gm_transfer
gm_want_transfer(struct gm_arena *arena, const struct gm_attempt *attempt,
		 const struct gm_want *want, unsigned terms)
{
	return (struct gm_transfer){.receiver = arena,
				    .attempt = attempt,
				    .terms = terms,
				    .bytes = want->bytes,
				    .alignment = want->alignment,
				    .below = SIZE_MAX};
}

/* One free block that another stream is done with, of fewer than `below` bytes.
 * Asks one stream at most. */
static inline bool gm_lookup_borrow(const struct gm_lookup *lookup,
				    size_t below)
{
	struct gm_transfer transfer = gm_want_transfer(
		lookup->arena, lookup->attempt, lookup->want, GM_TERMS_DONE);

	transfer.below = below;
	transfer.asks = 1;
	return gm_transfer_block(&transfer);
}

#endif
