/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The free extents of one arena, in two orders, each in bins that are so many
 * per doubling, with a bitmap of those in use:
 *
 * - by (bytes, address), for best fit: in each bin a tree (tree.h);
 * - by whole pages, for what can be given back or moved: in each bin a ring
 *   (ring.h), exact for small numbers and nearly so for large ones.
 *
 *     extent in the index    <=>  state FREE and arena is the index's
 *     bit b of size_map set  <=>  tree[b] is not empty
 *     bit b of page_map set  <=>  ring[b] is not empty
 *     in a ring              <=>  it holds a whole page
 *
 * The heap's mutex guards it.
 */
#ifndef GM_EXTENT_INDEX_H
#define GM_EXTENT_INDEX_H

#include "bins.h"
#include "extent.h"

/* Sizes count in units of 256 bytes. In the last bins is what is larger too. */
enum {
	GM_SIZE_BINS = GM_BINS_BELOW(32), /* 1 TiB */
	GM_PAGE_BINS = GM_BINS_BELOW(17)  /* 256 GiB in pages of 2 MiB */
};

struct gm_index {
	const struct gm_nodes *nodes;
	size_t page_bytes;  /* 0: no second order */
	size_t bytes;	    /* of all extents in it */
	size_t whole_pages; /* in all of them */
	size_t count;
	uint64_t size_map[GM_SIZE_BINS / 64];
	uint64_t page_map[GM_PAGE_BINS / 64];
	uint32_t tree[GM_SIZE_BINS];
	uint32_t ring[GM_PAGE_BINS];
};

void gm_index_init(struct gm_index *index, const struct gm_nodes *nodes,
		   size_t page_bytes);
void gm_index_insert(struct gm_index *index, struct gm_extent *extent);
void gm_index_remove(struct gm_index *index, struct gm_extent *extent);
/* Takes all extents out, linked by `left`. Returns the number of the first. By
 * their sizes: what becomes of them must not depend on where in memory the
 * driver's addresses are, as the roots of trees do, or no run would be as the
 * last. */
uint32_t gm_index_take_all(struct gm_index *index);

/* The smallest extent of at least `bytes`, lowest address first; or NULL. */
struct gm_extent *gm_index_fit(const struct gm_index *index, size_t bytes);
/* The next one in that order, or NULL. */
struct gm_extent *gm_index_next(const struct gm_index *index,
				const struct gm_extent *extent);
/* The largest extent, or NULL. */
struct gm_extent *gm_index_largest(const struct gm_index *index);

/*
 * Extents by falling number of whole pages, exact to the bin: the first, and
 * the one after. What is inserted during such a walk comes later in it if it
 * has fewer pages than the extent where the walk is.
 */
struct gm_extent *gm_index_most_pages(const struct gm_index *index);
struct gm_extent *gm_index_fewer_pages(const struct gm_index *index,
				       const struct gm_extent *extent);
/* The other way round: the first with at least so many pages, and the one
 * after. What has fewer pages than the extent where the walk is, and is in
 * another bin, it does not meet any more. */
struct gm_extent *gm_index_least_pages(const struct gm_index *index,
				       size_t pages);
struct gm_extent *gm_index_more_pages(const struct gm_index *index,
				      const struct gm_extent *extent);

/* The bins that an extent belongs in: of sizes, and of numbers of pages. */
unsigned gm_index_size_bin(size_t bytes);
unsigned gm_index_page_bin(size_t pages);
/* How many whole pages of it count. */
size_t gm_index_pages(const struct gm_index *index,
		      const struct gm_extent *extent);

#endif
