/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The sources that come before a stream's own free memory where memory is
 * short: a page counts for more than the time to choose it. See lookup.h. */
#include "lookup.h"

/* A block fits badly where more than this part of what is free is left. */
enum { WELL_PART = 16 };

static bool fits_badly(const struct gm_extent *own, size_t bytes)
{
	return own->bytes - bytes > own->bytes / WELL_PART;
}

/* A page that is used in part is had by nobody else. Near the limit as few as
 * can be are cut, whichever stream has them. Without virtual memory what is cut
 * stays so until all around it is free: where streams have no work as a rule
 * another one may well have something that fits better. */
bool gm_lookup_smallest(struct gm_lookup *lookup)
{
	const struct gm_heap *heap = lookup->heap;
	const struct gm_want *want = lookup->want;
	bool is_tight = gm_price_part(heap, lookup->attempt, want->bytes) >
			GM_PRICE_TIGHT;
	const struct gm_extent *own;

	if (!is_tight && (lookup->pages || !gm_order_is_idle(heap)))
		return false;
	own = gm_arena_fit(lookup->arena, lookup->attempt, want->bytes,
			   want->alignment);
	return own && own->bytes > want->bytes &&
	       (is_tight || fits_badly(own, want->bytes)) &&
	       gm_lookup_borrow(lookup, own->bytes);
}

/* For less, to move pages makes more calls than it saves pages. */
enum { FEWEST_PAGES = 2 };

/* Can the arena's own pages be moved there, so many? */
static bool can_move(const struct gm_lookup *lookup, size_t pages)
{
	return gm_stale_lender(lookup->heap, lookup->arena) &&
	       pages <= gm_stale_left(lookup->heap) &&
	       pages <= lookup->arena->index.whole_pages &&
	       !gm_capture_forbids(lookup->heap, lookup->attempt) &&
	       !gm_arena_capturing(lookup->arena, lookup->attempt);
}

/* Is it certain that there are so many pages to be moved? */
static bool is_certain(const struct gm_lookup *lookup, size_t pages)
{
	struct gm_heap *heap = lookup->heap;

	return gm_space_now_bytes(heap, lookup->attempt, lookup->arena->stream,
				  0) >= pages * heap->page_bytes;
}

/* Does the block fit somewhere as it is, be it in what another stream is done
 * with, which passes to this one? */
static bool fits(struct gm_lookup *lookup)
{
	const struct gm_want *want = lookup->want;
	size_t pages;

	if (!lookup->extent && gm_lookup_borrow(lookup, SIZE_MAX)) {
		lookup->attempt->served = GPUMEM_SERVED_STREAMS;
		lookup->extent =
			gm_place_free(lookup->arena, want->bytes, &pages);
	}
	return lookup->extent;
}

/* Is a growth that takes so many pages better than what fits? Where the limit
 * is near new ones may be what it takes; else they are not worth it. One that
 * fails may have taken apart what fitted, so it is certain, or nothing does. */
static bool may_grow(struct gm_lookup *lookup, size_t pages, bool is_short)
{
	return is_short ? is_certain(lookup, pages) || !fits(lookup)
			: can_move(lookup, pages);
}

/* Where so many pages would be taken: takes a growth fewer, and may it? */
static bool grows_better(struct gm_lookup *lookup, size_t pages, bool is_short)
{
	const struct gm_heap *heap = lookup->heap;
	const struct gm_want *want = lookup->want;
	size_t fewer;

	if (want->flags & NO_GROW ||
	    want->bytes < FEWEST_PAGES * heap->page_bytes ||
	    pages <= gm_place_least(heap, want->bytes))
		return false;
	fewer = gm_place_growth(lookup->arena, lookup->attempt, want->bytes);
	return fewer < pages && may_grow(lookup, fewer, is_short);
}

/* With few pages left, a block goes where it takes the fewest of which nothing
 * is used, be it that others have to be moved there. */
bool gm_lookup_fewest_pages(struct gm_lookup *lookup)
{
	struct gm_heap *heap = lookup->heap;
	const struct gm_want *want = lookup->want;
	enum gm_care care;
	bool is_short;
	size_t pages;

	if (want->alignment > heap->unit)
		return false;
	care = gm_price_care(heap, lookup->attempt, want->bytes);
	is_short = care == GM_CARE_LIMIT;
	if (!is_short && (want->bytes < FEWEST_PAGES * heap->page_bytes ||
			  care == GM_CARE_NONE))
		return false;
	if (want->bytes >= heap->page_bytes)
		(void)gm_lookup_flush_own(lookup);
	lookup->extent = gm_place_free(lookup->arena, want->bytes, &pages);
	if (!grows_better(lookup, pages, is_short))
		return lookup->extent;
	if (gm_lookup_grow(lookup, true))
		return true;
	/* What is free may be in other extents now. */
	lookup->extent = gm_place_free(lookup->arena, want->bytes, &pages);
	return lookup->extent;
}

bool gm_lookup_flush_own(struct gm_lookup *lookup)
{
	gm_locals_flush_own(lookup->heap);
	gm_slabs_purge(lookup->arena);
	return true;
}
