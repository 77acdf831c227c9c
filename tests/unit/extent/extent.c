/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Extents that are cut and joined at random, against the array of places where
 * they are cut. */
#include "extent/extent.h"
#include "../../tap.h"

enum { PLACES = 64, UNIT = 256 };

static const uintptr_t base = 1 << 24;
static struct gm_nodes nodes;

/* cut[i]: an extent begins at place i. */
static bool cut[PLACES];
static struct gm_extent *first;

static struct gm_extent *at_place(size_t place)
{
	struct gm_extent *extent = first;

	while (extent && extent->address != base + place * UNIT)
		extent = gm_extent_next(&nodes, extent);
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
		wrong += gm_extent_prev(&nodes, extent) != prev;
		wrong += extent->state != GM_EXTENT_FREE;
		wrong += extent->seqno != 42;
		prev = extent;
		extent = gm_extent_next(&nodes, extent);
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
	unsigned wrong = 0;
	size_t ready;

	if (gm_nodes_reserve(&nodes, PLACES))
		bail("no nodes");
	ready = nodes.free_count;
	first = gm_nodes_take(&nodes);
	first->address = base;
	first->bytes = PLACES * UNIT;
	first->state = GM_EXTENT_FREE;
	first->seqno = 42;
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
	gm_nodes_fini(&nodes);
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
	test_cuts();
	test_pages();
	return done_testing();
}
