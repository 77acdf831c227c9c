/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Handles of several pages that cannot be mapped are spare: they break only
 * whole, stay what they are in a capture, and are a stock. When one breaks or
 * moves that is in use is decide_pages.c's. */
#include "handle.h"

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
	no_waste();
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
	no_waste();
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

/* A spare handle breaks too, but not while a stream is captured. */
static void test_break_spare(void)
{
	restart();
	must(gpumem_host_faults("map@1"));
	ok(!block_take(arena, 64 * PAGE), "nothing can be mapped");
	must(gpumem_host_faults(NULL));
	set_limit(BALLAST + 64 * PAGE);
	is_uint(heap.space->spare_count, 8, "eight handles are spare");
	must(gpumem_host_faults("page_destroy@1+"));
	ok(!block_take(arena, PAGE), "none breaks that the driver keeps");
	must(gpumem_host_faults(NULL));
	is_uint(heap.space->spare_count, 8, "all are ours");
	sound("kept");
	must(gpumem_host_capture(0, NULL, true));
	ok(!block_take(arena, PAGE), "none breaks for a page in a capture");
	is_pages(64, "nothing went");
	must(gpumem_host_capture(0, NULL, false));
	is_uint(gpumem_host_capture_violations(), 0, "nothing is disturbed");
	touch(block(arena, PAGE));
	is_pages(64 - 8 + 1, "afterwards one does");
	must(heap_trim(0));
	is_pages(1, "spare ones are trimmed");
	sound("spare");
}

/* What is mapped when the second call of a growth fails is free memory, what is
 * not is spare; both are used by the next. */
static void test_half_mapped(void)
{
	restart();
	must(gpumem_host_faults("map@2"));
	ok(!block_take(arena, 67 * PAGE), "the small ones do not map");
	must(gpumem_host_faults(NULL));
	is_pages(67, "all was created");
	is_uint(heap.space->spare_count, 2, "two handles are spare");
	is_uint(heap.space->spare_pages, 3, "of three pages");
	is_uint(gm_space_whole_bytes(&heap), 67 * PAGE, "all could go");
	sound("half mapped");
	touch(block(arena, 67 * PAGE));
	is_pages(67, "nothing more is taken");
	is_uint(heap.space->spare_count, 0, "none is spare");
	sound("mapped");
}

int main(void)
{
	/* What a capture may forbid: decide_streams.c has the rest. */
	option("host.capture_frees", "off");
	handles_start();
	/* What moves is unmapped, not lent. */
	option("alias", "off");
	test_break_spare();
	test_half_mapped();
	test_keep_small();
	test_stock();
	heap_end();
	device_end();
	return done_testing();
}
