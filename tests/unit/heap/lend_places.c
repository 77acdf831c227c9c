/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* How many pages are lent where places are few: each may be one of a handle of
 * several pages. What happens without any place is in places.c. */
#include "handle.h"

static void nothing(void *arg)
{
	(void)arg;
}

/* Two extents of eight handles, of eight pages each, with work behind them. */
static void begin(size_t places)
{
	struct gm_extent *freed[2];

	restart();
	for (int i = 0; i < 2; i++) {
		freed[i] = block(arena, 64 * PAGE);
		touch(freed[i]);
		touch(block(arena, 8 * PAGE));
	}
	must(gpumem_host_launch(0, NULL, nothing, NULL));
	for (int i = 0; i < 2; i++)
		block_give(arena, freed[i]);
	heap.space->budget.waste = 0;
	heap.counters.highest_allocated = heap.counters.allocated.current;
	heap.space->stale.most = places;
}

static void end(void)
{
	sound("lent");
	must(gm_stream_sync(device, NULL));
}

static void test_large(void)
{
	begin(20);
	touch(block_take_aligned(arena, 128 * PAGE, 4096 * MIB));
	is_pages(144,
		 "nothing is new: more pages are lent than places are left");
	is_uint(heap.space->stale.handles, 16, "as each place has eight");
	end();
}

static void test_few(void)
{
	begin(11);
	touch(block_take_aligned(arena, 128 * PAGE, 4096 * MIB));
	is_uint(heap.space->stale.handles, 11, "as many places as may be");
	is_pages(144 + 128 - 88, "and what they do not have is new");
	end();
}

int main(void)
{
	handles_start();
	must(gpumem_host_hold(0, NULL, true));
	test_large();
	test_few();
	heap_end();
	must(gpumem_host_hold(0, NULL, false));
	device_end();
	return done_testing();
}
