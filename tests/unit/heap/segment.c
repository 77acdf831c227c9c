/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Memory without virtual memory: how large segments are, and blocks that fill
 * them exactly. The device has none, or has it and the heap is told not to use
 * it. Which segments serve, and which go, is in decide_segments.c. */
#include "fixture.h"

static struct gm_arena *arena;

static void restart(void)
{
	if (arena)
		heap_end();
	heap_start();
	arena = arena_of(NULL);
}

static bool in_order(void)
{
	const struct gm_extent *extent = gm_heap_first(&heap), *next;

	while ((next = gm_heap_next(&heap, extent))) {
		if (next->address <= extent->address)
			return false;
		extent = next;
	}
	return true;
}

static void test_growth(void)
{
	struct gm_extent *a, *b;

	ok(!gm_space_has_pages(&heap), "the heap has no virtual memory");
	is_uint(heap_reserved(), 0, "a new heap has taken nothing");
	a = block(arena, 100 * KIB);
	touch(a);
	b = block(arena, 100 * KIB);
	touch(b);
	is_uint(heap.counters.segments.current, 1, "two blocks in a segment");
	ok(heap_reserved() >= 2 * MIB && heap_reserved() < 4 * MIB,
	   "of a usual size");
	sound("grown");
	touch(block(arena, 20 * MIB));
	is_uint(heap.counters.segments.current, 2, "a large one has its own");
	ok(heap_reserved() < 25 * MIB, "of about its size");
	for (int i = 0; i < 4; i++)
		touch(block(arena, (size_t)(1 + i % 2) * 4 * MIB));
	ok(in_order(), "all are walked in the order of their addresses");
	sound("two segments");
	restart();
}

/* Sizes at which a segment is exactly full: room for aligning is needed where
 * the driver's addresses are worse than the heap's. */
static void test_exact(void)
{
	static const size_t bytes[] = {2 * MIB,	       4 * MIB,
				       2 * MIB - 256,  2 * MIB + 256,
				       4 * MIB - 4096, 100 * KIB};
	unsigned wrong = 0;

	for (size_t i = 0; i < 4 * sizeof(bytes) / sizeof(bytes[0]); i++) {
		size_t n = (bytes[i % 6] + heap.unit - 1) & ~(heap.unit - 1);
		struct gm_extent *extent = block_take(arena, n);

		wrong += !extent || extent->address % heap.unit;
		if (extent)
			touch(extent);
	}
	is_uint(wrong, 0, "blocks as large as segments");
	sound("exact");
	restart();
	for (size_t alignment = 512; alignment <= 16 * MIB; alignment *= 2) {
		struct gm_extent *extent =
			block_take_aligned(arena, MIB, alignment);

		wrong += !extent || extent->address % alignment;
		if (extent) {
			touch(extent);
			block_give(arena, extent);
		}
		gm_arena_poll(arena, NULL, true);
		must(heap_trim(0));
	}
	is_uint(wrong, 0, "every alignment up to 16 MiB");
	slab_new(arena, heap.classes.count - 1);
	sound("aligned");
	restart();
}

/* By how much it grew, to the nearest MiB. */
static uint64_t grown_mib(uint64_t before)
{
	return (heap_reserved() - before + MIB / 2) / MIB;
}

/* What a heap of 484 MiB takes: as many of the request as fill its 48th part,
 * which is 10 MiB; and what is unused goes first if that is more than was ever
 * active. */
static void test_part(void)
{
	struct gm_extent *small = block(arena, 4 * MIB), *last = NULL;
	uint64_t before;

	heap.space->budget.waste = 0;
	for (int i = 0; i < 31; i++)
		last = block(arena, 16 * MIB - 64 * KIB);
	block_give(arena, last);
	must(heap_trim(0));
	block_give(arena, small);
	heap.counters.highest_allocated = heap.counters.allocated.current;
	before = heap_reserved();
	touch(block(arena, 8 * MIB - 64 * KIB));
	is_uint(grown_mib(before), 16 - 4, "two of them for an unused one");
	before = heap_reserved();
	touch(block(arena, 8 * MIB - 64 * KIB));
	is_uint(grown_mib(before), 0, "they leave no rest");
	touch(block(arena, 16 * MIB - 64 * KIB));
	is_uint(grown_mib(before), 16, "one larger than that has its own");
	sound("parts");
	restart();
}

/* A request is not rounded up to what the driver gives before it is multiplied:
 * three of these fit into 4 MiB. */
static void test_rests(void)
{
	for (int i = 0; i < 3; i++)
		touch(block(arena, 1152 * KIB));
	is_uint(heap.counters.segments.current, 1, "three in a segment");
	ok(heap_reserved() <= 4 * MIB, "which leave little of it");
	sound("rests");
	restart();
}

static void test_all(const char *vm, const char *used, const char *alignment)
{
	diag("host.vm %s, vm %s, host.alignment %s", vm, used, alignment);
	option("host.vm", vm);
	option("vm", used);
	option("host.alignment", alignment);
	option("host.max_alloc", "32MiB");
	device_start();
	restart();
	test_growth();
	test_exact();
	heap_end();
	device_end();
	arena = NULL;
	option("host.max_alloc", NULL);
	device_start();
	restart();
	/* It gives multiples of 2 MiB, else of 4 KiB. */
	if (gm_device_has(device, GPUMEM_CAP_VM))
		test_rests();
	heap_end();
	device_end();
	arena = NULL;
	option("host.capacity", "1GiB");
	must(gm_device_open("host:0", &device));
	restart();
	test_part();
	heap_end();
	device_end();
	arena = NULL;
}

int main(void)
{
	char most[16];

	alarm(60);
	test_all("off", "on", "256");
	test_all("on", "off", "256");
	snprintf(most, sizeof(most), "%d", GM_SMALL_MAX);
	test_all("off", "on", most);
	test_all("off", "on", "16");
	return done_testing();
}
