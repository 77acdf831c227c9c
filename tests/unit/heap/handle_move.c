/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Handles of several pages move only whole, and single pages to be one again,
 * whatever the driver refuses. How large they are, and that they go back, is in
 * handle.c; that they break in handle_break.c. */
#include "handle.h"

/* Whole handles move and keep what is beside them. */
static void test_steal(void)
{
	struct gm_extent *extent[8], *large;
	unsigned lost = 0;
	uint64_t creates;

	restart();
	for (int i = 0; i < 8; i++) {
		extent[i] = block(arena, 64 * PAGE);
		touch(extent[i]);
		*(volatile int *)extent[i]->address = i;
	}
	for (int i = 0; i < 8; i += 2)
		block_give(arena, extent[i]);
	creates = calls(GPUMEM_CALL_PAGE_CREATE);
	heap.space->budget.waste = 0;
	large = block(arena, 256 * PAGE);
	touch(large);
	is_pages(512, "no more is taken");
	is_uint(calls(GPUMEM_CALL_PAGE_CREATE), creates, "nothing is new");
	is_uint(handles(), 64, "the handles are as they were");
	is_uint(heap.counters.moved_bytes % (8 * PAGE), 0, "whole ones moved");
	is_uint(heap.space->budget.migrated_handles * 8 * PAGE,
		heap.counters.moved_bytes,
		"each pays as much migrations as a page would");
	for (int i = 1; i < 8; i += 2)
		lost += *(volatile int *)extent[i]->address != i;
	is_uint(lost, 0, "the others are untouched");
	sound("moved");
}

/* So many single pages and so many large extents that are free, each with a
 * page that is used behind it; and nothing may be wasted. */
static void mix(int singles, int large_extents, size_t pages)
{
	struct gm_extent *extent[32];
	int count = singles + large_extents;

	for (int i = 0; i < count; i++) {
		extent[i] = block(arena, (i < singles ? 1 : pages) * PAGE);
		block(arena, PAGE);
	}
	for (int i = 0; i < count; i++)
		block_give(arena, extent[i]);
	heap.space->budget.waste = 0;
	heap.counters.highest_allocated = heap.counters.allocated.current;
}

static void begin_mixed(int singles, int large_extents, size_t pages)
{
	restart();
	mix(singles, large_extents, pages);
}

/* Large handles first, though small ones lie in smaller extents. */
static void test_steal_large(void)
{
	begin_mixed(16, 2, 64);
	touch(block_take_aligned(arena, 75 * PAGE, 4096 * MIB));
	is_uint(heap.counters.moved_bytes, 75 * PAGE, "what is wanted moves");
	is_uint(heap.space->budget.migrated_handles, 9 + 3,
		"in as few handles as can be");
	is_uint(calls(GPUMEM_CALL_UNMAP), 2 + 3, "and few calls");
	sound("large ones first");
}

/* Spare ones stay what they are: nothing goes while a stream is captured. */
static void test_keep_small(void)
{
	struct gm_extent *unused;

	restart();
	unused = block(arena, 4 * PAGE);
	block(arena, PAGE);
	for (size_t pages = 7; pages < 16; pages++) {
		must(gpumem_host_faults("map@1"));
		ok(!block_take(arena, pages * PAGE), "%zu do not map", pages);
		must(gpumem_host_faults(NULL));
	}
	is_uint(heap.space->spare_count, 15, "single pages are spare");
	heap.space->budget.waste = 0;
	heap.counters.highest_allocated = heap.counters.allocated.current;
	block_give(arena, unused);
	must(gpumem_host_capture(0, NULL, true));
	touch(block_take(arena, 79 * PAGE));
	must(gpumem_host_capture(0, NULL, false));
	is_uint(calls(GPUMEM_CALL_PAGE_DESTROY), 0, "they are used");
	is_uint(handles(), 5 + 15 + 8, "besides eight new ones");
	sound("captured");
}

/* The stock takes no handle that is larger than what is missing, and counts
 * those that it has. */
static void test_stock(void)
{
	uint64_t migrations;

	restart_of(2080 * PAGE);
	mix(12, 1, 32);
	is_uint(gm_spare_stock(&heap), 8, "eight pages may be spare");
	touch(block_take_aligned(arena, PAGE, 4096 * MIB));
	is_uint(heap.space->budget.migrated_handles, 1 + 8,
		"nine single ones move");
	touch(block_take_aligned(arena, 8 * PAGE, 4096 * MIB));
	touch(block_take_aligned(arena, 8 * PAGE, 4096 * MIB));
	is_uint(heap.space->spare_count, 2,
		"two handles of four pages are spare");
	migrations = heap.space->budget.migrated_handles;
	touch(block_take_aligned(arena, PAGE, 4096 * MIB));
	is_uint(heap.space->budget.migrated_handles - migrations, 1,
		"then the stock is full");
	sound("stock");
}

/* Where the driver has no more, handles of all sizes of an extent move. */
static void test_steal_mixed(void)
{
	struct gm_extent *extent;

	restart_with(BALLAST + 67 * PAGE);
	heap.space->budget.waste = 0.5;
	extent = block(arena, 67 * PAGE);
	block_give(arena, extent);
	extent = block_take_aligned(arena, 67 * PAGE, 4096 * MIB);
	if (ok(extent != NULL, "it is found room for elsewhere"))
		touch(extent);
	is_uint(heap.counters.moved_bytes, 67 * PAGE, "all of them moved");
	is_uint(calls(GPUMEM_CALL_PAGE_DESTROY), 0, "none broke");
	is_pages(67, "no more is taken");
	sound("mixed");
}

int main(void)
{
	/* What a capture may forbid: in_capture.c is about the rest. */
	option("host.capture_frees", "off");
	handles_start();
	/* What moves is unmapped, not lent. */
	option("alias", "off");
	test_steal();
	test_steal_large();
	test_keep_small();
	test_stock();
	test_steal_mixed();
	heap_end();
	device_end();
	return done_testing();
}
