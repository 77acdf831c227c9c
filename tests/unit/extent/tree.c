/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Trees of extents: their order, and how deep they are. */
#include "extent/tree.h"
#include "../../tap.h"

enum { DEEP = 20000 };

static struct gm_extent deep[DEEP + 1];
static const struct gm_nodes many = {.node = deep};

static unsigned depth(uint32_t number)
{
	unsigned l, r;

	if (!number)
		return 0;
	l = depth(deep[number].left);
	r = depth(deep[number].right);
	return 1 + (l > r ? l : r);
}

/* Neighbours by address, all of one size, in order: the worst there is for a
 * tree that is not balanced. */
static void test_depth(void)
{
	const struct gm_key least = {0};
	bool ordered = true;
	uint32_t root = 0;

	srand(4);
	for (size_t i = 1; i <= DEEP; i++) {
		deep[i] = (struct gm_extent){.address = i << 21, .bytes = 4096};
		gm_tree_insert(&many, &root, &deep[i]);
	}
	ok(depth(root) < 60, "%d in a row make no deep tree: %u", DEEP,
	   depth(root));
	for (long i = 0; i < scaled(200000, 50000); i++) {
		struct gm_extent *e = &deep[1 + (size_t)rand() % DEEP];

		gm_tree_remove(&many, &root, e);
		gm_tree_insert(&many, &root, e);
	}
	ok(depth(root) < 60, "nor does going in and out: %u", depth(root));
	for (size_t i = 1; i <= DEEP; i++) {
		ordered = ordered &&
			  gm_tree_ceiling(&many, root, least) == &deep[i] &&
			  gm_tree_last(&many, root) == &deep[DEEP];
		gm_tree_remove(&many, &root, &deep[i]);
	}
	ok(ordered, "the first and the last are found while it shrinks");
	is_uint(root, 0, "nothing is left");
}

/* A key is its own ceiling. */
static void test_borders(void)
{
	struct gm_extent four[4] = {
		{0},
		{.address = 4096, .bytes = 512},
		{.address = 8192, .bytes = 512},
		{.address = 1024, .bytes = 768},
	};
	const struct gm_nodes few = {.node = four};
	struct gm_key key = {.bytes = 512, .address = 8192};
	uint32_t root = 0;

	is_ptr(gm_tree_last(&few, root), NULL, "the last of none");
	for (int i = 1; i < 4; i++)
		gm_tree_insert(&few, &root, &four[i]);
	is_ptr(gm_tree_ceiling(&few, root, key), &four[2], "the same key");
	key.address++;
	is_ptr(gm_tree_ceiling(&few, root, key), &four[3],
	       "size comes before address");
	is_ptr(gm_tree_last(&few, root), &four[3], "also for the last");
	key = (struct gm_key){.bytes = 769};
	is_ptr(gm_tree_ceiling(&few, root, key), NULL,
	       "nothing above the last");
}

int main(void)
{
	test_borders();
	test_depth();
	return done_testing();
}
