/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where a block goes when its pages come from elsewhere in the heap: where the
 * fewest are taken, and beside what other streams have finished with; and with
 * few pages left, where the fewest are taken of what is free, too.
 */
#include "served.h"
#include "moved.h"

/* Three free pages, a hole of one, three free pages; five are asked for, which
 * lie over all of that, where two of seven are of no use, or elsewhere. */
static void test_surplus(bool waste)
{
	struct gm_extent *low, *middle, *high, *made;
	uint64_t before;

	begin();
	low = block(own, 3 * PAGE);
	middle = block(own, PAGE);
	high = block(own, 3 * PAGE);
	move_away(middle);
	unmap_stale();
	block_give(own, low);
	block_give(own, high);
	before = heap_reserved();
	is_uint(before, 7 * PAGE, "three, a hole, three, and one elsewhere");
	if (waste)
		heap.space->budget.waste = heap.space->budget.waste_max = 10;
	made = block(own, 5 * PAGE);
	is_uint(heap_reserved(), before + waste * PAGE,
		waste ? "a page more is no waste" : "no page more is taken");
	block_give(own, made);
	end();
}

/* The other stream has so many free pages before a hole, and the arena's three
 * before another one, higher up. */
struct sides {
	uintptr_t theirs, mine;
	struct hold hold;
};

static struct sides *make_sides(size_t pages, bool busy)
{
	static struct sides sides;
	struct gm_extent *theirs, *mine;

	begin();
	theirs = block(beside, pages * PAGE);
	mine = block_take_aligned(own, 3 * PAGE, FAR);
	sides.theirs = theirs->address;
	sides.mine = mine->address;
	if (busy)
		hold_begin(&sides.hold, other);
	block_give(beside, theirs);
	block_give(own, mine);
	gm_arena_poll(own, NULL, true);
	gm_arena_poll(beside, NULL, true);
	may_waste(0);
	return &sides;
}

static void test_beside_others(void)
{
	struct sides *sides = make_sides(3, false);
	uint64_t before = heap_reserved();
	struct gm_extent *made = block(own, 6 * PAGE);

	is_uint(made->address, sides->theirs,
		"beside what the other stream has finished with");
	is_uint(heap_reserved(), before, "for no page more");
	touch(made);
	sound("beside it");
	block_give(own, made);
	end();
}

static void test_beside_busy(void)
{
	struct sides *sides = make_sides(3, true);
	uint64_t before = heap_reserved();
	struct gm_extent *made = block(own, 6 * PAGE);

	is_uint(made->address, sides->mine - 3 * PAGE,
		"not beside what the other stream is at work on");
	is_uint(heap_reserved(), before + 3 * PAGE, "for three pages more");
	sound("beside its own");
	hold_end(&sides->hold, other);
	block_give(own, made);
	end();
}

/* What the stream waited for is not over when all that it did before is. */
static void test_followed(void)
{
	struct gm_extent *theirs, *small;
	struct hold hold;

	begin();
	theirs = block(beside, 3 * PAGE);
	block(beside, PAGE);
	small = block(beside, PAGE);
	block(beside, PAGE);
	hold_begin(&hold, other);
	block_give(beside, theirs);
	ok(!gm_arena_may_absorb(own, theirs), "the other stream is at work");
	block_give(beside, small);
	ok(gm_arenas_fit_behind(own, NULL, PAGE, heap.unit, SIZE_MAX),
	   "a page comes from it behind its work");
	ok(gm_arena_may_absorb(own, theirs), "so may what was freed before");
	own->completed = own->seqno;
	gm_arena_absorb(own, theirs);
	is_ptr(theirs->arena, own, "it comes");
	ok(!gm_arena_completed(own, theirs->seqno), "and is busy");
	sound("behind the work");
	hold_end(&hold, other);
	end();
}

/* What the other stream has is as long as the request, or longer: nothing has
 * to lie beside that. */
static void test_longer(size_t pages)
{
	struct sides *sides = make_sides(pages, false);
	uint64_t before = heap_reserved();
	struct gm_extent *made = block(own, 6 * PAGE);

	is_uint(made->address, sides->mine - 3 * PAGE,
		"beside its own, where the other has %zu pages", pages);
	is_uint(heap_reserved(), before, "for no page more");
	is_uint(gm_place_growth(own, NULL, 6 * PAGE), 6,
		"another one takes six pages");
	block_give(own, made);
	is_uint(gm_place_growth(own, NULL, 6 * PAGE), 6,
		"also where one is free that is long enough");
	end();
}

static uintptr_t place_of(size_t bytes)
{
	bool grown = false;

	return served_at(own, bytes, &grown);
}

/* As much is reserved as may be. */
static struct shape make_limited(void)
{
	struct shape shape = make_shape();

	heap.space->budget.limit_bytes = heap_reserved();
	return shape;
}

static void test_part_of_a_page(void)
{
	struct shape shape = make_limited();

	is_uint(place_of(PAGE / 2), shape.page, "where it fits best");
	heap.space->budget.met_limit = true;
	is_uint(place_of(PAGE / 2), shape.within,
		"in a page that is in use, once pages are short");
	heap.space->budget.limit_bytes *= 2;
	is_uint(place_of(PAGE / 2), shape.page, "and not far from the limit");
	end();
}

static void test_move(void)
{
	struct shape shape = make_limited();
	size_t bytes = 2 * PAGE + PAGE / 2;
	uint64_t before = heap_reserved();

	/* What cannot move is no more than may be unused. */
	heap.space->budget.waste = heap.space->budget.waste_max = 1;
	is_uint(place_of(bytes), shape.three,
		"where it fits, over three pages");
	heap.space->budget.met_limit = true;
	is_uint(place_of(bytes), shape.within,
		"where it takes two, one of which comes from elsewhere");
	is_uint(heap_reserved(), before, "no page more is taken");
	end();
}

/* For whom does not want pages to move. */
static void test_no_grow(void)
{
	struct shape shape = make_limited();
	const struct gm_want want = {.bytes = 2 * PAGE + PAGE / 2,
				     .alignment = heap.unit,
				     .flags = GPUMEM_ALLOC_NO_GROW};
	uint64_t calls_before = calls(GPUMEM_CALL_MAP);
	struct gm_extent *extent;
	struct gm_attempt attempt = {0};

	heap.space->budget.met_limit = true;
	pthread_mutex_lock(&heap.mutex);
	must(gm_ladder_take(own, &attempt, &want, &extent));
	pthread_mutex_unlock(&heap.mutex);
	is_uint(extent->address, shape.three, "NO_GROW takes what is free");
	is_uint(calls(GPUMEM_CALL_MAP), calls_before, "and moves nothing");
	(void)gm_arena_insert(own, extent);
	end();
}

/* Pages are short from when one has had to be moved for want of others. */
static void test_met(void)
{
	struct gm_extent *made;

	begin();
	block(own, PAGE);
	made = block(own, 2 * PAGE);
	heap.space->budget.limit_bytes = 4 * PAGE;
	ok(!gm_budget_is_short(&heap, NULL, PAGE),
	   "near the limit, which was not met");
	block_give(own, made);
	block_take_aligned(own, PAGE, FAR);
	ok(!gm_budget_is_short(&heap, NULL, PAGE), "a page within it");
	heap.space->budget.limit_bytes = heap_reserved();
	block_take_aligned(own, PAGE, FAR);
	ok(gm_budget_is_short(&heap, NULL, PAGE), "one that has to be moved");
	heap.space->budget.limit_bytes = 8 * PAGE;
	ok(!gm_budget_is_short(&heap, NULL, PAGE),
	   "not any more under a larger limit");
	end();
}

enum { PEAK_TIMES = 64, SPARE_PART = 64 };

/* Half of a page is free beside the block that is live, and cannot move. */
static void begin_with_part(void)
{
	struct gm_extent *extent;

	begin();
	block(own, PAGE / 2);
	extent = block(own, 3 * PAGE + PAGE / 2);
	block_give(own, extent);
	is_uint(heap.counters.total_at_highest, 4 * PAGE,
		"it had its peak with the last of them");
	block_give(own, block(own, PAGE));
	is_uint(heap.counters.total_at_highest, 4 * PAGE, "and not since");
	heap.space->budget.met_limit = true;
	heap.space->budget.limit_bytes = heap_reserved();
	heap.counters.total_at_highest = 0;
}

/* A heap that has long had its peak is careful only if that would not fit. */
static void test_peak(void)
{
	struct gm_counters *counters = &heap.counters;
	uint64_t limit, part = PAGE / 2, highest, total;

	begin_with_part();
	highest = counters->highest_allocated;
	total = counters->allocated.total;
	limit = heap.space->budget.limit_bytes;
	is_uint(limit, 4 * PAGE, "four pages");
	counters->highest_allocated = limit - limit / SPARE_PART - part;
	counters->allocated.total = PEAK_TIMES * counters->highest_allocated;
	ok(!gm_budget_is_short(&heap, NULL, 1),
	   "a peak that fits is no concern");
	counters->allocated.total--;
	ok(gm_budget_is_short(&heap, NULL, 1),
	   "until it has been one for long");
	counters->allocated.total = UINT64_MAX / 2;
	counters->highest_allocated++;
	ok(gm_budget_is_short(&heap, NULL, 1), "one that does not fit is");
	counters->highest_allocated = highest;
	counters->allocated.total = total;
	end();
}

int main(void)
{
	alarm(60);
	device_start();
	test_surplus(true);
	test_surplus(false);
	test_beside_others();
	test_beside_busy();
	test_followed();
	test_longer(6);
	test_longer(7);
	test_part_of_a_page();
	test_move();
	test_no_grow();
	test_met();
	test_peak();
	device_end();
	return done_testing();
}
