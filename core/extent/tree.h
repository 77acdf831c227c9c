/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The trees of index.h: extents by size, then by address. A tree is the number
 * of its root, 0 when it is empty.
 *
 * They are treaps whose priorities are hashes of the addresses, so that a node
 * needs two links and no balance word (Seidel and Aragon, Randomized Search
 * Trees, 1996); insertion and removal unzip and zip from the top (Tarjan, Levy
 * and Timmel, Zip Trees, 2019). Expected cost is logarithmic.
 *
 *     left subtree < e < right subtree         by (bytes, address)
 *     priority(e) >= priorities in its subtrees
 *
 * The heap's mutex guards them.
 */
#ifndef GM_EXTENT_TREE_H
#define GM_EXTENT_TREE_H

#include "extent.h"

struct gm_key {
	size_t bytes;
	uintptr_t address;
};

static inline bool gm_key_less(struct gm_key a, struct gm_key b)
{
	return a.bytes != b.bytes ? a.bytes < b.bytes : a.address < b.address;
}

static inline struct gm_key gm_key_of(const struct gm_extent *extent)
{
	return (struct gm_key){extent->bytes, extent->address};
}

/* What a node keeps as its priority while it is in a tree. Two may have the
 * same, and either may be above. */
static inline uint32_t gm_tree_priority(const struct gm_extent *extent)
{
	uint64_t hash = (uint64_t)extent->address * 0x9e3779b97f4a7c15u;

	hash ^= hash >> 32;
	return (uint32_t)(hash * 0x9e3779b97f4a7c15u >> 32);
}

void gm_tree_insert(const struct gm_nodes *nodes, uint32_t *root,
		    struct gm_extent *extent);
void gm_tree_remove(const struct gm_nodes *nodes, uint32_t *root,
		    const struct gm_extent *extent);
/* The first whose key is not less than `key`, or NULL. */
struct gm_extent *gm_tree_ceiling(const struct gm_nodes *nodes, uint32_t root,
				  struct gm_key key);
/* The last, or NULL. */
struct gm_extent *gm_tree_last(const struct gm_nodes *nodes, uint32_t root);

#endif
