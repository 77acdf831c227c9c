/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Pages of virtual memory: alignment, nodes, limits and sizes, that what moves
 * keeps what others wrote, and what a trim leaves. Which of them serve whom is
 * in decide_pages.c, what becomes of what the driver refuses in lib/faults.c.
 */
#include "fixture.h"

#define PAGE (2 * MIB)

static struct gm_arena *arena;

static void restart_with(uint64_t limit, uint64_t page)
{
	if (arena)
		heap_end();
	heap_start_with(limit, page);
	arena = arena_of(NULL);
}

static void restart(void)
{
	restart_with(0, 0);
}

static void test_aligned(void)
{
	struct gm_extent *extent, *last;
	unsigned wrong = 0;

	for (size_t alignment = 512; alignment <= 1024 * MIB; alignment *= 2) {
		block(arena, 70 * KIB);
		extent = block_take_aligned(arena, 100 * KIB, alignment);
		wrong += !extent || extent->address % alignment;
		if (extent)
			touch(extent);
	}
	is_uint(wrong, 0, "every alignment up to 1 GiB");
	sound("aligned");
	restart();
	/* There is a free block of just the size, badly aligned. */
	block(arena, MIB);
	extent = block(arena, PAGE);
	last = block(arena, MIB);
	block_give(arena, extent);
	extent = block_take_aligned(arena, PAGE, PAGE);
	ok(extent && extent->address % PAGE == 0,
	   "a page, aligned, beside a free one that is not");
	ok(next_of(last) != NULL, "beyond it there is more");
	sound("beside a bad one");
	restart();
}

/* No node is left but those that an operation reserves. Returns the first of
 * those that are taken, linked by prev. */
static uint32_t starve(void)
{
	uint32_t taken = 0;

	while (heap.nodes.free_count) {
		struct gm_extent *extent = gm_nodes_take(&heap.nodes);

		extent->prev = taken;
		taken = gm_node_number(&heap.nodes, extent);
	}
	return taken;
}

static void feed(uint32_t taken)
{
	struct gm_extent *extent;

	while ((extent = gm_node(&heap.nodes, taken))) {
		taken = extent->prev;
		gm_nodes_give(&heap.nodes, extent);
	}
}

static void test_nodes(void)
{
	uint32_t taken = starve();
	struct gm_extent *extent[5];

	must(heap_grow(&heap, arena, 5 * PAGE, 8 * PAGE));
	feed(taken);
	for (int i = 0; i < 5; i++)
		extent[i] = block(arena, PAGE - 64 * KIB);
	sound("grown without nodes");
	block_give(arena, extent[1]);
	block_give(arena, extent[2]);
	block_give(arena, extent[3]);
	taken = starve();
	must(heap_trim(0));
	feed(taken);
	sound("trimmed without nodes");
	ok(heap_reserved() < 5 * PAGE, "nodes are made when they are needed");
	restart();
}

/* The device is full, but in pieces: pages are moved, and keep what others
 * wrote, whatever the waste that is allowed. */
static void test_move(const char *waste)
{
	enum { PAGES = 32 };
	struct gm_extent *extent[PAGES], *large;
	uint64_t creates;
	unsigned lost = 0;

	option("waste", waste);
	restart();
	for (int i = 0; i < PAGES; i++) {
		extent[i] = block(arena, PAGE);
		touch(extent[i]);
		*(volatile int *)extent[i]->address = i;
	}
	is_uint(heap_reserved(), 64 * MIB, "the device is full");
	ok(!block_take(arena, PAGE), "no page more");
	for (int i = 0; i < PAGES; i += 2)
		block_give(arena, extent[i]);
	creates = calls(GPUMEM_CALL_PAGE_CREATE);
	large = block(arena, 16 * PAGE);
	touch(large);
	is_uint(heap_reserved(), 64 * MIB, "every other page is one block");
	if (!waste)
		is_uint(calls(GPUMEM_CALL_PAGE_CREATE), creates,
			"the driver was not asked for memory");
	ok(heap.counters.moved_bytes >= 15 * PAGE, "pages were moved");
	for (int i = 1; i < PAGES; i += 2)
		lost += *(volatile int *)extent[i]->address != i;
	is_uint(lost, 0, "the others are untouched");
	sound("moved");
	option("waste", NULL);
	restart();
}

static void test_limit(void)
{
	const struct gm_attempt beyond = {.beyond_soft = true};
	struct gm_extent *extent;

	restart_with(4 * PAGE, 0);
	extent = block(arena, 3 * PAGE);
	is_status(heap_grow(&heap, arena, 2 * PAGE, heap.unit), GPUMEM_LIMIT,
		  "beyond the limit");
	ok(heap_reserved() <= 4 * PAGE, "it was not passed");
	sound("at the limit");
	ok(block_take(arena, PAGE) != NULL, "up to the limit");
	is_uint(heap_reserved(), 4 * PAGE, "exactly");
	block_give(arena, extent);
	heap.space->budget.soft_limit_bytes = PAGE;
	is_status(gm_limit_check(&heap, NULL, 1), GPUMEM_LIMIT, "a soft limit");
	set_limit(0);
	is_status(gm_limit_check(&heap, &beyond, 1ull << 60), GPUMEM_OK,
		  "is none beyond it");
	heap.space->budget.soft_limit_bytes = 0;
	restart();
}

/* Sizes of pages and spans that are asked for. */
static void test_sizes(void)
{
	static const uint64_t bad[] = {3 * MIB, MIB, 1000, 8ull << 30,
				       1ull << 40};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct gm_heap_config config = {.page_bytes = bad[i]};
		struct gm_heap other;

		ok(gm_heap_init(&other, device, &config) != GPUMEM_OK,
		   "no pages of %" PRIu64 " bytes", bad[i]);
	}
	restart_with(0, 8 * MIB);
	touch(block(arena, 9 * MIB));
	is_uint(heap_reserved(), 16 * MIB, "larger pages than the device's");
	sound("larger pages");
	restart();
	is_status(heap_grow(&heap, arena, (size_t)1 << 46, heap.unit),
		  GPUMEM_NO_MEMORY, "there are not so many addresses");
	is_status(heap_grow(&heap, arena, SIZE_MAX / 2, heap.unit),
		  GPUMEM_NO_MEMORY, "nor ever");
	sound("too much");
}

static void test_trim(void)
{
	struct gm_extent *extent[8], *kept;

	for (int i = 0; i < 8; i++)
		extent[i] = block(arena, PAGE + 64 * KIB);
	kept = extent[3];
	is_uint(heap_reserved(), 9 * PAGE, "nine pages");
	for (int i = 0; i < 8; i++)
		if (i != 3)
			block_give(arena, extent[i]);
	is_uint(gm_space_whole_bytes(&heap), 7 * PAGE,
		"so much could be given back");
	must(heap_trim(6 * PAGE));
	is_uint(heap_reserved(), 6 * PAGE, "as much is kept as was asked for");
	must(heap_trim(6 * PAGE));
	is_uint(heap_reserved(), 6 * PAGE, "twice");
	must(heap_trim(PAGE / 2));
	is_uint(heap_reserved(), 2 * PAGE, "all goes that is whole and unused");
	touch(kept);
	sound("trimmed");
	block_give(arena, kept);
	must(heap_trim(0));
	is_uint(heap_reserved(), 0, "and then all");
	is_uint(heap.counters.segments.current, 0, "no page is counted");
	sound("empty");
	restart();
}

/* A heap that cannot begin leaves nothing; one that cannot end says so. */
static void test_life(bool vm)
{
	const struct gm_heap_config config = {0};
	uint64_t before = atomic_load(&device->reserved_bytes);
	struct gm_heap other;

	if (vm) {
		must(gpumem_host_faults("va_reserve@1+"));
		is_status(gm_heap_init(&other, device, &config),
			  GPUMEM_NO_MEMORY, "without addresses no heap");
		must(gpumem_host_faults("va_reserve@1"));
		option("space", "64GiB");
		is_status(gm_heap_init(&other, device, &config), GPUMEM_OK,
			  "with fewer addresses there is one");
		is_uint(other.spans.first->bytes, 32ull << 30, "half of them");
		is_status(gm_heap_fini(&other), GPUMEM_OK, "which ends");
		option("space", NULL);
	}
	option("vm", vm ? "on" : "off");
	heap_start();
	(void)block(arena_of(NULL), 5 * MIB);
	must(gpumem_host_faults(vm ? "page_destroy@1" : "free@1"));
	is_status(gm_heap_fini(&heap), GPUMEM_DRIVER,
		  "a heap whose memory does not go says so");
	must(gpumem_host_faults(NULL));
	option("vm", NULL);
	is_uint(atomic_load(&device->reserved_bytes), before,
		"and has none any more");
}

int main(void)
{
	uintptr_t last;

	alarm(60);
	device_start();
	restart();
	test_aligned();
	test_nodes();
	test_trim();
	test_move(NULL);
	test_move("50%");
	test_limit();
	test_sizes();
	last = block(arena, MIB)->address;
	heap_end();
	is_uint(gm_map_get(last), 0, "no block outlives its heap");
	device_end();
	/* What does not go stays with the driver. */
	for (int vm = 1; vm >= 0; vm--) {
		device_start();
		test_life(vm);
		gm_device_release(device);
	}
	return done_testing();
}
