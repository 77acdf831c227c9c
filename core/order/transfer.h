/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Another stream's free memory becomes this one's: the one rule of whether it
 * may, and what has to happen first; and who looks for it. What needs nothing
 * comes as it is. What the receiver's stream comes after anyway, or waits for,
 * is as if it had been freed there now, with a new sequence number of its: what
 * the receiver queues from then on comes behind that work, and so does every
 * event recorded there. The host never waits.
 *
 * Nothing of a graph's comes or goes. What is of another fate stays so, unless
 * they mix: where whole pages are wanted it becomes that sibling's of the
 * receiver which has its fate, and the stream lends the pages to the receiver
 * (pages/stale.h). The heap's mutex guards it.
 */
#ifndef GM_ORDER_TRANSFER_H
#define GM_ORDER_TRANSFER_H

#include "arena.h"

struct gm_slab;

/* What has to happen first. */
enum gm_terms {
	GM_TERMS_NEVER = 0, /* it is no free memory of another public arena's */
	GM_TERMS_DONE = 1,  /* nothing: the device has finished with it */
	GM_TERMS_AFTER = 2, /* nothing: the stream comes after that work */
	GM_TERMS_WAIT = 4,  /* the stream waits for a fence */

	GM_TERMS_NOW = GM_TERMS_DONE | GM_TERMS_AFTER,
	GM_TERMS_ANY = GM_TERMS_NOW | GM_TERMS_WAIT
};

/* The first of `among` on which the extent can become the receiver's, or NEVER;
 * NULL is no memory. */
enum gm_terms gm_transfer_terms(const struct gm_arena *receiver,
				const struct gm_extent *extent, unsigned among);
/* An extent that can become it without a wait does. Returns what it is part of
 * then. */
struct gm_extent *gm_transfer_extent(struct gm_arena *receiver,
				     struct gm_extent *extent);
/* The receiver's stream begins nothing more before all work up to that number
 * of the other is over: it waits, unless it comes after that already. False: a
 * capture forbids it, or the driver refuses. */
bool gm_transfer_wait(struct gm_arena *receiver,
		      const struct gm_attempt *attempt, struct gm_arena *of,
		      uint64_t seqno);
/* Numbers an extent that is in no index, for its new arena; on other terms than
 * DONE as if that had freed it just now. */
void gm_transfer_number(struct gm_arena *receiver, struct gm_extent *extent,
			enum gm_terms terms);

/* May the receiver's stream wait for others? To a graph nothing of theirs
 * comes, of its memory nothing is known to the stream that it serves, and one
 * that is gone waits for nothing. */
static inline bool gm_transfer_may_wait(const struct gm_arena *receiver)
{
	return !receiver->graph && !receiver->dropped;
}

/* Who gets what. */
struct gm_transfer {
	struct gm_arena *receiver;
	const struct gm_attempt *attempt;
	unsigned terms; /* those that will do */
	size_t bytes, alignment;
	size_t below;	 /* from an extent of fewer bytes */
	size_t pages;	 /* so many, in whole extents, of any fate */
	uint64_t most;	 /* pending: bytes, or slots, that are enough */
	size_t asks;	 /* streams that may be asked whether they are done */
	bool everywhere; /* look at more than GM_ARENA_LOOKS arenas, or
			    GM_PENDING_LOOKS pending blocks */
	bool idle; /* only of streams that are, up to the first that is not
		    */
	/* Pending: slots of such slabs of the receiver's are wanted, rather
	 * than large blocks. */
	bool (*is_wanted)(const struct gm_slab *slab, const void *user);
	const void *user;
};

/*
 * A free extent in which so much fits, of fewer than `below` bytes. What is
 * done comes whole: what the receiver needs next comes from beside it then, and
 * the streams' memory is less mixed. With WAIT among the terms exactly so much
 * is cut out. False: there is none, a capture forbids it, or the driver
 * refuses.
 */
bool gm_transfer_block(const struct gm_transfer *transfer);
/* Whole extents of other streams with about so many pages, for a receiver whose
 * stream can lend them to it (gm_stale_lender()), on any terms. False: as
 * above. */
bool gm_transfer_pages(const struct gm_transfer *transfer);
/* All that is done, of one arena, or of each. */
void gm_transfer_all_of(struct gm_arena *receiver,
			const struct gm_attempt *attempt,
			struct gm_arena *from);
void gm_transfer_all(const struct gm_transfer *transfer);

/*
 * transfer_pending.c: blocks that other streams may still use, the oldest
 * first, of those that go back to the receiver's stream, or to others: its
 * stream waits for that use, and for what the block's own did before the free.
 * Then they are free as if they had been freed on it now, until so many bytes
 * fit at the alignment, or the most are free more. Those with a view are left
 * out. Of those that are not wanted so many of the oldest are looked at, and as
 * many others, from where the last call ended. False: nothing was to be had, a
 * capture forbids it, or the driver refuses.
 */
bool gm_transfer_pending(const struct gm_transfer *transfer, bool own);

/* ---- between the files of this module ---- */

/* Is what is free of the arena, or pending, of use for it? */
bool gm_transfer_serves(const struct gm_transfer *transfer,
			const struct gm_arena *of);

/* An extent that is in no index becomes the receiver's, which comes after all
 * work on it by now. Returns what it is part of then. */
struct gm_extent *gm_transfer_put(struct gm_arena *receiver,
				  struct gm_extent *extent);

#endif
