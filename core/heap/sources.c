/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The sources of free memory, tried from top to bottom under the mutex; see
 * ladder.h.
 */
#include "lookup.h"
#include "base/error.h"

/* Each: false, nothing has changed. True: the arena's free memory is to be
 * looked at again, or `extent` is it. */

/* All of them, if nobody waits for what is over before the request fails. */
static bool poll_pending(struct gm_lookup *lookup)
{
	struct gm_heap *heap = lookup->heap;

	return gm_may_follow(heap, lookup->want->flags)
		       ? gm_pending_poll_some(heap)
		       : gm_pending_poll(heap);
}

/* Rather than cut a segment for little, another one is taken, of the right
 * size, and an unused one given back: as long as that may be, and if it is
 * completed.
 */
static bool cut_segment(struct gm_lookup *lookup)
{
	struct gm_attempt *attempt = lookup->attempt;
	const struct gm_want *want = lookup->want;
	const struct gm_extent *extent;

	if (!attempt->sparing)
		return false;
	attempt->sparing = false;
	if (want->flags & GPUMEM_ALLOC_NO_GROW)
		return true;
	extent = gm_arena_fit(lookup->arena, lookup->attempt, want->bytes,
			      want->alignment);
	attempt->sparing =
		!extent || gm_segment_may_exchange(lookup->heap, attempt,
						   extent, want->bytes);
	return !attempt->sparing;
}

static bool cut_after_all(struct gm_lookup *lookup)
{
	bool spared = lookup->attempt->sparing;

	lookup->attempt->sparing = false;
	return spared;
}

/* So many dropped streams are asked about for one allocation. */
enum { REAP_LOOKS = 8 };

/* A stream that is busy gets more at once, for what it frees will not serve
 * others soon. */
static bool borrow(struct gm_lookup *lookup)
{
	gm_heap_reap(lookup->arena, lookup->attempt, REAP_LOOKS);
	return (lookup->others || lookup->arena->idle) &&
	       gm_lookup_borrow(lookup, SIZE_MAX);
}

static bool flush_all(struct gm_lookup *lookup)
{
	gm_locals_stop(lookup->heap);
	gm_locals_flush(lookup->heap);
	gm_locals_go(lookup->heap);
	gm_slabs_purge_all(lookup->heap);
	return true;
}

/* Others have had their way meanwhile. */
static bool drain(struct gm_lookup *lookup)
{
	lookup->anew =
		gm_segments_drain(lookup->heap, lookup->attempt,
				  lookup->want->bytes, lookup->want->alignment);
	return lookup->anew;
}

/* BESIDE_OTHERS is for heaps that other threads have caches of: what can be
 * had before they lose what they have ready, for with many of them each would
 * take it from the next for ever. What other streams free does not go to a
 * graph, which would keep it for good. With neither PAGES nor SEGMENTS a row is
 * for both models of memory. FOLLOWS: the host waits for work of streams. */
enum when {
	BESIDE_OTHERS = 1,
	NOT_FOR_GRAPHS = 2,
	PAGES = GM_WITH_PAGES,
	SEGMENTS = GM_WITH_SEGMENTS,
	FOLLOWS = 16,
};

/* A row does something of its own; or has the stream wait for what others have;
 * or neither, and looks only. */
static const struct source {
	const char *name;
	enum gpumem_served serves; /* unless it says otherwise itself */
	bool (*take)(struct gm_lookup *lookup);
	unsigned behind; /* enum gm_behind */
	/* What it costs beyond a search: where new memory costs no more
	 * (space/price.h) it is passed over. */
	double price;
	unsigned when;
	uint32_t left_out;
	/* How large a block it would give without waiting, when all caches are
	 * empty and all that is over is known to be; NULL: no larger one than
	 * the others. */
	uint64_t (*gives)(const struct gm_inquiry *inquiry);
} sources[] = {
	{"short of pages, where the fewest unused ones are taken",
	 GPUMEM_SERVED_OWN, .take = gm_lookup_fewest_pages,
	 .when = NOT_FOR_GRAPHS | PAGES},
	{"near the limit, the smallest free block of all streams",
	 GPUMEM_SERVED_STREAMS, .take = gm_lookup_smallest,
	 .when = NOT_FOR_GRAPHS},
	{"free memory of the stream", GPUMEM_SERVED_OWN, .gives = gm_gives_own},
	{"pending blocks that are done", GPUMEM_SERVED_PENDING,
	 .take = poll_pending},
	{"the thread's cache", GPUMEM_SERVED_CACHES,
	 .take = gm_lookup_flush_own},
	{"a spared segment, for little", GPUMEM_SERVED_OWN,
	 .take = cut_segment, .when = SEGMENTS},
	{"one free block of another stream", GPUMEM_SERVED_STREAMS,
	 .take = borrow, .when = NOT_FOR_GRAPHS, .gives = gm_gives_others},
	{"the driver, for a little", GPUMEM_SERVED_DRIVER,
	 .take = gm_lookup_grow_a_little, .when = BESIDE_OTHERS,
	 .left_out = NO_GROW},
	{"the caches of all threads", GPUMEM_SERVED_CACHES, .take = flush_all},
	{"to waste less, pending blocks, behind the work that uses them",
	 GPUMEM_SERVED_BEHIND, .behind = GM_BEHIND_PENDING,
	 .price = GM_PRICE_WAITS, .left_out = NO_GROW},
	{"to waste less, a free block of another stream, behind its work",
	 GPUMEM_SERVED_BEHIND, .behind = GM_BEHIND_FREE, .price = GM_PRICE_WAIT,
	 .left_out = NO_GROW},
	{"free blocks of all streams", GPUMEM_SERVED_STREAMS,
	 .take = gm_lookup_transfer_before, .when = NOT_FOR_GRAPHS},
	{"to waste less, adjacent free blocks of several streams, behind their "
	 "work",
	 GPUMEM_SERVED_BEHIND, .behind = GM_BEHIND_SEVERAL,
	 .price = GM_PRICE_WAIT, .when = SEGMENTS, .left_out = NO_GROW},
	{"a spared segment of theirs, for little", GPUMEM_SERVED_OWN,
	 .take = cut_segment, .when = SEGMENTS},
	{"to waste less, unused segments, once the work on them is over",
	 GPUMEM_SERVED_WAITED, .take = drain, .price = GM_PRICE_MOVE,
	 .when = NOT_FOR_GRAPHS | SEGMENTS | FOLLOWS, .left_out = NO_GROW},
	{"pages moved from free blocks, or the driver", GPUMEM_SERVED_MOVED,
	 .take = gm_lookup_grow_or_transfer, .left_out = NO_GROW,
	 .gives = gm_gives_growth},
	{"a spared segment, since there is no more", GPUMEM_SERVED_OWN,
	 .take = cut_after_all, .when = SEGMENTS},
};

enum { SOURCE_COUNT = sizeof(sources) / sizeof(sources[0]) };

/* What waits leaves NO_WAIT out. */
static bool follows(const struct source *source)
{
	return source->behind || source->when & FOLLOWS;
}

static bool is_for(const struct source *source, const struct gm_heap *heap,
		   const struct gm_arena *arena)
{
	unsigned of = source->when & (PAGES | SEGMENTS);

	return !(of && !(of & heap->space->model->with)) &&
	       !(source->when & NOT_FOR_GRAPHS && arena && arena->graph);
}

static bool applies(const struct source *source, const struct gm_lookup *lookup)
{
	const struct gm_heap *heap = lookup->heap;
	const struct gm_want *want = lookup->want;

	return is_for(source, heap, lookup->arena) &&
	       !(source->left_out & want->flags) &&
	       !(source->when & BESIDE_OTHERS && !lookup->others) &&
	       !(follows(source) && !gm_may_follow(heap, want->flags)) &&
	       !(source->price > 0 &&
		 gm_price_new(heap, lookup->attempt, want->bytes) <=
			 source->price);
}

/* What the search may do is the attempt's. */
static struct gm_lookup begin(struct gm_arena *arena,
			      struct gm_attempt *attempt,
			      const struct gm_want *want)
{
	struct gm_heap *heap = arena->heap;
	const struct gm_lookup lookup = {.heap = heap,
					 .arena = arena,
					 .attempt = attempt,
					 .want = want,
					 .others = gm_locals_others(heap),
					 .pages = gm_space_has_pages(heap)};

	gm_locals_flush_huge(heap);
	gm_search_begin(heap, attempt);
	attempt->sparing = !lookup.pages;
	attempt->spares_busy = heap->space->budget.segment_wait_ns &&
			       gm_may_follow(heap, want->flags);
	attempt->spared_bytes = gm_budget_spared(heap);
	return lookup;
}

/* What other streams have, if the row says so. False: nothing has changed. */
static bool get_behind(const struct source *source,
		       const struct gm_lookup *lookup)
{
	return !source->behind ||
	       gm_heap_get_behind(lookup->arena, lookup->attempt, lookup->want,
				  source->behind);
}

/* The source has changed something. */
static void look_again(struct gm_lookup *lookup)
{
	if (!lookup->anew && !lookup->extent)
		lookup->extent = gm_arena_fit(lookup->arena, lookup->attempt,
					      lookup->want->bytes,
					      lookup->want->alignment);
}

/* What an allocation may need: two cuts, and one for a merge that growing does
 * before. */
enum { NODES_NEEDED = 4 };

gpumem_status gm_ladder_take(struct gm_arena *arena, struct gm_attempt *attempt,
			     const struct gm_want *want,
			     struct gm_extent **extent_out)
{
	struct gm_lookup lookup = begin(arena, attempt, want);
	gpumem_status status;

	for (unsigned i = 0; i < SOURCE_COUNT && !lookup.anew && !lookup.extent;
	     i++) {
		const struct source *source = &sources[i];

		if (!applies(source, &lookup))
			continue;
		attempt->served = source->serves;
		if (source->take ? source->take(&lookup)
				 : get_behind(source, &lookup))
			look_again(&lookup);
	}
	gm_search_end(attempt);
	*extent_out = NULL;
	if (lookup.anew)
		return GPUMEM_OK;
	if (!lookup.extent)
		return lookup.status != GPUMEM_OK
			       ? lookup.status
			       : gm_fail(GPUMEM_NO_MEMORY,
					 "no free memory of the pool fits");
	status = gm_nodes_reserve(&arena->heap->nodes, NODES_NEEDED);
	if (status == GPUMEM_OK)
		*extent_out = gm_arena_carve(lookup.extent, want->bytes,
					     want->alignment);
	return status;
}

uint64_t gm_sources_give(const struct gm_inquiry *inquiry)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < SOURCE_COUNT; i++) {
		const struct source *source = &sources[i];
		uint64_t bytes = 0;

		if (source->gives &&
		    is_for(source, inquiry->heap, inquiry->arena))
			bytes = source->gives(inquiry);
		if (bytes > most)
			most = bytes;
	}
	return most;
}

void gm_sources_tell(const struct gm_heap *heap)
{
	for (unsigned i = 0; i < SOURCE_COUNT; i++)
		gm_rung_tell(heap, "source", i + 1, sources[i].name,
			     sources[i].left_out |
				     (follows(&sources[i]) ? NO_WAIT : 0));
}
