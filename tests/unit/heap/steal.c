/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Which free extents lose their pages when memory moves. That what moves is
 * whole and completed is in space.c and handle_move.c. */
#include "fixture.h"

#define PAGE (2 * MIB)

/* Beyond it nothing is mapped yet. */
#define FAR (1024 * MIB)

enum { COUNT = 4 };

static struct gm_arena *arena;
static uintptr_t start[COUNT];
static size_t had[COUNT];

/* Free extents of so many pages each, in this order, with a page that is used
 * behind each; and nothing may be wasted. */
static void begin(const size_t pages[COUNT])
{
	struct gm_extent *extent[COUNT];

	if (arena)
		heap_end();
	heap_start();
	arena = arena_of(NULL);
	/* The span begins where every alignment does. */
	block(arena, PAGE);
	for (int i = 0; i < COUNT; i++) {
		extent[i] = block(arena, pages[i] * PAGE);
		start[i] = extent[i]->address;
		had[i] = pages[i];
		block(arena, PAGE);
	}
	for (int i = 0; i < COUNT; i++)
		block_give(arena, extent[i]);
	heap.space->budget.waste = 0;
	heap.counters.highest_allocated = heap.counters.allocated.current;
}

/* So many pages of each are where they were. */
static void left(const size_t pages[COUNT], const char *what)
{
	for (int i = 0; i < COUNT; i++) {
		const struct gm_page *page = gm_page_at(&heap.spans, start[i]);
		size_t mapped = 0;

		for (size_t k = 0; k < had[i]; k++)
			mapped += page[k].handle != 0;
		is_uint(mapped, pages[i], "%s: extent %d", what, i);
	}
}

static void move(size_t pages)
{
	uint64_t moved = heap.counters.moved_bytes;

	touch(block_take_aligned(arena, pages * PAGE, FAR));
	is_uint(heap.counters.moved_bytes - moved, pages * PAGE,
		"%zu pages are moved", pages);
	sound("%zu pages", pages);
}

static void test_order(void)
{
	static const size_t pages[COUNT] = {6, 1, 3, 2};

	begin(pages);
	move(7);
	left((const size_t[COUNT]){5, 0, 0, 0}, "the smallest give all");
	is_uint(calls(GPUMEM_CALL_UNMAP), 4, "one call for each");
	begin(pages);
	move(2);
	left((const size_t[COUNT]){6, 1, 3, 0}, "one that has just enough");
	is_uint(calls(GPUMEM_CALL_UNMAP), 1, "in one call");
	begin(pages);
	move(4);
	left((const size_t[COUNT]){2, 1, 3, 2}, "one that has more");
	is_uint(calls(GPUMEM_CALL_UNMAP), 1, "in one call too");
}

/* What is beside the new block is not taken from, though it has enough. */
static void test_beside(void)
{
	static const size_t pages[COUNT] = {2, 2, 2, 5};
	struct gm_extent *last;

	begin(pages);
	last = gm_index_largest(&arena->index);
	block_give(arena, next_of(last));
	is_uint(gm_extent_pages(last, PAGE), 6, "six pages before the hole");
	last = block(arena, 10 * PAGE);
	is_uint(last->address, start[3], "four more make ten");
	left((const size_t[COUNT]){0, 0, 2, 5}, "two others give all");
	sound("beside");
}

/* What is known to be over is not asked for, though newer frees are not. */
static void test_settled(void)
{
	static const size_t pages[COUNT] = {1, 1, 1, 1};
	struct gm_extent *late;
	uint64_t asked;

	begin(pages);
	late = block_take_aligned(arena, PAGE, FAR / 2);
	asked = calls(GPUMEM_CALL_STREAM_QUERY);
	ok(asked > 0, "the stream is asked first");
	block_give(arena, late);
	touch(block_take_aligned(arena, 2 * PAGE, FAR / 2));
	is_uint(calls(GPUMEM_CALL_STREAM_QUERY), asked, "and not again");
	touch(block_take_aligned(arena, 2 * PAGE, FAR / 2));
	is_uint(calls(GPUMEM_CALL_STREAM_QUERY), asked + 1,
		"until what was free before is used up");
	sound("completed");
}

int main(void)
{
	alarm(60);
	/* What moves is unmapped, not lent. */
	option("alias", "off");
	device_start();
	test_order();
	test_beside();
	test_settled();
	heap_end();
	device_end();
	return done_testing();
}
