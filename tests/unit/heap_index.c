/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The index of free extents and its trees, against arrays that are searched
 * from end to end. */
#include "heap/index.h"
#include "heap/tree.h"
#include "../tap.h"

enum { EXTENTS = 160, DEEP = 20000 };

static struct gm_extent extent[EXTENTS];
static bool inside[EXTENTS];
static struct gm_index subject;

static uint64_t chance_state = 88172645463325252u;

static uint64_t chance(uint64_t below)
{
	chance_state ^= chance_state << 13;
	chance_state ^= chance_state >> 7;
	chance_state ^= chance_state << 17;
	return (chance_state >> 11) % below;
}

/* Sizes of every order, many of them equal, some odd, some larger than any bin.
 */
static size_t random_bytes(void)
{
	switch (chance(8)) {
	case 0:
		return 1 + chance(4096);
	case 1:
		return ((size_t)1 << (50 + chance(5))) + 256 * chance(3);
	case 2:
		return 256 * (1 + chance(8));
	case 3:
		return (size_t)1 << (8 + chance(40));
	default:
		return 256 * (1 + chance((uint64_t)1 << chance(30)));
	}
}

static size_t pages_of(const struct gm_extent *e, size_t page)
{
	size_t first = (e->address + page - 1) / page;
	size_t end = (e->address + e->bytes) / page;

	return page && end > first ? end - first : 0;
}

/* The naive order: by size or by pages, then by address. */
static bool less(const struct gm_extent *a, const struct gm_extent *b,
		 size_t page)
{
	size_t x = page ? pages_of(a, page) : a->bytes;
	size_t y = page ? pages_of(b, page) : b->bytes;

	return x != y ? x < y : a->address < b->address;
}

static struct gm_extent *naive_fit(size_t bytes)
{
	struct gm_extent *best = NULL;

	for (size_t i = 0; i < EXTENTS; i++)
		if (inside[i] && extent[i].bytes >= bytes &&
		    (!best || less(&extent[i], best, 0)))
			best = &extent[i];
	return best;
}

/* The last in the order of pages that is before `end`; NULL: the last. */
static struct gm_extent *naive_fewer(const struct gm_extent *end, size_t page)
{
	struct gm_extent *best = NULL;

	for (size_t i = 0; i < EXTENTS; i++) {
		struct gm_extent *e = &extent[i];

		if (!inside[i] || !pages_of(e, page) ||
		    (end && !less(e, end, page)))
			continue;
		if (!best || less(best, e, page))
			best = e;
	}
	return best;
}

static unsigned wrong_sums(size_t page)
{
	size_t bytes = 0, pages = 0, count = 0;
	struct gm_extent *largest = NULL, *any = gm_index_any(&subject);
	unsigned wrong = 0;

	for (size_t i = 0; i < EXTENTS; i++) {
		if (!inside[i])
			continue;
		count++;
		bytes += extent[i].bytes;
		pages += page ? pages_of(&extent[i], page) : 0;
		if (!largest || less(largest, &extent[i], 0))
			largest = &extent[i];
	}
	wrong += subject.bytes != bytes;
	wrong += subject.count != count;
	wrong += subject.whole_pages != pages;
	wrong += gm_index_largest(&subject) != largest;
	wrong += !any != !count || (any && !inside[any - extent]);
	for (unsigned i = 0; i < GM_INDEX_BINS; i++)
		wrong += !subject.tree[i] !=
			 !(subject.map[i / 64] >> (i % 64) & 1);
	return wrong;
}

/* The whole walk by falling number of pages. */
static unsigned wrong_walk(size_t page)
{
	struct gm_extent *at = gm_index_most_pages(&subject), *want = NULL;

	if (!page)
		return at != NULL;
	for (;; at = gm_index_fewer_pages(&subject, at)) {
		want = naive_fewer(want, page);
		if (at != want)
			return 1;
		if (!at)
			return 0;
	}
}

static void toggle(size_t i)
{
	if (inside[i]) {
		gm_index_remove(&subject, &extent[i]);
		inside[i] = false;
		return;
	}
	extent[i] = (struct gm_extent){
		.address = ((uintptr_t)i << 56) + 256 * chance(1 << 24),
		.bytes = random_bytes(),
	};
	gm_index_insert(&subject, &extent[i]);
	inside[i] = true;
}

static void test_model(size_t page)
{
	long rounds = scaled(6000, 600);
	unsigned fits = 0, sums = 0, walks = 0;

	gm_index_init(&subject, page);
	memset(inside, 0, sizeof(inside));
	for (long round = 0; round < rounds; round++) {
		/* Full, empty, and everything between. */
		size_t some = 1 + (size_t)(round / 50 % EXTENTS);

		toggle(chance(some));
		for (int k = 0; k < 8; k++) {
			size_t bytes = random_bytes();

			if (k < 2)
				bytes = extent[chance(EXTENTS)].bytes + k;
			fits += gm_index_fit(&subject, bytes) !=
				naive_fit(bytes);
		}
		sums += wrong_sums(page);
		walks += wrong_walk(page);
	}
	is_uint(fits, 0, "pages of %zu: the best fit, lowest address", page);
	is_uint(sums, 0, "pages of %zu: sums, bits and the largest", page);
	is_uint(walks, 0, "pages of %zu: the order by pages", page);
	for (size_t i = 0; i < EXTENTS; i++)
		if (inside[i])
			toggle(i);
	is_uint(wrong_sums(page), 0, "pages of %zu: empty in the end", page);
	ok(!subject.pages && !gm_index_fit(&subject, 1) &&
		   !gm_index_largest(&subject),
	   "pages of %zu: nothing is left", page);
}

/* ---- the trees alone ---- */

static struct gm_extent deep[DEEP];

static unsigned depth(const struct gm_extent *e)
{
	unsigned l, r;

	if (!e)
		return 0;
	l = depth(e->left);
	r = depth(e->right);
	return 1 + (l > r ? l : r);
}

/* Neighbours by address, all of one size, in order: the worst there is for a
 * tree that is not balanced. */
static void test_depth(void)
{
	struct gm_extent *root = NULL;
	const struct gm_key first = {0}, last = {.major = SIZE_MAX};
	bool ordered = true;

	for (size_t i = 0; i < DEEP; i++) {
		deep[i] = (struct gm_extent){.address = (i + 1) << 21,
					     .bytes = 4096};
		gm_tree_insert(&root, &deep[i], 0);
	}
	ok(depth(root) < 60, "%d in a row make no deep tree: %u", DEEP,
	   depth(root));
	for (long i = 0; i < scaled(200000, 50000); i++) {
		struct gm_extent *e = &deep[chance(DEEP)];

		gm_tree_remove(&root, e, 0);
		gm_tree_insert(&root, e, 0);
	}
	ok(depth(root) < 60, "nor does going in and out: %u", depth(root));
	for (size_t i = 0; i < DEEP; i++) {
		ordered = ordered &&
			  gm_tree_ceiling(root, first, 0) == &deep[i] &&
			  gm_tree_below(root, last, 0) == &deep[DEEP - 1];
		if (i < DEEP - 1)
			gm_tree_remove(&root, &deep[i], 0);
	}
	ok(ordered, "the first and the last are found while it shrinks");
	gm_tree_remove(&root, &deep[DEEP - 1], 0);
	is_ptr(root, NULL, "nothing is left");
}

/* A key itself is not below itself, and is its own ceiling. */
static void test_borders(void)
{
	struct gm_extent *root = NULL, three[3] = {
					       {.address = 4096, .bytes = 512},
					       {.address = 8192, .bytes = 512},
					       {.address = 1024, .bytes = 768},
				       };
	struct gm_key key = {.major = 512, .minor = 8192};

	for (int i = 0; i < 3; i++)
		gm_tree_insert(&root, &three[i], 0);
	is_ptr(gm_tree_ceiling(root, key, 0), &three[1], "the same key");
	is_ptr(gm_tree_below(root, key, 0), &three[0], "the one below it");
	key.minor++;
	is_ptr(gm_tree_ceiling(root, key, 0), &three[2],
	       "size comes before address");
	is_ptr(gm_tree_below(root, key, 0), &three[1], "below a key between");
	key = (struct gm_key){.major = 512, .minor = 4096};
	is_ptr(gm_tree_below(root, key, 0), NULL, "nothing below the first");
	key = (struct gm_key){.major = 769};
	is_ptr(gm_tree_ceiling(root, key, 0), NULL, "nothing above the last");
}

int main(void)
{
	test_borders();
	test_depth();
	test_model(0);
	test_model(4096);
	test_model(2 << 20);
	return done_testing();
}
