/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Treaps over extents; see tree.h. */
#include "tree.h"

void gm_tree_insert(const struct gm_nodes *nodes, uint32_t *root,
		    struct gm_extent *extent)
{
	struct gm_key key = gm_key_of(extent);
	uint32_t priority = gm_tree_priority(extent);
	uint32_t *link = root, *less = &extent->left, *more = &extent->right;
	struct gm_extent *at;
	uint32_t number;

	while ((at = gm_node(nodes, *link)) && at->priority > priority)
		link = gm_key_less(key, gm_key_of(at)) ? &at->left : &at->right;
	extent->priority = priority;
	number = *link;
	*link = gm_node_number(nodes, extent);
	while ((at = gm_node(nodes, number))) {
		if (gm_key_less(gm_key_of(at), key)) {
			*less = number;
			less = &at->right;
			number = *less;
		} else {
			*more = number;
			more = &at->left;
			number = *more;
		}
	}
	*less = *more = 0;
}

void gm_tree_remove(const struct gm_nodes *nodes, uint32_t *root,
		    const struct gm_extent *extent)
{
	struct gm_key key = gm_key_of(extent);
	uint32_t number = gm_node_number(nodes, extent);
	uint32_t a = extent->left, b = extent->right;
	uint32_t *link = root;

	while (*link != number) {
		struct gm_extent *at = &nodes->node[*link];

		link = gm_key_less(key, gm_key_of(at)) ? &at->left : &at->right;
	}
	while (a && b) {
		struct gm_extent *low = &nodes->node[a];
		struct gm_extent *high = &nodes->node[b];

		if (low->priority > high->priority) {
			*link = a;
			link = &low->right;
			a = *link;
		} else {
			*link = b;
			link = &high->left;
			b = *link;
		}
	}
	*link = a ? a : b;
}

struct gm_extent *gm_tree_ceiling(const struct gm_nodes *nodes, uint32_t root,
				  struct gm_key key)
{
	struct gm_extent *best = NULL, *at;

	while ((at = gm_node(nodes, root))) {
		if (gm_key_less(gm_key_of(at), key)) {
			root = at->right;
		} else {
			best = at;
			root = at->left;
		}
	}
	return best;
}

struct gm_extent *gm_tree_last(const struct gm_nodes *nodes, uint32_t root)
{
	struct gm_extent *at = gm_node(nodes, root);

	while (at && at->right)
		at = &nodes->node[at->right];
	return at;
}
