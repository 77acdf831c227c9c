/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The treap of index.h, once for both orders: a tree is a root pointer and an
 * order, which says where in an extent the links are and what its key is.
 */
#ifndef GM_HEAP_TREE_H
#define GM_HEAP_TREE_H

#include "extent.h"

struct gm_key {
	size_t major;
	uintptr_t minor;
};

static inline bool gm_key_less(struct gm_key a, struct gm_key b)
{
	return a.major != b.major ? a.major < b.major : a.minor < b.minor;
}

/* page_bytes 0: the order by size; else the order by whole pages. */
void gm_tree_insert(struct gm_extent **root, struct gm_extent *extent,
		    size_t page_bytes);
void gm_tree_remove(struct gm_extent **root, struct gm_extent *extent,
		    size_t page_bytes);
/* The first whose key is not less than `key`. */
struct gm_extent *gm_tree_ceiling(struct gm_extent *root, struct gm_key key,
				  size_t page_bytes);
/* The last whose key is less than `key`. */
struct gm_extent *gm_tree_below(struct gm_extent *root, struct gm_key key,
				size_t page_bytes);

#endif
