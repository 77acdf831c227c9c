/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of pages: the model of a heap with virtual memory (space/space.h), and
 * what it can do beyond that. A free extent's pages can serve at other
 * addresses:
 *
 *     a page is stolen      in a growth only: steal.c unmaps whole handles of
 *                           free extents whose last use has completed, supply.c
 *                           takes them, fill.c maps them where needed
 *     a page is lent        by a stream to itself, before its last use has
 *                           completed: its old place is stale (stale.h)
 *
 * handle.h is between the files of this module. The heap's mutex guards it.
 */
#ifndef GM_PAGES_PAGES_H
#define GM_PAGES_PAGES_H

#include "stale.h"
#include "extent/map.h"
#include "space/space.h"

/* Large spans begin at multiples of a region of the map (map.h), so that heaps
 * rarely share one. Pages larger than that would not begin at multiples of
 * themselves. */
#define GM_SPAN_ALIGNMENT (1ull << GM_REGION_SHIFT)
#define GM_PAGE_BYTES_MAX GM_SPAN_ALIGNMENT

extern const struct gm_model gm_pages;

/* place.c: how few pages of which nothing is used so much can take; a free
 * extent of the arena at whose front it takes the fewest, the smallest of
 * those, and how many (NULL: none is long enough); and how many it takes where
 * a growth would put it. */
size_t gm_place_least(const struct gm_heap *heap, size_t bytes);
struct gm_extent *gm_place_free(const struct gm_arena *arena, size_t bytes,
				size_t *pages_out);
size_t gm_place_growth(const struct gm_arena *arena,
		       const struct gm_attempt *attempt, size_t bytes);

/*
 * A growth at one place: the first `hole_bytes` of a hole, rounded up to pages,
 * become free memory of `arena`, for `bytes` that become active there. The free
 * extents on both sides of the hole are not stolen from. in_order: what is used
 * there comes after all earlier work of the arena's stream.
 * On failure some of it may be free memory. Statuses as of gm_space_grow().
 */
gpumem_status gm_pages_extend(struct gm_heap *heap, struct gm_attempt *attempt,
			      struct gm_arena *arena, struct gm_extent *hole,
			      size_t hole_bytes, size_t bytes, bool in_order);

/* check_pages.c, as extent/check.h has it: no page that lies wholly in a free
 * extent has a later number; what no block has begins and ends where a handle
 * does. */
gpumem_status gm_check_borders(const struct gm_heap *heap,
			       const struct gm_extent *extent);
/* Of an extent that is being mapped, what is not. */
uint64_t gm_pages_unmapped_bytes(const struct gm_heap *heap,
				 const struct gm_extent *extent);

#endif
