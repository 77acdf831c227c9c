/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Parts of pages, which can be moved nowhere: how a place is chosen so that
 * fewer are left, and what is done when they have become too many.
 */
#include "heap/lookup.h"
#include "served.h"
#include "moved.h"

/* Whatever is free, it begins with a page of its own. */
static struct gm_extent *on_page(size_t bytes)
{
	return block_take_aligned(own, bytes, PAGE);
}

/* ---- where a growth joins what is free ---- */

/* A hole behind a quarter of a page that is free, and another one, higher up,
 * behind three quarters: one page in either is enough. */
static void test_join(bool tight)
{
	struct gm_extent *low, *quarter, *hole, *high, *far;
	uintptr_t place;
	uint64_t before;

	begin();
	low = on_page(3 * PAGE / 4);
	hole = on_page(PAGE);
	quarter = on_page(PAGE / 4);
	high = on_page(PAGE);
	on_page(PAGE);
	move_away(hole);
	far = move_away(high);
	unmap_stale();
	block_give(own, far);
	before = heap_reserved();
	is_uint(gm_place_growth(own, NULL, PAGE + heap.unit), 1,
		"one page will do");
	if (tight)
		heap.space->budget.limit_bytes = before;
	place = block(own, PAGE + heap.unit)->address;
	is_uint(place,
		tight ? low->address + 3 * PAGE / 4
		      : quarter->address + PAGE / 4,
		tight ? "the lower one near a limit"
		      : "beside the larger part of one");
	is_uint(heap_reserved(), before, "it was moved there");
	end();
}

/* ---- too many of them ---- */

/* Half a page of the four that are reserved cannot move, which is one and a
 * half times a twelfth of the peak. */
static void make_half(void)
{
	begin();
	block(own, PAGE / 2);
	block_give(own, block(own, 3 * PAGE + PAGE / 2));
	may_waste(0.08);
	heap.counters.highest_allocated = 4 * PAGE;
}

static void test_fragmented(void)
{
	make_half();
	ok(gm_budget_is_fragmented(&heap, PAGE), "more than one and a half");
	ok(!gm_budget_is_fragmented(&heap, PAGE / 4),
	   "not if so much can be new");
	may_waste(0.085);
	heap.counters.highest_allocated = 4 * PAGE;
	ok(!gm_budget_is_fragmented(&heap, PAGE), "nor for less");
	end();
}

static void test_not_alone(void)
{
	struct gm_extent *theirs;

	make_half();
	theirs = block(beside, PAGE);
	ok(gm_budget_is_fragmented(&heap, PAGE),
	   "what others use is no matter");
	heap.order->pending.count = 1;
	ok(!gm_budget_is_fragmented(&heap, PAGE), "what is pending is");
	heap.order->pending.count = 0;
	block_give(beside, theirs);
	ok(!gm_budget_is_fragmented(&heap, PAGE),
	   "so is what others have free");
	end();
}

static void test_move(void)
{
	struct shape shape = make_shape();
	size_t bytes = 2 * PAGE + PAGE / 2;
	uint64_t before = heap_reserved();
	bool grown = false;

	may_waste(1);
	is_uint(served_at(own, bytes, &grown), shape.three,
		"where it fits, over three pages");
	may_waste(0);
	is_uint(served_at(own, bytes, &grown), shape.within,
		"over two, one of which is moved, if too much cannot be");
	is_uint(heap_reserved(), before, "no page more is taken");
	end();
}

enum why { NO_PLACES, NO_ALIAS, CAPTURE };

static void set(enum why why, bool on)
{
	if (why == NO_PLACES)
		heap.space->stale.most =
			on ? heap.space->stale.handles : SIZE_MAX;
	if (why == NO_ALIAS)
		heap.space->stale.on = !on;
	if (why == CAPTURE)
		must(gpumem_host_capture(0, stream, on));
}

/* New pages are not worth it, nor is unmapping. */
static void test_no_move(enum why why, const char *what)
{
	struct shape shape = make_shape();
	uint64_t before;
	bool grown = false;

	before = calls(GPUMEM_CALL_MAP);
	set(why, true);
	is_uint(served_at(own, 2 * PAGE + PAGE / 2, &grown), shape.three, "%s",
		what);
	is_uint(calls(GPUMEM_CALL_MAP), before, "nothing was mapped");
	set(why, false);
	end();
}

/* What else there is comes before new pages: this source is none then. */
static void test_too_few(void)
{
	const struct gm_want want = {.bytes = 6 * PAGE, .alignment = heap.unit};
	struct gm_lookup lookup = {.heap = &heap, .want = &want};
	uint64_t before;

	(void)make_shape();
	before = calls(GPUMEM_CALL_MAP);
	lookup.arena = own;
	pthread_mutex_lock(&heap.mutex);
	ok(!gm_lookup_fewest_pages(&lookup),
	   "nothing for six pages, where five can be moved");
	pthread_mutex_unlock(&heap.mutex);
	is_uint(calls(GPUMEM_CALL_MAP), before, "nothing was mapped");
	end();
}

int main(void)
{
	alarm(60);
	device_start();
	test_join(false);
	test_join(true);
	test_fragmented();
	test_not_alone();
	test_move();
	test_no_move(NO_PLACES, "not if there are no places");
	test_no_move(NO_ALIAS, "not if nothing can be mapped twice");
	test_no_move(CAPTURE, "not for a stream that is captured");
	test_too_few();
	device_end();
	return done_testing();
}
