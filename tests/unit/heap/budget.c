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
	struct gm_counts counts = {.allocated = {.now = -50, .high = 10}};

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
	counts.allocated.now = counts.allocated.high = 120 + HIGH + 5;
	gm_counters_fold(counters, &counts);
	is_uint(counters->active.peak, HIGH + 5, "above 0 it is one");
	*counters = (struct gm_counters){0};
	heap_end();
}

/* What streams may leave unused of 1000 MiB, without a limit and with one. */
static void test_apart(const char *given, uint64_t without, uint64_t with)
{
	option("stream_waste", given);
	start("on", NULL, NULL);
	option("stream_waste", NULL);
	heap.space->budget.waste = 0;
	heap.counters.highest_allocated = 1000 * MIB;
	is_uint(gm_budget_stream_target(&heap, NULL, 1) / MIB, 1000 + without,
		"%s: so much", given ? given : "by default");
	heap.space->budget.limit_bytes = 16384 * MIB;
	is_uint(gm_budget_stream_target(&heap, NULL, 1) / MIB, 1000 + with,
		"and with a limit");
	heap_end();
}

static void test_room(void)
{
	const struct gm_attempt beyond = {.beyond_soft = true};

	start("on", NULL, NULL);
	ok(gm_limit_room(&heap, NULL) == UINT64_MAX, "no limit, no end");
	heap.space->budget.stream_waste = 1e9;
	ok(!gm_budget_exceeds_stream_waste(&heap, NULL, 1),
	   "nor too much waste");
	heap.space->budget.limit_bytes = 10;
	heap.counters.reserved.current = 4;
	ok(gm_budget_exceeds_stream_waste(&heap, NULL, 1),
	   "what exceeds the limit is too much");
	is_uint(gm_limit_room(&heap, NULL), 6, "up to the limit");
	is_status(gm_limit_check(&heap, NULL, 6), GPUMEM_OK, "and not beyond");
	is_status(gm_limit_check(&heap, NULL, 7), GPUMEM_LIMIT, "it");
	heap.space->budget.soft_limit_bytes = 5;
	is_uint(gm_limit_room(&heap, NULL), 1, "the soft one is less");
	is_uint(gm_limit_room(&heap, &beyond), 6, "unless it is no limit now");
	heap.space->budget.soft_limit_bytes = 20;
	is_uint(gm_limit_room(&heap, NULL), 6, "or more");
	heap.counters.reserved.current = 30;
	is_uint(gm_limit_room(&heap, NULL), 0, "beyond a new one is no room");
	heap.counters.reserved.current = 0;
	heap_end();
}

/* The last eighth of the limit, of the memory there is, or of what the driver
 * had. */
static void test_tight(void)
{
	struct gm_budget *budget;
	uint64_t *reserved = &heap.counters.reserved.current;

	start("on", NULL, NULL);
	budget = &heap.space->budget;
	*reserved = 8192 * MIB;
	heap.capacity_bytes = 16384 * MIB;
	ok(gm_budget_is_ample(&heap, NULL, 0), "half of the memory is ample");
	ok(!gm_budget_is_ample(&heap, NULL, 1), "more is not");
	ok(!gm_budget_is_tight(&heap, NULL, 6144 * MIB),
	   "seven eighths are not tight");
	ok(gm_budget_is_tight(&heap, NULL, 6144 * MIB + 1), "more is");
	heap.capacity_bytes = 65536 * MIB;
	ok(!gm_budget_is_tight(&heap, NULL, 1),
	   "of far more memory nothing is");
	is_uint(gm_budget_handle_pages(&heap, NULL, 1024), 8, "large handles");
	is_uint(gm_budget_handle_pages(&heap, NULL, 32), 8,
		"a quarter of a request");
	is_uint(gm_budget_handle_pages(&heap, NULL, 31), 4, "or less");
	budget->limit_bytes = 18432 * MIB;
	is_uint(gm_budget_handle_pages(&heap, NULL, 512), 8,
		"to half of a limit");
	is_uint(gm_budget_handle_pages(&heap, NULL, 513), 2,
		"from there a quarter");
	budget->limit_bytes = 16384 * MIB;
	ok(!gm_budget_is_tight(&heap, NULL, 6144 * MIB),
	   "seven eighths of it are not");
	ok(gm_budget_is_tight(&heap, NULL, 6144 * MIB + 1), "what is above is");
	*reserved = 14336 * MIB;
	is_uint(gm_budget_handle_pages(&heap, NULL, 3072), 2,
		"the smallest handles");
	is_uint(gm_budget_handle_pages(&heap, NULL, 63), 1, "or single pages");
	budget->limit_bytes = 0;
	gm_budget_refuse(&heap);
	ok(gm_budget_is_tight(&heap, NULL, 0), "where the driver had no more");
	*reserved = 12288 * MIB;
	ok(!gm_budget_is_tight(&heap, NULL, 1), "far below that it is over");
	gm_budget_reserve(&heap, 4096 * MIB, 1);
	ok(!gm_budget_is_tight(&heap, NULL, 1), "and when it has more again");
	gm_budget_unreserve(&heap, 4096 * MIB, 1);
	*reserved = 0;
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
	heap_end();
}

int main(void)
{
	alarm(60);
	device_start();
	test_migrations();
	test_below_zero();
	test_apart(NULL, 45, 100);
	test_apart("2%", 20, 20);
	test_apart("50%", 500, 500);
	test_room();
	test_tight();
	test_limit();
	test_peak();
	device_end();
	return done_testing();
}
