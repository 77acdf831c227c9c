/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Free memory of a stream that is still at work on it, for another stream that
 * is made to wait for that work. What the receiver queues from then on comes
 * behind the work, and so does every event recorded there: the memory is as if
 * it had been freed on the receiver now, with a new sequence number of its. See
 * arena.h.
 */
#include "order.h"

static bool comes_after(const struct gm_arena *receiver,
			const struct gm_arena *of, uint64_t seqno)
{
	return gm_arena_completed(of, seqno) ||
	       gm_arena_follows(receiver, of, seqno);
}

/* Nothing has to be waited for. */
static bool is_ready(const struct gm_arena *receiver,
		     const struct gm_extent *extent)
{
	return comes_after(receiver, extent->arena, extent->seqno);
}

/* The oldest event that covers it, since most of that work may be over by now.
 * The last fence of a dropped stream is there already. */
bool gm_arena_get_behind(struct gm_arena *receiver,
			 const struct gm_attempt *attempt, struct gm_arena *of,
			 uint64_t seqno)
{
	const struct gm_fence *fence;

	if (comes_after(receiver, of, seqno))
		return true;
	if (gm_capture_forbids(receiver->heap, attempt) ||
	    (!of->dropped && gm_arena_capturing(of, attempt)))
		return false;
	fence = gm_arena_fence(of, seqno);
	return fence && gm_follow_wait(receiver, of, fence);
}

static bool wait_for(struct gm_arena *receiver,
		     const struct gm_attempt *attempt,
		     const struct gm_extent *extent)
{
	return gm_arena_get_behind(receiver, attempt, extent->arena,
				   extent->seqno);
}

/* So many extents of an arena are looked at. */
enum { LOOKS = 16 };

/* What needs no wait, then what is smaller. */
static bool fits_better(const struct gm_arena *receiver,
			const struct gm_extent *a, const struct gm_extent *b)
{
	bool ready = is_ready(receiver, a);

	if (ready != is_ready(receiver, b))
		return ready;
	return a->bytes < b->bytes;
}

static struct gm_extent *fit_of(const struct gm_arena *receiver,
				const struct gm_attempt *attempt,
				struct gm_arena *arena, size_t bytes,
				size_t alignment)
{
	struct gm_extent *first =
		gm_arena_fit(arena, attempt, bytes, alignment);
	struct gm_extent *extent = first;

	if (alignment > arena->heap->unit)
		return first;
	for (unsigned i = 0; extent && i < LOOKS; i++) {
		if (is_ready(receiver, extent))
			return extent;
		extent = gm_index_next(&arena->index, extent);
	}
	return first;
}

static struct gm_extent *find_fit(const struct gm_arena *receiver,
				  const struct gm_attempt *attempt,
				  size_t bytes, size_t alignment, size_t most)
{
	size_t looks = gm_arenas_looks(receiver->heap, most);
	struct gm_extent *best = NULL, *extent;

	while (looks--) {
		struct gm_arena *arena = gm_arenas_turn(receiver->heap);

		if (!arena || arena == receiver)
			continue;
		extent = fit_of(receiver, attempt, arena, bytes, alignment);
		if (extent && (!best || fits_better(receiver, extent, best)))
			best = extent;
	}
	return best;
}

/* It is in no index. A free extent that needs no wait comes as it is: with a
 * number of its own it would have to complete once more, and an allocation that
 * finds nothing would see that as progress each time that it tries. */
static struct gm_extent *take(struct gm_arena *receiver,
			      struct gm_extent *extent)
{
	if (gm_arena_completed(extent->arena, extent->seqno)) {
		gm_arena_transfer_extent(receiver, extent);
		return gm_arena_insert(receiver, extent);
	}
	receiver->idle = false;
	return gm_arena_release(receiver, extent);
}

bool gm_arena_may_absorb(const struct gm_arena *receiver,
			 const struct gm_extent *extent)
{
	return extent && gm_extent_is(extent, GM_EXTENT_FREE) &&
	       extent->arena != receiver && !extent->arena->graph &&
	       is_ready(receiver, extent);
}

struct gm_extent *gm_arena_absorb(struct gm_arena *receiver,
				  struct gm_extent *extent)
{
	gm_index_remove(&extent->arena->index, extent);
	return take(receiver, extent);
}

static bool may_follow(const struct gm_arena *receiver)
{
	return !receiver->graph && !receiver->dropped;
}

bool gm_arenas_fit_behind(struct gm_arena *receiver,
			  const struct gm_attempt *attempt, size_t bytes,
			  size_t alignment, size_t most)
{
	struct gm_extent *extent = NULL;

	if (may_follow(receiver))
		extent = find_fit(receiver, attempt, bytes, alignment, most);
	if (!extent || gm_arena_capturing(receiver, attempt) ||
	    gm_nodes_reserve(&receiver->heap->nodes, 2) != GPUMEM_OK ||
	    !wait_for(receiver, attempt, extent))
		return false;
	(void)take(receiver, gm_arena_carve(extent, bytes, alignment));
	return true;
}

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* What needs no wait, then what has more of those pages, then what was freed
 * earlier. */
static bool pages_better(const struct gm_arena *receiver,
			 const struct gm_extent *a, const struct gm_extent *b,
			 size_t pages)
{
	size_t a_pages = gm_index_pages(&a->arena->index, a);
	size_t b_pages = gm_index_pages(&b->arena->index, b);
	bool ready = is_ready(receiver, a);

	if (ready != is_ready(receiver, b))
		return ready;
	if (least_of(a_pages, pages) != least_of(b_pages, pages))
		return a_pages > b_pages;
	return a->seqno < b->seqno;
}

/* The smallest with all of the pages, or the largest. */
static struct gm_extent *pages_of(const struct gm_arena *receiver,
				  const struct gm_arena *arena, size_t pages)
{
	const struct gm_index *index = &arena->index;
	struct gm_extent *extent = gm_index_least_pages(index, pages);
	struct gm_extent *best;

	if (!extent)
		return gm_index_most_pages(index);
	best = extent;
	for (unsigned i = 0; extent && i < LOOKS; i++) {
		if (pages_better(receiver, extent, best, pages))
			best = extent;
		extent = gm_index_more_pages(index, extent);
	}
	return best;
}

static struct gm_extent *find_pages(const struct gm_arena *receiver,
				    size_t pages, size_t most)
{
	size_t looks = gm_arenas_looks(receiver->heap, most);
	struct gm_extent *best = NULL, *extent;

	while (looks--) {
		const struct gm_arena *arena = gm_arenas_turn(receiver->heap);

		if (!arena || arena == receiver)
			continue;
		extent = pages_of(receiver, arena, pages);
		if (extent &&
		    (!best || pages_better(receiver, extent, best, pages)))
			best = extent;
	}
	return best;
}

bool gm_arenas_pages_behind(struct gm_arena *receiver,
			    const struct gm_attempt *attempt, size_t pages,
			    size_t most)
{
	size_t before = pages, had;
	struct gm_extent *extent;

	if (!may_follow(receiver))
		return false;
	while (pages && (extent = find_pages(receiver, pages, most))) {
		struct gm_index *index = &extent->arena->index;

		if (gm_capture_forbids(receiver->heap, attempt) ||
		    gm_arena_capturing(receiver, attempt) ||
		    !wait_for(receiver, attempt, extent))
			break;
		had = gm_index_pages(index, extent);
		pages -= least_of(had, pages);
		gm_index_remove(index, extent);
		(void)take(receiver, extent);
	}
	return pages < before;
}
