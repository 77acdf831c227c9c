/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Handles of several pages that are too large for what is missing break, whole
 * or not at all, and those of which a part cannot be mapped are spare. That
 * they move is in handle_move.c. */
#include "handle.h"

/* Memory that is free in handles too large for what is missing. */
static void test_break(void)
{
	struct gm_extent *extent;

	restart();
	extent = block(arena, 64 * PAGE);
	touch(block(arena, PAGE));
	block_give(arena, extent);
	heap.space->budget.limit_bytes = BALLAST + 65 * PAGE;
	is_uint(handles(), 9, "the limit is reached");
	extent = block(arena, 64 * PAGE - 8 * PAGE);
	is_pages(65, "eight pages are left");
	block_take_aligned(arena, 3 * PAGE, 1024 * MIB);
	is_pages(60, "a handle breaks: three of its pages come back");
	is_uint(calls(GPUMEM_CALL_PAGE_DESTROY), 1, "it alone went");
	is_uint(handles(), 7 + 1 + 3, "three new ones");
	sound("broken");
	must(gpumem_host_capture(0, NULL, true));
	block_give(arena, extent);
	ok(!block_take_aligned(arena, 10 * PAGE, 4096 * MIB),
	   "none breaks while a stream is captured");
	must(gpumem_host_capture(0, NULL, false));
	is_uint(gpumem_host_capture_violations(), 0, "nothing is disturbed");
	sound("captured");
}

/* The same before the driver is asked for more than the waste allows. */
static void test_save(void)
{
	struct gm_extent *extent;

	restart();
	heap.space->budget.waste = 0;
	extent = block(arena, 64 * PAGE);
	block(arena, PAGE);
	block_give(arena, extent);
	block(arena, 55 * PAGE);
	heap.counters.highest_allocated = heap.counters.allocated.current;
	block_take_aligned(arena, 3 * PAGE, 4096 * MIB);
	is_pages(65 - 8 + 3, "a handle breaks rather than to waste memory");
	sound("saved");
}

/* A spare handle breaks too, but not while a stream is captured. */
static void test_break_spare(void)
{
	restart();
	must(gpumem_host_faults("map@1"));
	ok(!block_take(arena, 64 * PAGE), "nothing can be mapped");
	must(gpumem_host_faults(NULL));
	heap.space->budget.limit_bytes = BALLAST + 64 * PAGE;
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
	/* What a capture may forbid: in_capture.c is about the rest. */
	option("host.capture_frees", "off");
	handles_start();
	/* What moves is unmapped, not lent. */
	option("alias", "off");
	test_break();
	test_save();
	test_break_spare();
	test_half_mapped();
	heap_end();
	device_end();
	return done_testing();
}
