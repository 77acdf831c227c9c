/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Pages that serve the same stream elsewhere before their last use is over. */
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
	heap.space->budget.waste = 0;
	heap.counters.highest_allocated = heap.counters.allocated.current;
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

/* What is over is lent as well where no other stream has free memory, so that
 * nothing is unmapped for it. Where one has, the oldest free memory serves
 * first, whichever stream's it is. */
static void test_alone(void)
{
	struct gm_extent *others;

	begin();
	hold_end(&hold, stream);
	(void)lend(2);
	is_uint(calls(GPUMEM_CALL_UNMAP), 0, "alone: nothing is unmapped");
	is_uint(heap.space->stale.bytes, 2 * PAGE, "but lent");
	sound("alone");
	others = block(arena_of(other), PAGE);
	block_give(arena_of(other), others);
	heap.counters.highest_allocated = heap.counters.allocated.current;
	(void)lend(2);
	is_uint(heap.space->stale.bytes, 0,
		"with others: what is over is unmapped, as is what was stale");
	sound("with others");
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

/* A page can be lent again before the first work is over, and goes back to the
 * driver only when it is mapped nowhere. */
static void test_chain(void)
{
	struct gm_extent *there;

	begin();
	for (int i = 0; i < 3; i++) {
		there = block_take_aligned(arena, (4 + (i == 1)) * PAGE,
					   FAR << i);
		touch(there);
		block_give(arena, there);
		sound("lent %d times", i + 1);
	}
	is_uint(heap_reserved(), 9 * PAGE, "one page more was needed");
	ok(heap.space->stale.bytes >= 8 * PAGE, "places of three blocks");
	must(heap_trim(0));
	is_uint(heap_reserved(), 9 * PAGE, "nothing can go back");
	hold_end(&hold, stream);
	must(heap_trim(0));
	is_uint(heap_reserved(), 4 * PAGE, "then all that is free goes");
	end(false);
}

/* What is lent is not over: no other stream gets it. */
static void test_order(void)
{
	struct gm_arena *receiver;
	struct gm_extent *there;

	begin();
	there = lend(4);
	block_give(arena, there);
	receiver = arena_of(other);
	gm_arenas_transfer(receiver, NULL, SIZE_MAX);
	is_ptr(block_fit(receiver, PAGE, PAGE), NULL,
	       "not as free memory of another stream");
	there = block_take_aligned(receiver, 4 * PAGE, FAR);
	is_uint(heap_reserved(), 12 * PAGE, "nor its pages");
	sound("another stream");
	end(true);
}

static void none_lent(const char *what)
{
	struct gm_extent *there = lend(4);

	is_uint(heap.space->stale.bytes, 0, "%s: nothing is lent", what);
	ok(there && heap_reserved() == 12 * PAGE, "%s: the pool grows", what);
	sound("%s", what);
}

static void test_not(void)
{
	begin();
	must(gpumem_host_capture(0, other, true));
	(void)arena_of(other);
	none_lent("capture");
	must(gpumem_host_capture(0, other, false));
	end(true);
	option("alias", "off");
	begin();
	none_lent("option alias");
	end(true);
	option("alias", NULL);
	option("host.alias", "off");
	gm_device_release(device);
	device_start();
	begin();
	none_lent("a device that cannot");
	end(true);
	option("host.alias", NULL);
	gm_device_release(device);
	device_start();
}

/* A map that fails undoes it. */
static void test_failed(void)
{
	begin();
	must(gpumem_host_faults("map@1"));
	is_ptr(lend(4), NULL, "the map fails");
	must(gpumem_host_faults(""));
	is_uint(heap.space->stale.bytes, 0, "nothing is stale");
	is_uint(heap.space->spare_count, 0,
		"nor spare, while the stream is at work on it");
	ok(gm_extent_is(freed, GM_EXTENT_FREE) && freed->address == was &&
		   freed->bytes == 4 * PAGE,
	   "it is free memory where it was");
	sound("undone");
	is_uint(heap_reserved(), 8 * PAGE, "and nothing was taken");
	end(true);
}

/* With a limit that leaves no page, and more than the free pages needed. */
static void test_limit(void)
{
	begin();
	heap.space->budget.limit_bytes = 8 * PAGE;
	is_ptr(lend(5), NULL, "five pages are too many");
	is_uint(heap.space->stale.bytes, 0, "what was lent for it is back");
	sound("over the limit");
	ok(lend(4) != NULL, "four are there, at work or not");
	sound("at the limit");
	end(true);
}

/* Addresses of stale places serve again once the work is over. */
static void test_addresses(void)
{
	struct gm_extent *given;

	option("space", "24MiB");
	heap_start();
	stream = stream_new();
	arena = arena_of(stream);
	given = block(arena, 4 * PAGE);
	touch(block(arena, PAGE));
	hold_begin(&hold, stream);
	heap.space->budget.waste = 0;
	block_give(arena, given);
	touch(block(arena, 5 * PAGE));
	is_uint(heap.space->stale.bytes, 4 * PAGE, "four pages are lent");
	is_ptr(block_take(arena, 4 * PAGE), NULL, "no addresses are left");
	hold_end(&hold, stream);
	touch(block(arena, 4 * PAGE));
	is_uint(heap.space->stale.bytes, 0, "then those of the four serve");
	sound("addresses");
	must(gm_stream_destroy(device, stream));
	heap_end();
	option("space", NULL);
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

int main(void)
{
	/* What a capture may forbid: in_capture.c is about the rest. */
	option("host.capture_frees", "off");
	device_start();
	test_lend();
	test_alone();
	test_together();
	test_chain();
	test_order();
	test_not();
	test_failed();
	test_limit();
	test_bound();
	test_addresses();
	device_end();
	return done_testing();
}
