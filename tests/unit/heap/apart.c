/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where the driver has no more, and a growth would take fewer pages than what
 * fits, but cannot be certain to have them: what fits is not taken apart for
 * it.
 */
#include "served.h"
#include "moved.h"

static void fill_device(void)
{
	may_waste(10);
	must(gpumem_host_outside(0, 64 * MIB - heap_reserved()));
	gm_budget_refuse(&heap);
}

/* Of three pages that fit, one is completed. A growth would take two, and there
 * is no other. */
static void test_own_fits(void)
{
	struct gm_extent *half, *hole, *one, *two;
	struct hold hold;
	uint64_t before;
	bool grown = false;

	begin();
	block(own, PAGE / 2);
	half = block(own, PAGE / 2);
	hole = block(own, 2 * PAGE);
	block(own, PAGE);
	one = block(own, PAGE);
	two = block(own, 2 * PAGE);
	block(own, PAGE);
	block_give(own, hole);
	may_waste(0);
	block_take_aligned(own, 2 * PAGE, FAR);
	unmap_stale();
	block_give(own, half);
	block_give(own, one);
	gm_arena_poll(own, NULL, true);
	hold_begin(&hold, stream);
	block_give(own, two);
	fill_device();
	heap.space->stale.on = false;
	before = calls(GPUMEM_CALL_UNMAP);
	is_uint(gm_place_growth(own, NULL, 2 * PAGE + PAGE / 2), 2,
		"two would do");
	is_uint(served_at(own, 2 * PAGE + PAGE / 2, &grown), one->address,
		"what the stream has itself is not taken apart");
	is_uint(calls(GPUMEM_CALL_UNMAP), before, "nothing was unmapped");
	heap.space->stale.on = true;
	must(gpumem_host_outside(0, 0));
	hold_end(&hold, stream);
	end();
}

/* Another stream has what is wanted, two pages and parts of two. A growth would
 * take three pages, and there are no more than these two. */
static void test_theirs_fits(void)
{
	size_t bytes = 2 * PAGE + 3 * (PAGE / 4);
	struct gm_extent *theirs;
	uintptr_t start;
	bool grown = false;

	begin();
	block(own, PAGE / 2);
	theirs = block(own, bytes);
	block(own, 3 * (PAGE / 4));
	start = theirs->address;
	block_give(beside, theirs);
	gm_arena_poll(beside, NULL, true);
	fill_device();
	ok(gm_budget_is_short(&heap, NULL, bytes), "pages are short");
	is_uint(served_at(own, bytes, &grown), start,
		"what another stream has done with is not taken apart");
	must(gpumem_host_outside(0, 0));
	end();
}

int main(void)
{
	alarm(60);
	device_start();
	test_own_fits();
	test_theirs_fits();
	device_end();
	return done_testing();
}
