/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where a large block goes while memory is ample: to the lowest of the few free
 * extents that it fits best. What is small or nearly fills one goes where it
 * fits best, and so does all where memory is not ample or in many extents.
 */
#include "transfer.h"
#include "served.h"

#define PAGE (2 * MIB)

enum { LOOKS = 4, CLOSE_PART = 64, EXTENTS = 64 };

static struct gm_extent *hole[EXTENTS + 1];
static unsigned hole_count;

/* Free extents of so many pages, from low to high; each has pages that are in
 * use on both sides. */
static void begin(const size_t *pages, unsigned count)
{
	restart();
	block(receiver, PAGE);
	for (unsigned i = 0; i < count; i++) {
		hole[i] = block(receiver, pages[i] * PAGE);
		block(receiver, PAGE);
	}
	for (unsigned i = 0; i < count; i++)
		block_give(receiver, hole[i]);
	hole_count = count;
}

static int number_at(uintptr_t address)
{
	for (unsigned i = 0; i < hole_count; i++)
		if (address == hole[i]->address)
			return (int)i;
	return -1;
}

static int number_of(const struct gm_extent *extent)
{
	return extent ? number_at(extent->address) : -1;
}

static int lowest(size_t bytes)
{
	return number_of(gm_arena_fit_low(receiver, bytes, heap.unit));
}

static void test_lowest(void)
{
	static const size_t pages[] = {3, 8, 6, 7, 5};
	static const size_t more[] = {11, 9, 8, 7, 6};

	begin(pages, 5);
	is_int(lowest(4 * PAGE), 1, "the lowest that holds it");
	is_int(lowest(7 * PAGE - PAGE / 2), 1, "of two, the lower");
	is_int(lowest(9 * PAGE), -1, "where nothing does, none");
	is_int(lowest(5 * PAGE), 4, "one that it fills comes first");
	is_int(lowest(5 * PAGE - 5 * PAGE / CLOSE_PART), 4, "or nearly");
	is_int(lowest(5 * PAGE - 5 * PAGE / CLOSE_PART - heap.unit), 1,
	       "less no longer");
	is_int(number_of(gm_arena_fit_low(receiver, 4 * PAGE, 2 * heap.unit)),
	       number_of(gm_arena_fit(receiver, 4 * PAGE, 2 * heap.unit)),
	       "an alignment of its own finds the same as ever");
	begin(more, LOOKS + 1);
	is_int(lowest(5 * PAGE), 1, "so many are looked at");
	is_int(lowest(6 * PAGE + heap.unit), 0, "and so many behind these");
	sound("looked at");
}

static void test_many(void)
{
	size_t pages[EXTENTS + 1];

	for (unsigned i = 0; i < EXTENTS; i++)
		pages[i] = 1;
	pages[0] = 6;
	pages[1] = 5;
	begin(pages, EXTENTS);
	is_int(lowest(4 * PAGE), 0, "the lowest of so many");
	pages[EXTENTS] = 1;
	begin(pages, EXTENTS + 1);
	is_int(lowest(4 * PAGE), 1, "but best fit of one more");
}

static int put(size_t bytes)
{
	bool grown = false;

	return number_at(served_at(receiver, bytes, &grown));
}

static void test_ladder(void)
{
	static const size_t pages[] = {6, 5};
	uint64_t reserved;

	begin(pages, 2);
	reserved = heap.counters.reserved.current;
	heap.capacity_bytes = 2 * (reserved + 4 * PAGE);
	is_int(put(4 * PAGE), 0, "while memory is ample it goes low");
	is_int(put(4 * PAGE - heap.unit), 1, "what is small where it fits");
	heap.space->budget.limit_bytes = 2 * (reserved + 4 * PAGE) - 2;
	is_int(put(4 * PAGE), 1, "from half of a limit on too");
	heap.space->budget.limit_bytes = 0;
	heap.capacity_bytes -= 2;
	is_int(put(4 * PAGE), 1, "or half of the memory");
	heap.capacity_bytes *= 2;
	is_int(put(4 * PAGE), 0, "which would be ample again");
	gm_budget_refuse(&heap);
	is_int(put(4 * PAGE), 1, "if the driver had more");
	sound("put");
}

/* Segments do not move. One of the larger two lies below the smallest. */
static void test_segments(void)
{
	static const size_t pages[] = {6, 5, 6};

	option("vm", "off");
	restart();
	hole_count = 3;
	for (unsigned i = 0; i < hole_count; i++)
		hole[i] = block(receiver, pages[i] * PAGE);
	for (unsigned i = 0; i < hole_count; i++)
		block_give(receiver, hole[i]);
	is_int(put(4 * PAGE), 1,
	       "without virtual memory it goes where it fits");
	option("vm", NULL);
}

int main(void)
{
	alarm(60);
	option("host.capacity", "1GiB");
	must(gm_device_open("host:0", &device));
	test_lowest();
	test_many();
	test_ladder();
	test_segments();
	heap_end();
	device_end();
	return done_testing();
}
