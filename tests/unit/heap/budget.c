/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What a heap may reserve: by its limits, and by how much it moved already. */
#include "fixture.h"

#define HIGH (100 * MIB)
#define PAGE (2 * MIB)

static void start(const char *vm, const char *waste, const char *waste_max)
{
	option("vm", vm);
	option("waste", waste);
	option("waste_max", waste_max);
	heap_start();
	heap.counters.highest_allocated = HIGH;
}

/* So much more than the highest was, in 1/10000 of it, after so many turns. */
static unsigned waste(double turns)
{
	heap.space->budget.migrated_handles =
		(uint64_t)(turns * (double)HIGH) / heap.page_bytes;
	return (unsigned)((double)(gm_budget_target(&heap, 1) - HIGH) * 10000 /
				  (double)HIGH +
			  0.5);
}

static void test_migrations(void)
{
	start("on", "2", "20");
	is_uint(waste(0), 200, "the waste, while nothing was moved");
	is_uint(waste(1.5), 200, "one and a half turns are free");
	is_uint(waste(2), 600, "then it grows");
	is_uint(waste(3), 1400, "with each turn");
	is_uint(waste(4), 2000, "up to the most");
	is_uint(waste(1e6), 2000, "and no further");
	is_uint(gm_budget_target(&heap, 2 * HIGH), 2 * HIGH / 100 * 120,
		"of what will be allocated, if that is more");
	heap.counters.highest_allocated = 0;
	heap.space->budget.migrated_handles = 0;
	is_uint(gm_budget_target(&heap, 1000), 1020, "of a fresh heap too");
	heap_end();
	start("on", "5", "1");
	is_uint(waste(1e6), 500, "a most below the waste is none");
	heap_end();
	start("on", "0", "0");
	is_uint(waste(1e6), 0, "nor is there any waste without");
	heap_end();
	option("segment_waste", "10");
	start("off", NULL, "50");
	is_uint(waste(1e6), 1000, "segments pay no migrations");
	heap_end();
}

/* A thread's frees are in the counters before another's allocations are. */
static void test_below_zero(void)
{
	struct gm_counters *counters = &heap.counters;
	struct gm_counts counts = {.allocated = {.high = 10, .left = 60}};

	start("on", "0", "0");
	counters->active.current -= 100;
	gm_counters_fold(counters, &counts);
	gm_gauge_add(&counters->active, 30);
	gm_counters_alloc(counters, 1, 1);
	is_uint(counters->active.peak, 0, "a level below 0 is no peak");
	is_uint(counters->highest_allocated, HIGH,
		"nor what waste is measured by");
	is_uint(gm_budget_target(&heap, 1), HIGH, "nor a reason to reserve");
	gm_counters_free(counters, 1, 1, false);
	counts.allocated.high = 120 + HIGH + 5;
	counts.allocated.left = 0;
	gm_counters_fold(counters, &counts);
	is_uint(counters->active.peak, HIGH + 5, "above 0 it is one");
	*counters = (struct gm_counters){0};
	heap_end();
}

/* However high the migrations, the limit holds; and each move is counted in it.
 */
static void test_limit(void)
{
	enum { PAGES = 12 };
	struct gm_extent *extent[PAGES] = {NULL};
	struct gm_arena *arena;
	unsigned beyond = 0, unpaid = 0;

	option("waste_max", "90");
	option("vm", "on");
	heap_start_with(PAGES * 2 * MIB, 0);
	arena = arena_of(NULL);
	for (unsigned round = 0; round < 3000; round++) {
		unsigned i = (unsigned)chance(PAGES);

		if (extent[i])
			block_give(arena, extent[i]);
		extent[i] = block_take(arena, (1 + chance(200)) * 32 * KIB);
		beyond += heap.counters.reserved.current > PAGES * 2 * MIB;
		unpaid +=
			heap.space->budget.migrated_handles * heap.page_bytes !=
			heap.counters.moved_bytes;
	}
	is_uint(beyond, 0, "the limit holds");
	is_uint(unpaid, 0, "all that moves is migrations");
	ok(heap.space->budget.migrated_handles > 0, "and something moved");
	sound("in order");
	heap_end();
}

/* Of a page, when so many MiB are reserved after it. */
static double price(uint64_t mib)
{
	heap.counters.reserved.current = mib * MIB - PAGE;
	return gm_price_new(&heap, NULL, 1);
}

/* New memory costs more and more: it bends where options say, and ends. */
static void test_price(void)
{
	double before = 0;
	bool rises = true;

	start("on", "2", "20");
	ok(price(50) == 0 && price(100) == 0, "nothing up to the peak");
	ok(price(101) == 0.5, "half a move within half of the waste");
	ok(price(102) == GM_PRICE_MOVE, "a move beyond it");
	ok(price(104) > GM_PRICE_MOVE && price(104) < GM_PRICE_WAIT,
	   "less than a wait within what streams may leave");
	ok(price(105) > GM_PRICE_WAIT && price(116) == GM_PRICE_WAITS,
	   "less than several for a little");
	ok(price(118) >= GM_PRICE_WAITS, "more beyond that");
	for (uint64_t mib = 2; mib < 130; mib += 2) {
		rises &= price(mib) >= before;
		before = price(mib);
	}
	ok(rises, "never less with more");
	heap.space->budget.limit_bytes = 110 * MIB;
	ok(price(110) < GM_PRICE_WAITS && price(111) == GM_PRICE_WAITS,
	   "beyond the limit several waits, for a little");
	ok(price(118) > 1e9, "and no end for more");
	heap.space->budget.limit_bytes = 128 * MIB;
	heap.capacity_bytes = 256 * MIB;
	heap.counters.reserved.current = 64 * MIB;
	ok(gm_price_part(&heap, NULL, 0) == 2 &&
		   gm_price_part(&heap, NULL, 48 * MIB) == GM_PRICE_TIGHT,
	   "a part costs by what is left");
	ok(gm_price_part(&heap, NULL, 64 * MIB) > 1e9, "at last any price");
	heap.counters.reserved.current = 0;
	heap_end();
}

enum { PEAK_TIMES = 64, SPARE_PART = 64 };

/* Half of a page is free beside the block that is live, and cannot move. */
static void begin_with_part(void)
{
	struct gm_arena *arena;

	start("on", NULL, NULL);
	heap.counters.highest_allocated = 0;
	arena = arena_of(NULL);
	block(arena, PAGE / 2);
	block_give(arena, block(arena, 3 * PAGE + PAGE / 2));
	is_uint(heap.counters.total_at_highest, 4 * PAGE,
		"it had its peak with the last of them");
	block_give(arena, block(arena, PAGE));
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
	ok(gm_price_care(&heap, NULL, 1) != GM_CARE_LIMIT,
	   "a peak that fits is no concern");
	counters->allocated.total--;
	ok(gm_price_care(&heap, NULL, 1) == GM_CARE_LIMIT,
	   "until it has been one for long");
	counters->allocated.total = UINT64_MAX / 2;
	counters->highest_allocated++;
	ok(gm_price_care(&heap, NULL, 1) == GM_CARE_LIMIT,
	   "one that does not fit is");
	counters->highest_allocated = highest;
	counters->allocated.total = total;
	heap_end();
}

int main(void)
{
	alarm(60);
	device_start();
	test_migrations();
	test_below_zero();
	test_price();
	test_limit();
	test_peak();
	device_end();
	return done_testing();
}
