/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Nodes, and extents that are cut and joined at random, against the array of
 * places where they are cut. */
#include "heap/extent.h"
#include "../tap.h"

enum { PLACES = 64, UNIT = 256 };

static const uintptr_t base = 1 << 24;
static struct gm_nodes nodes;

static void test_nodes(void)
{
	struct gm_extent *taken[1000];
	size_t distinct = 0, zero = 0, ready;

	is_status(gm_nodes_reserve(&nodes, 0), GPUMEM_OK, "none is reserved");
	is_uint(nodes.free_count, 0, "and none is there");
	is_status(gm_nodes_reserve(&nodes, 1000), GPUMEM_OK, "1000 are");
	ready = nodes.free_count;
	ok(ready >= 1000, "and there");
	for (size_t i = 0; i < 1000; i++) {
		static const struct gm_extent none;

		taken[i] = gm_nodes_take(&nodes);
		zero += memcmp(taken[i], &none, sizeof(none)) == 0;
		/* What was handed out once is not clean any more. */
		memset(taken[i], 0xee, sizeof(none));
		taken[i]->address = i;
	}
	for (size_t i = 0; i < 1000; i++)
		distinct += taken[i]->address == i;
	is_uint(zero, 1000, "all zeroed");
	is_uint(distinct, 1000, "no two are the same");
	is_uint(nodes.free_count, ready - 1000, "so many less are ready");
	for (size_t i = 0; i < 1000; i++)
		gm_nodes_give(&nodes, taken[i]);
	is_uint(nodes.free_count, ready, "given back, they are ready again");
	is_status(gm_nodes_reserve(&nodes, ready), GPUMEM_OK, "reserved again");
	is_uint(nodes.free_count, ready, "which makes no new ones");
	ok(nodes.bytes >= ready * sizeof(struct gm_extent),
	   "their bytes are counted");
}

/* cut[i]: an extent begins at place i. */
static bool cut[PLACES];
static struct gm_extent *first;

static struct gm_extent *at_place(size_t place)
{
	struct gm_extent *extent = first;

	while (extent && extent->address != base + place * UNIT)
		extent = extent->next;
	return extent;
}

/* The list from both ends has an extent per cut, without gaps. */
static unsigned compare(void)
{
	const struct gm_extent *extent = first, *prev = NULL;
	unsigned wrong = 0;

	for (size_t i = 0; i < PLACES; i++) {
		size_t end = i + 1;

		if (!cut[i])
			continue;
		while (end < PLACES && !cut[end])
			end++;
		if (!extent)
			return 1;
		wrong += extent->address != base + i * UNIT;
		wrong += extent->bytes != (end - i) * UNIT;
		wrong += extent->prev != prev;
		wrong += extent->state != GM_EXTENT_FREE;
		wrong += extent->ticket != 42;
		prev = extent;
		extent = extent->next;
	}
	return wrong + (extent != NULL);
}

static size_t count_cuts(void)
{
	size_t count = 0;

	for (size_t i = 0; i < PLACES; i++)
		count += cut[i];
	return count;
}

/* Cuts at the place, or joins what is cut there. */
static void toggle(size_t place)
{
	struct gm_extent *extent;
	size_t left = place;

	while (!cut[--left])
		continue;
	extent = at_place(left);
	if (cut[place])
		gm_extent_join(&nodes, extent);
	else
		gm_extent_split(&nodes, extent, (place - left) * UNIT);
	cut[place] = !cut[place];
}

static void test_cuts(void)
{
	long rounds = scaled(50000, 5000);
	size_t ready = nodes.free_count;
	unsigned wrong = 0;

	first = gm_nodes_take(&nodes);
	first->address = base;
	first->bytes = PLACES * UNIT;
	first->state = GM_EXTENT_FREE;
	first->ticket = 42;
	cut[0] = true;
	srand(2);
	for (long i = 0; i < rounds; i++) {
		toggle(1 + (size_t)rand() % (PLACES - 1));
		wrong += compare();
		wrong += nodes.free_count + count_cuts() != ready;
	}
	is_uint(wrong, 0, "cut and joined at random, the list has no gaps");
	while (first->next)
		gm_extent_join(&nodes, first);
	is_uint(first->bytes, PLACES * UNIT, "joined, it is as before");
	gm_nodes_give(&nodes, first);
	is_uint(nodes.free_count, ready, "and no node was lost");
}

/* A page is whole when all of its bytes lie in the extent. */
static void test_pages(void)
{
	const size_t page = 4096;
	unsigned wrong = 0;

	for (size_t from = 0; from <= 3 * page; from += UNIT) {
		for (size_t end = from + UNIT; end <= 4 * page; end += UNIT) {
			struct gm_extent extent = {.address = base + from,
						   .bytes = end - from};
			size_t count = 0, lowest = SIZE_MAX;

			for (size_t i = 0; i < 4; i++) {
				if (i * page < from || (i + 1) * page > end)
					continue;
				count++;
				if (lowest == SIZE_MAX)
					lowest = base + i * page;
			}
			wrong += gm_extent_pages(&extent, page) != count;
			wrong += count &&
				 gm_extent_first_page(&extent, page) != lowest;
			wrong += gm_extent_end(&extent) != base + end;
		}
	}
	is_uint(wrong, 0, "whole pages are counted, and found");
}

int main(void)
{
	test_nodes();
	test_cuts();
	test_pages();
	gm_nodes_fini(&nodes);
	ok(!nodes.free && !nodes.free_count && !nodes.bytes && !nodes.chunks,
	   "the store ends empty");
	return done_testing();
}
