/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Treaps over extents; see index.h for where they come from. */
#include "tree.h"

/* Both pairs of links have the same form, so one set of functions serves both
 * orders: `page_bytes` says which. */
static struct gm_extent **left(struct gm_extent *extent, size_t page_bytes)
{
	return page_bytes ? &extent->page_left : &extent->left;
}

static struct gm_extent **right(struct gm_extent *extent, size_t page_bytes)
{
	return page_bytes ? &extent->page_right : &extent->right;
}

static struct gm_key key_of(const struct gm_extent *extent, size_t page_bytes)
{
	return (struct gm_key){
		.major = page_bytes ? gm_extent_pages(extent, page_bytes)
				    : extent->bytes,
		.minor = extent->address,
	};
}

/* Addresses are distinct, and the multiplication (by 2^64 / golden ratio,
 * odd) and the shift are one to one: no two priorities are equal. */
static uint64_t priority(const struct gm_extent *extent)
{
	uint64_t hash = (uint64_t)extent->address * 0x9e3779b97f4a7c15u;

	hash ^= hash >> 32;
	return hash * 0x9e3779b97f4a7c15u;
}

void gm_tree_insert(struct gm_extent **root, struct gm_extent *extent,
		    size_t page_bytes)
{
	struct gm_key key = key_of(extent, page_bytes);
	uint64_t rank = priority(extent);
	struct gm_extent **link = root;
	struct gm_extent *at, **less, **more;

	while ((at = *link) && priority(at) > rank)
		link = gm_key_less(key, key_of(at, page_bytes))
			       ? left(at, page_bytes)
			       : right(at, page_bytes);
	*link = extent;
	less = left(extent, page_bytes);
	more = right(extent, page_bytes);
	while (at) {
		if (gm_key_less(key_of(at, page_bytes), key)) {
			*less = at;
			less = right(at, page_bytes);
			at = *less;
		} else {
			*more = at;
			more = left(at, page_bytes);
			at = *more;
		}
	}
	*less = *more = NULL;
}

void gm_tree_remove(struct gm_extent **root, struct gm_extent *extent,
		    size_t page_bytes)
{
	struct gm_key key = key_of(extent, page_bytes);
	struct gm_extent **link = root;
	struct gm_extent *a = *left(extent, page_bytes);
	struct gm_extent *b = *right(extent, page_bytes);

	while (*link != extent)
		link = gm_key_less(key, key_of(*link, page_bytes))
			       ? left(*link, page_bytes)
			       : right(*link, page_bytes);
	while (a && b) {
		if (priority(a) > priority(b)) {
			*link = a;
			link = right(a, page_bytes);
			a = *link;
		} else {
			*link = b;
			link = left(b, page_bytes);
			b = *link;
		}
	}
	*link = a ? a : b;
}

struct gm_extent *gm_tree_ceiling(struct gm_extent *root, struct gm_key key,
				  size_t page_bytes)
{
	struct gm_extent *best = NULL;

	while (root) {
		if (gm_key_less(key_of(root, page_bytes), key)) {
			root = *right(root, page_bytes);
		} else {
			best = root;
			root = *left(root, page_bytes);
		}
	}
	return best;
}

struct gm_extent *gm_tree_below(struct gm_extent *root, struct gm_key key,
				size_t page_bytes)
{
	struct gm_extent *best = NULL;

	while (root) {
		if (gm_key_less(key_of(root, page_bytes), key)) {
			best = root;
			root = *right(root, page_bytes);
		} else {
			root = *left(root, page_bytes);
		}
	}
	return best;
}
