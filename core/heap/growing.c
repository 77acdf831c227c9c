/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How a source of free memory makes the heap grow, and what comes before more
 * of it is wasted, or instead of moving pages. What growing does is
 * space/space.h's; see lookup.h. Under the mutex, which is released where
 * gm_space_grow() does.
 */
#include "lookup.h"
#include "base/error.h"

/* What growing may do, and end for want of. */
static void allow(struct gm_attempt *attempt, bool follows, bool waits)
{
	attempt->follows = follows;
	attempt->waits = waits;
	attempt->short_pages = 0;
	attempt->short_places = false;
}

/* Without an extent others have had their way. */
static bool has_grown(struct gm_lookup *lookup)
{
	lookup->anew = lookup->status == GPUMEM_OK && !lookup->extent;
	lookup->attempt->grown |= !lookup->anew;
	if (lookup->extent)
		lookup->attempt->served = lookup->attempt->made_of;
	return lookup->status == GPUMEM_OK;
}

/* There are as many places as may be: all whose work is over are unmapped;
 * where there is none, work is waited for first. True: all begins anew. False:
 * it has to do without. */
static bool wait_for_places(struct gm_lookup *lookup)
{
	struct gm_heap *heap = lookup->heap;
	size_t before = heap->space->stale.handles;

	/* An error shows below: none is gone. */
	do {
		if (gm_capture_forbids(heap, NULL))
			break;
		(void)gm_stale_retire_all(heap);
	} while (heap->space->stale.handles >= before && gm_arenas_wait(heap));
	gm_search_renew(heap, lookup->attempt);
	lookup->anew = heap->space->stale.handles < before;
	if (!lookup->anew)
		return false;
	lookup->status = GPUMEM_OK;
	lookup->attempt->after = GPUMEM_SERVED_WAITED;
	return true;
}

/* So often, since a page of theirs may be a part of a handle that stays. */
enum { FOLLOW_ROUNDS = 3 };

/* Pages for the stream that needs them: of its pending blocks, then of what
 * others have free, then of theirs that are pending. */
static bool get_pages(struct gm_lookup *lookup)
{
	const struct gm_heap *heap = lookup->heap;
	const struct gm_want *want = lookup->want;
	struct gm_transfer transfer = gm_want_transfer(
		lookup->arena, lookup->attempt, want, GM_TERMS_ANY);
	bool pending = gm_price_new(heap, lookup->attempt, want->bytes) >
		       GM_PRICE_WAITS;

	transfer.pages = lookup->attempt->short_pages;
	transfer.most = (uint64_t)transfer.pages * heap->page_bytes;
	return (pending && gm_transfer_pending(&transfer, true)) ||
	       gm_transfer_pages(&transfer) ||
	       (pending && gm_transfer_pending(&transfer, false));
}

/* What it ended for, if it did, is seen to. True: there is an extent, or all
 * begins anew. */
static bool help(struct gm_lookup *lookup, unsigned *rounds, bool *waits)
{
	struct gm_attempt *attempt = lookup->attempt;
	bool had;

	if (attempt->short_places) {
		*waits = false;
		return wait_for_places(lookup);
	}
	had = get_pages(lookup);
	*rounds = had ? *rounds - 1 : 0;
	attempt->served = GPUMEM_SERVED_BEHIND;
	return had && gm_arena_fit(lookup->arena, attempt, lookup->want->bytes,
				   lookup->want->alignment);
}

bool gm_lookup_grow(struct gm_lookup *lookup, bool at_once)
{
	struct gm_attempt *attempt = lookup->attempt;
	const struct gm_want *want = lookup->want;
	bool waits = !at_once && gm_may_follow(lookup->heap, want->flags);
	unsigned rounds = waits ? FOLLOW_ROUNDS : 0;

	do {
		allow(attempt, rounds, waits);
		lookup->status = gm_space_grow(
			lookup->heap, attempt, lookup->arena, want->bytes,
			want->alignment, &lookup->extent);
		if (lookup->status == GPUMEM_OK ||
		    !(attempt->short_pages || attempt->short_places))
			return has_grown(lookup);
	} while (!help(lookup, &rounds, &waits));
	return true;
}

static bool transfer_all(struct gm_lookup *lookup)
{
	gm_heap_transfer(lookup->arena, lookup->attempt, false);
	return true;
}

/* An idle stream gets the pages that it needs first: that asks no more of the
 * other streams than it takes, and leaves them what else they have. */
static bool moves_pages(const struct gm_lookup *lookup)
{
	return lookup->pages && lookup->arena->idle && !lookup->arena->graph &&
	       !(lookup->want->flags & GPUMEM_ALLOC_NO_GROW);
}

/* Fewer pages are moved for less than it costs to avoid it. */
enum { WORTH_PAGES = 4 };

/* Where streams are idle as a rule, what they have free side by side joins, so
 * that a large block fits. No more are asked than pages would have to be moved.
 */
bool gm_lookup_transfer_before(struct gm_lookup *lookup)
{
	struct gm_transfer transfer = {.receiver = lookup->arena,
				       .attempt = lookup->attempt,
				       .asks = lookup->want->bytes /
					       lookup->heap->page_bytes,
				       .idle = true};

	if (!moves_pages(lookup))
		return transfer_all(lookup);
	if (transfer.asks < WORTH_PAGES || !gm_order_is_idle(lookup->heap))
		return false;
	gm_transfer_all(&transfer);
	return true;
}

/* What the streams answer does not hide why growing failed. */
bool gm_lookup_grow_or_transfer(struct gm_lookup *lookup)
{
	struct gm_first first = {0};

	if (gm_lookup_grow(lookup, false))
		return true;
	if (!moves_pages(lookup))
		return false;
	gm_first_keep(&first, lookup->status);
	lookup->attempt->served = GPUMEM_SERVED_STREAMS;
	(void)transfer_all(lookup);
	lookup->status = gm_first_end(&first);
	return true;
}

bool gm_lookup_grow_a_little(struct gm_lookup *lookup)
{
	return gm_price_is_little(lookup->heap, lookup->want->bytes) &&
	       gm_lookup_grow(lookup, false);
}
