/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The sources of free memory, tried from top to bottom under the mutex; see
 * ladder.h.
 */
#include "rungs.h"
#include "base/error.h"

struct search {
	struct gm_heap *heap;
	struct gm_arena *arena;
	const struct gm_want *want;
	struct gm_extent *extent; /* that was made */
	gpumem_status status;	  /* of growing: why there is none */
	bool grown;
	bool anew;   /* others have had their way while it was to grow */
	bool others; /* other threads have caches of the heap */
};

/* Each: false, nothing has changed. True: the arena's free memory is to be
 * looked at again, or `extent` is it. */

static bool use_own(struct search *search)
{
	(void)search;
	return true;
}

static bool poll_pending(struct search *search)
{
	return gm_pending_poll(search->heap);
}

static bool flush_own(struct search *search)
{
	gm_locals_flush_own(search->heap);
	gm_slabs_purge(search->arena);
	return true;
}

/* Rather than cut an unused segment for little, it is given back, and one of
 * the right size is taken: as long as that may be, and if it is completed. */
static bool cut_segment(struct search *search)
{
	struct gm_order *order = search->heap->order;
	const struct gm_want *want = search->want;
	const struct gm_extent *extent;

	if (!order->sparing)
		return false;
	order->sparing = false;
	if (want->flags & GPUMEM_ALLOC_NO_GROW)
		return true;
	extent = gm_arena_fit(search->arena, want->bytes, want->alignment);
	order->sparing = !extent || gm_segment_may_exchange(
					    search->heap, extent, want->bytes);
	return !order->sparing;
}

static bool cut_after_all(struct search *search)
{
	bool spared = search->heap->order->sparing;

	search->heap->order->sparing = false;
	return spared;
}

/* So many dropped streams are asked about for one allocation. */
enum { REAP_LOOKS = 8 };

/* A stream that is busy gets more at once, for what it frees will not serve
 * others soon. */
static bool borrow(struct search *search)
{
	gm_heap_reap(search->heap, search->arena, REAP_LOOKS);
	return (search->others || search->arena->idle) &&
	       gm_arenas_transfer_one(search->arena, search->want->bytes,
				      search->want->alignment, SIZE_MAX);
}

/* A page that is used in part is had by nobody else. Near the limit as few as
 * can be are cut, whichever stream has them. */
static bool use_smallest(struct search *search)
{
	const struct gm_want *want = search->want;
	const struct gm_extent *own;

	if (!gm_budget_is_tight(search->heap, want->bytes))
		return false;
	own = gm_arena_fit(search->arena, want->bytes, want->alignment);
	return own && own->bytes > want->bytes &&
	       gm_arenas_transfer_one(search->arena, want->bytes,
				      want->alignment, own->bytes);
}

static bool grow_without_wait(struct search *search);

/* For less, to move pages makes more calls than it saves pages. */
enum { FEWEST_PAGES = 2 };

/* Do fewer than so many do where a growth would put it? */
static bool grows_better(const struct search *search, size_t pages)
{
	const struct gm_heap *heap = search->heap;
	const struct gm_want *want = search->want;

	return !(want->flags & NO_GROW) &&
	       want->bytes >= FEWEST_PAGES * heap->page_bytes &&
	       pages > gm_place_least(heap, want->bytes) &&
	       gm_place_new(search->arena, want->bytes, want->alignment) <
		       pages;
}

/* With few pages left, a block goes where it takes the fewest of which nothing
 * is used, be it that others have to be moved there. */
static bool use_fewest_pages(struct search *search)
{
	struct gm_heap *heap = search->heap;
	const struct gm_want *want = search->want;
	size_t pages;

	if (!heap->vm || want->alignment > heap->unit ||
	    !gm_budget_is_short(heap, want->bytes))
		return false;
	if (want->bytes >= heap->page_bytes)
		(void)flush_own(search);
	(void)gm_place_free(search->arena, want->bytes, &pages);
	if (grows_better(search, pages) && grow_without_wait(search))
		return true;
	search->extent = gm_place_free(search->arena, want->bytes, &pages);
	return search->extent;
}

static bool transfer_all(struct search *search)
{
	gm_heap_transfer_some(search->heap, search->arena, GM_ARENA_LOOKS);
	return true;
}

static bool follow(struct search *search)
{
	const struct gm_want *want = search->want;

	return gm_may_follow(search->heap, want->flags) &&
	       gm_budget_exceeds_stream_waste(search->heap, want->bytes) &&
	       gm_arenas_fit_behind(search->arena, want->bytes, want->alignment,
				    GM_ARENA_LOOKS);
}

static void grow_once(struct search *search, bool follows, bool waits)
{
	struct gm_budget *budget = &search->heap->space->budget;

	budget->follows = follows;
	budget->waits = waits;
	budget->short_pages = 0;
	budget->short_places = false;
	search->status =
		gm_space_grow(search->heap, search->arena, search->want->bytes,
			      search->want->alignment, &search->extent);
	budget->follows = budget->waits = false;
}

/* Without an extent others have had their way. */
static bool has_grown(struct search *search)
{
	search->anew = search->status == GPUMEM_OK && !search->extent;
	search->grown |= !search->anew;
	return search->status == GPUMEM_OK;
}

/* For a better place than there is: neither the host nor the stream waits. */
static bool grow_without_wait(struct search *search)
{
	grow_once(search, false, false);
	return has_grown(search);
}

/* There are as many places as may be: all whose work is over are unmapped;
 * where there is none, work is waited for first. True: all begins anew. False:
 * it has to do without. */
static bool wait_for_places(struct search *search)
{
	struct gm_heap *heap = search->heap;
	struct gm_attempt attempt = gm_growth_pause(heap);
	size_t before = heap->space->stale.handles;

	/* An error shows below: none is gone. */
	do {
		if (gm_capture_forbids(heap))
			break;
		(void)gm_stale_retire_all(heap);
	} while (heap->space->stale.handles >= before && gm_arenas_wait(heap));
	gm_growth_resume(heap, attempt);
	search->anew = heap->space->stale.handles < before;
	if (search->anew)
		search->status = GPUMEM_OK;
	return search->anew;
}

/* So often, since a page of theirs may be a part of a handle that stays. */
enum { FOLLOW_ROUNDS = 3 };

/* Whether another growth may do better: other streams have pages for the one
 * that needs them. */
static bool get_behind(struct search *search, unsigned *rounds)
{
	size_t pages = search->heap->space->budget.short_pages;
	bool had = gm_arenas_pages_behind(search->arena, pages, GM_ARENA_LOOKS);

	*rounds = had ? *rounds - 1 : 0;
	return had && gm_arena_fit(search->arena, search->want->bytes,
				   search->want->alignment);
}

/* What other streams have comes before more than `stream_waste` is new, and
 * waiting for places before more than `waste_max` is. */
static bool grow(struct search *search)
{
	const struct gm_budget *budget = &search->heap->space->budget;
	bool waits = gm_may_follow(search->heap, search->want->flags);
	unsigned rounds = waits ? FOLLOW_ROUNDS : 0;

	grow_once(search, rounds, waits);
	while (search->status != GPUMEM_OK &&
	       (budget->short_pages || budget->short_places)) {
		if (budget->short_places) {
			waits = false;
			if (wait_for_places(search))
				return true;
		} else if (get_behind(search, &rounds)) {
			return true;
		}
		grow_once(search, rounds, waits);
	}
	return has_grown(search);
}

/* An idle stream gets the pages that it needs first: that asks no more of the
 * other streams than it takes, and leaves them what else they have. */
static bool moves_pages(const struct search *search)
{
	return search->heap->vm && search->arena->idle &&
	       !search->arena->graph &&
	       !(search->want->flags & GPUMEM_ALLOC_NO_GROW);
}

static bool transfer_before(struct search *search)
{
	return !moves_pages(search) && transfer_all(search);
}

/* What the streams answer does not hide why growing failed. */
static bool grow_or_transfer(struct search *search)
{
	struct gm_first first = {0};

	if (grow(search))
		return true;
	if (!moves_pages(search))
		return false;
	gm_first_keep(&first, search->status);
	(void)transfer_all(search);
	search->status = gm_first_end(&first);
	return true;
}

static bool grow_a_little(struct search *search)
{
	return gm_budget_has_slack(search->heap, search->want->bytes) &&
	       grow(search);
}

static bool flush_all(struct search *search)
{
	gm_locals_stop(search->heap);
	gm_locals_flush(search->heap);
	gm_locals_go(search->heap);
	gm_slabs_purge_all(search->heap);
	return true;
}

/* BESIDE_OTHERS is for heaps that other threads have caches of: what can be
 * had before they lose what they have ready, for with many of them each would
 * take it from the next for ever. What other streams free does not go to a
 * graph, which would keep it for good. */
enum when { ALWAYS = 0, BESIDE_OTHERS = 1, NOT_FOR_GRAPHS = 2 };

static const struct {
	const char *name;
	bool (*take)(struct search *search);
	unsigned when;
	uint32_t left_out;
} sources[] = {
	{"short of pages, where the fewest unused ones are taken",
	 use_fewest_pages, NOT_FOR_GRAPHS, NEVER},
	{"near the limit, the smallest free block of all streams", use_smallest,
	 NOT_FOR_GRAPHS, NEVER},
	{"free memory of the stream", use_own, ALWAYS, NEVER},
	{"pending blocks that are done", poll_pending, ALWAYS, NEVER},
	{"the thread's cache", flush_own, ALWAYS, NEVER},
	{"an unused segment, for little", cut_segment, ALWAYS, NEVER},
	{"one free block of another stream", borrow, NOT_FOR_GRAPHS, NEVER},
	{"the driver, for a little", grow_a_little, BESIDE_OTHERS, NO_GROW},
	{"the caches of all threads", flush_all, ALWAYS, NEVER},
	{"to waste less, a free block of another stream, behind its work",
	 follow, NOT_FOR_GRAPHS, NO_WAIT | NO_GROW},
	{"free blocks of all streams", transfer_before, NOT_FOR_GRAPHS, NEVER},
	{"an unused segment of theirs, for little", cut_segment, ALWAYS, NEVER},
	{"pages moved from free blocks, or the driver", grow_or_transfer,
	 ALWAYS, NO_GROW},
	{"an unused segment, since there is no more", cut_after_all, ALWAYS,
	 NEVER},
};

enum { SOURCE_COUNT = sizeof(sources) / sizeof(sources[0]) };

static bool applies(unsigned source, const struct search *search)
{
	unsigned when = sources[source].when;

	return !((when & BESIDE_OTHERS && !search->others) ||
		 (when & NOT_FOR_GRAPHS && search->arena->graph) ||
		 sources[source].left_out & search->want->flags);
}

static bool find(struct search *search)
{
	search->others = gm_locals_others(search->heap);
	for (unsigned i = 0; i < SOURCE_COUNT; i++) {
		if (!applies(i, search) || !sources[i].take(search))
			continue;
		if (search->anew)
			return true;
		if (!search->extent)
			search->extent =
				gm_arena_fit(search->arena, search->want->bytes,
					     search->want->alignment);
		if (search->extent)
			return true;
	}
	if (search->status == GPUMEM_OK)
		search->status = gm_fail(GPUMEM_NO_MEMORY,
					 "no free memory of the pool fits");
	return false;
}

/* What an allocation may need: two cuts, and one for a merge that growing does
 * before. */
enum { NODES_NEEDED = 4 };

gpumem_status gm_ladder_take(struct gm_arena *arena, const struct gm_want *want,
			     bool *grown_out, struct gm_extent **extent_out)
{
	struct search search = {
		.heap = arena->heap, .arena = arena, .want = want};
	gpumem_status status = GPUMEM_OK;
	uint64_t outer;

	gm_locals_flush_huge(arena->heap);
	outer = gm_search_begin(arena->heap);
	arena->heap->order->sparing = !arena->heap->vm;
	if (!find(&search))
		status = search.status;
	arena->heap->order->sparing = false;
	gm_search_end(arena->heap, outer);
	*grown_out |= search.grown;
	*extent_out = NULL;
	if (search.anew)
		return GPUMEM_OK;
	if (status == GPUMEM_OK)
		status = gm_nodes_reserve(&arena->heap->nodes, NODES_NEEDED);
	if (status == GPUMEM_OK)
		*extent_out = gm_arena_carve(search.extent, want->bytes,
					     want->alignment);
	return status;
}

void gm_sources_tell(const struct gm_heap *heap)
{
	for (unsigned i = 0; i < SOURCE_COUNT; i++)
		gm_rung_tell(heap, "source", i + 1, sources[i].name,
			     sources[i].left_out);
}
