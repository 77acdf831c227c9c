/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Which stale places are unmapped first: those beside free memory. */
#include "moved.h"

/* A stale place of a page, the oldest; one of three, below three free pages;
 * and one of two, above them. Elsewhere so many pages are free. */
static struct gm_extent *make_stale(size_t elsewhere,
				    struct gm_extent **above_oldest)
{
	struct gm_extent *oldest, *low, *middle, *high, *page;

	begin();
	block(own, PAGE);
	oldest = block(own, PAGE);
	*above_oldest = block(own, PAGE);
	low = block(own, 3 * PAGE);
	middle = block(own, 3 * PAGE);
	high = block(own, 2 * PAGE);
	block(own, PAGE);
	page = block(own, elsewhere * PAGE);
	block(own, PAGE);
	move_away(oldest);
	block_give(own, low);
	block_take_aligned(own, 3 * PAGE, FAR);
	block_give(own, high);
	block_take_aligned(own, 2 * PAGE, FAR);
	block_give(own, middle);
	block_give(own, page);
	gm_arena_poll(own, true);
	is_uint(heap.space->stale.handles, 6, "six pages are mapped twice");
	return middle;
}

static size_t hole_below(const struct gm_extent *extent)
{
	extent = gm_extent_prev(&heap.nodes, extent);
	return gm_extent_is(extent, GM_EXTENT_HOLE) ? extent->bytes : 0;
}

static size_t hole_above(const struct gm_extent *extent)
{
	extent = gm_extent_next(&heap.nodes, extent);
	return gm_extent_is(extent, GM_EXTENT_HOLE) ? extent->bytes : 0;
}

static void test_beside(void)
{
	struct gm_extent *above_oldest, *middle = make_stale(1, &above_oldest);

	is_uint(gm_stale_retire_beside(&heap, 2), 2, "two that border on it");
	is_uint(hole_below(middle), 2 * PAGE, "next to what is free");
	sound("with a place cut");
	is_uint(gm_stale_retire_beside(&heap, 1), 1, "one above");
	is_uint(hole_above(middle), PAGE, "next to it, too");
	is_uint(gm_stale_retire_beside(&heap, 9), 0,
		"what is left does not border on it");
	is_uint(hole_below(above_oldest), 0, "the oldest stays");
	end();
}

/* What is not known to be over stays mapped. */
static void test_beside_busy(void)
{
	struct gm_extent *above_oldest;

	(void)make_stale(1, &above_oldest);
	own->completed = 0;
	is_uint(gm_stale_retire_beside(&heap, 9), 0, "nothing that is busy");
	gm_arena_poll(own, true);
	end();
}

/* With each lending, where much is stale. */
static void test_much(void)
{
	struct gm_extent *above_oldest, *middle = make_stale(1, &above_oldest);

	heap.space->stale.places = 0;
	block_take_aligned(own, PAGE, FAR);
	is_uint(heap.space->stale.handles, 5, "one is lent, two are unmapped");
	is_uint(hole_below(middle), 2 * PAGE, "beside what is free");
	is_uint(hole_below(above_oldest), 0, "before the oldest");
	end();
}

static void test_much_more(void)
{
	struct gm_extent *above_oldest;

	(void)make_stale(2, &above_oldest);
	is_uint(gm_stale_retire_beside(&heap, 3), 3, "those below it");
	heap.space->stale.places = 0;
	block_take_aligned(own, 2 * PAGE, FAR);
	is_uint(heap.space->stale.handles, 1,
		"two are lent, four are unmapped");
	ok(hole_below(above_oldest), "the oldest after those above");
	end();
}

int main(void)
{
	alarm(60);
	device_start();
	test_beside();
	test_beside_busy();
	test_much();
	test_much_more();
	device_end();
	return done_testing();
}
