/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Whether memory may become another stream's, and how it does. See transfer.h.
 */
#include "order.h"

enum gm_terms gm_transfer_terms(const struct gm_arena *receiver,
				const struct gm_extent *extent, unsigned among)
{
	const struct gm_arena *of = extent ? extent->arena : NULL;

	if (!extent || !gm_extent_is(extent, GM_EXTENT_FREE) ||
	    of == receiver || of->graph || !gm_arenas_mix(receiver, of))
		return GM_TERMS_NEVER;
	if (among & GM_TERMS_DONE && gm_arena_completed(of, extent->seqno))
		return GM_TERMS_DONE;
	if (among & GM_TERMS_AFTER &&
	    gm_arena_follows(receiver, of, extent->seqno))
		return GM_TERMS_AFTER;
	return among & GM_TERMS_WAIT;
}

bool gm_transfer_serves(const struct gm_transfer *transfer,
			const struct gm_arena *of)
{
	return transfer->pages || gm_arenas_mix(transfer->receiver, of);
}

/* The oldest event that covers it, since most of that work may be over by now.
 * The last fence of a dropped stream is there already. */
bool gm_transfer_wait(struct gm_arena *receiver,
		      const struct gm_attempt *attempt, struct gm_arena *of,
		      uint64_t seqno)
{
	const struct gm_fence *fence;

	if (gm_arena_completed(of, seqno) ||
	    gm_arena_follows(receiver, of, seqno))
		return true;
	if (gm_capture_forbids(receiver->heap, attempt) ||
	    (!of->dropped && gm_arena_capturing(of, attempt)))
		return false;
	fence = gm_arena_fence(of, seqno);
	return fence && gm_follow_wait(receiver, of, fence);
}

/* What is done keeps its age, for decay, and is completed for the receiver as
 * well; if that has work of its own, it and its pages count as older. */
void gm_transfer_number(struct gm_arena *receiver, struct gm_extent *extent,
			enum gm_terms terms)
{
	if (terms != GM_TERMS_DONE) {
		gm_arena_renumber(receiver, extent);
		return;
	}
	if (receiver->completed == receiver->seqno &&
	    extent->seqno > receiver->seqno)
		receiver->completed = receiver->seqno = extent->seqno;
	if (extent->seqno > receiver->completed)
		gm_extent_set_seqno(extent, receiver->completed);
	gm_pages_settle(&receiver->heap->spans, extent, extent->address,
			extent->bytes);
}

/* It is in no index. What needs no wait comes as it is: with a number of its
 * own it would have to complete once more, and an allocation that finds nothing
 * would see that as progress each time that it tries. */
struct gm_extent *gm_transfer_put(struct gm_arena *receiver,
				  struct gm_extent *extent)
{
	if (gm_arena_completed(extent->arena, extent->seqno)) {
		gm_transfer_number(receiver, extent, GM_TERMS_DONE);
		return gm_arena_insert(receiver, extent);
	}
	receiver->idle = false;
	return gm_arena_release(receiver, extent);
}

struct gm_extent *gm_transfer_extent(struct gm_arena *receiver,
				     struct gm_extent *extent)
{
	gm_index_remove(&extent->arena->index, extent);
	return gm_transfer_put(receiver, extent);
}
