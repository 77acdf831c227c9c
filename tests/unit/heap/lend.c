/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Pages that serve the same stream elsewhere before their last use is over are
 * the same memory at both addresses; how many may be. When they are lent is
 * decide_streams.c's. */
#include "fixture.h"

#define PAGE (2 * MIB)

/* Beyond it nothing is mapped yet. */
#define FAR (1024 * MIB)

static gpumem_stream stream, other;
static struct gm_arena *arena;
static struct hold hold;
static struct gm_extent *freed; /* while the stream is at work on it */
static uintptr_t was;

/* The span begins where every alignment does. Eight pages, of which four are
 * freed with work of the stream queued before. Nothing may be wasted. */
static void begin(void)
{
	struct gm_extent *kept, *first;

	heap_start();
	stream = stream_new();
	other = stream_new();
	arena = arena_of(stream);
	first = block(arena, PAGE);
	freed = block(arena, 4 * PAGE);
	kept = block(arena, 3 * PAGE);
	touch(first);
	touch(freed);
	touch(kept);
	was = freed->address;
	hold_begin(&hold, stream);
	block_give(arena, freed);
	no_waste();
	is_uint(heap_reserved(), 8 * PAGE, "eight pages");
}

static void end(bool busy)
{
	if (busy)
		hold_end(&hold, stream);
	must(heap_trim(0));
	is_uint(heap.space->stale.bytes, 0, "a trim leaves nothing stale");
	must(gm_stream_destroy(device, stream));
	must(gm_stream_destroy(device, other));
	heap_end();
}

static struct gm_extent *lend(size_t pages)
{
	return block_take_aligned(arena, pages * PAGE, FAR);
}

static void test_lend(void)
{
	volatile int *old;
	struct gm_extent *there;

	begin();
	old = (volatile int *)was;
	*old = 17;
	there = lend(4);
	is_uint(heap_reserved(), 8 * PAGE, "nothing more is taken");
	is_uint(heap.space->stale.bytes, 4 * PAGE, "all four are stale");
	is_uint(calls(GPUMEM_CALL_UNMAP), 0, "and still mapped");
	is_int(*(volatile int *)there->address, 17, "the same memory");
	*(volatile int *)there->address = 18;
	is_int(*old, 18, "at both addresses");
	sound("lent");
	must(heap_trim(0));
	is_uint(heap.space->stale.bytes, 4 * PAGE,
		"a trim leaves what is at work");
	hold_end(&hold, stream);
	must(heap_trim(0));
	is_uint(heap.space->stale.bytes, 0, "and unmaps it afterwards");
	is_int(*(volatile int *)there->address, 18, "with its content");
	sound("retired");
	block_give(arena, there);
	end(false);
}

/* Places side by side are unmapped in one call, those that are over. */
static void test_together(void)
{
	struct gm_extent *kept;

	begin();
	kept = next_of(freed);
	for (size_t i = 1; i <= 4; i++) {
		(void)lend(1);
		is_uint(heap.space->stale.bytes, i * PAGE, "page %zu is lent",
			i);
	}
	hold_end(&hold, stream);
	hold_begin(&hold, stream);
	block_give(arena, kept);
	(void)lend(3);
	is_uint(heap.space->stale.bytes, 7 * PAGE, "and three beside them");
	sound("side by side");
	is_uint(gm_stale_retire(&heap, NULL, SIZE_MAX), 4, "four are over");
	is_uint(calls(GPUMEM_CALL_UNMAP), 1, "four are unmapped in one call");
	is_uint(heap.space->stale.bytes, 3 * PAGE, "not what is at work");
	sound("four of them");
	end(true);
}

/* Where half of the addresses are stale nothing more is lent until work is
 * over. */
static void test_bound(void)
{
	uint64_t span;

	begin();
	span = heap.space->span_bytes;
	is_uint(gm_stale_room(&heap, NULL, SIZE_MAX), span / 2 / PAGE,
		"half of the addresses");
	heap.space->span_bytes = 2 * 3 * PAGE;
	(void)lend(4);
	is_uint(heap.space->stale.bytes, 3 * PAGE, "three pages are lent");
	is_uint(heap_reserved(), 9 * PAGE, "and one is new");
	is_uint(gm_stale_room(&heap, NULL, 1), 0,
		"no more while there is work");
	hold_end(&hold, stream);
	is_uint(gm_stale_room(&heap, NULL, 2), 2, "what is over makes room");
	is_uint(calls(GPUMEM_CALL_UNMAP), 1, "in one call");
	heap.space->span_bytes = span;
	sound("at the bound");
	end(false);
}

/* What can be had without a wait is told as far as there are places. */
static void test_promise(void)
{
	begin();
	block_give(arena, lend(4));
	heap.space->stale.most = heap.space->stale.handles;
	is_uint(gm_space_now_bytes(&heap, NULL, stream, 0), 0,
		"with no place, nothing is promised of what is busy");
	heap.space->stale.most += 2;
	is_uint(gm_space_now_bytes(&heap, NULL, stream, 0), 2 * PAGE,
		"with two places, two pages");
	hold_end(&hold, stream);
	gm_arena_poll(arena, NULL, true);
	is_uint(gm_space_now_bytes(&heap, NULL, stream, 0), 4 * PAGE,
		"all of them when they are over");
	end(false);
}

int main(void)
{
	/* What a capture may forbid: decide_streams.c has the rest. */
	option("host.capture_frees", "off");
	device_start();
	test_lend();
	test_together();
	test_bound();
	test_promise();
	device_end();
	return done_testing();
}
