/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The free extents of one arena, in two orders:
 *
 * - by (bytes, address), for best fit: bins of sizes, eight per doubling, with
 *   a bitmap of those in use, and in each bin a tree;
 * - by (whole pages, address), for what can be given back or moved: one tree.
 *
 * The trees are treaps whose priorities are hashes of the addresses, so that a
 * node needs two links and no balance word (Seidel and Aragon, Randomized
 * Search Trees, 1996); insertion and removal unzip and zip from the top
 * (Tarjan, Levy and Timmel, Zip Trees, 2019). Expected cost is logarithmic.
 *
 *     extent in the index  <=>  state FREE and arena is the index's
 *     bit b of the map set <=>  tree[b] is not empty
 *     in the page tree     <=>  it holds a whole page
 *
 * The heap's mutex guards it.
 */
#ifndef GM_HEAP_INDEX_H
#define GM_HEAP_INDEX_H

#include "extent.h"

enum { GM_INDEX_BINS = 320, GM_INDEX_WORDS = GM_INDEX_BINS / 64 };

struct gm_index {
	uint64_t map[GM_INDEX_WORDS];
	struct gm_extent *tree[GM_INDEX_BINS];
	struct gm_extent *pages;
	size_t page_bytes;  /* 0: no second order */
	size_t bytes;	    /* of all extents in it */
	size_t whole_pages; /* in all of them */
	size_t count;
};

void gm_index_init(struct gm_index *index, size_t page_bytes);
void gm_index_insert(struct gm_index *index, struct gm_extent *extent);
void gm_index_remove(struct gm_index *index, struct gm_extent *extent);

/* The smallest extent of at least `bytes`, lowest address first; or NULL. */
struct gm_extent *gm_index_fit(const struct gm_index *index, size_t bytes);
/* The next one in that order, or NULL. */
struct gm_extent *gm_index_next(const struct gm_index *index,
				const struct gm_extent *extent);
/* The largest extent, or NULL. */
struct gm_extent *gm_index_largest(const struct gm_index *index);

/* Extents by falling number of whole pages: the first, and the one after. */
struct gm_extent *gm_index_most_pages(const struct gm_index *index);
struct gm_extent *gm_index_fewer_pages(const struct gm_index *index,
				       const struct gm_extent *extent);
/* Any extent, or NULL. */
struct gm_extent *gm_index_any(const struct gm_index *index);

#endif
