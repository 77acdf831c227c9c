/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which pending slots a stream gets behind the work that uses them, how many,
 * which it does not, and when it gets them rather than a slab. That the work is
 * over before what comes behind it, tests/unit/lib/pending_slots.c has.
 */
#include "heap/lookup.h"
#include "pending.h"

/* What a transfer of slots asks for at a time. */
enum { SLOTS = 16, MORE = 3 };

static struct gm_slot slot[SLOTS + MORE];
static struct gm_want want;

/* So many slots of the first class are pending, used by a held stream. */
static void begin(unsigned count)
{
	want = (struct gm_want){.bytes = heap.classes.of[0].run_bytes,
				.alignment = GM_RUN_UNIT,
				.class = &heap.classes.of[0]};
	slab_new(arena, 0);
	is_uint(gm_slab_take(arena, 0, slot, count), count, "slots are taken");
	for (unsigned i = 0; i < count; i++)
		slot_use(&slot[i]);
	hold_begin(&hold[0], stream[0]);
	for (unsigned i = 0; i < count; i++)
		pend_slot(&slot[i], 1);
	arena->idle = true;
}

static void end(void)
{
	hold_end(&hold[0], stream[0]);
	must(gm_stream_sync(device, arena->stream));
	gm_pending_poll(&heap);
	is_uint(heap.order->pending.count, 0, "in the end nothing is pending");
	is_uint(heap.order->pending.bytes, 0, "nor counted");
	sound("nothing is pending");
	restart();
}

static unsigned pending(void)
{
	return (unsigned)heap.order->pending.count;
}

static uint32_t free_slots(void)
{
	return slab_of(slot[0].address)->free_count;
}

static void test_some(void)
{
	uint32_t before;

	begin(SLOTS + MORE);
	before = free_slots();
	ok(gm_heap_get_behind(arena, NULL, &want,
			      GM_BEHIND_SLOTS | GM_BEHIND_EVERYWHERE),
	   "slots are to be had");
	is_uint(free_slots() - before, SLOTS, "so many are free in their slab");
	is_uint(pending(), MORE, "and no more");
	ok(!gm_mark_live(atomic_load(slot[0].mark)), "the oldest are");
	ok(!arena->idle, "the stream is not known to be done");
	is_uint(heap.order->events.made - heap.order->events.count, MORE,
		"their events are given back");
	sound("some are behind");
	ok(gm_heap_get_behind(arena, NULL, &want,
			      GM_BEHIND_SLOTS | GM_BEHIND_EVERYWHERE) &&
		   !pending(),
	   "then the rest");
	ok(!gm_heap_get_behind(arena, NULL, &want,
			       GM_BEHIND_SLOTS | GM_BEHIND_EVERYWHERE),
	   "then there are none");
	end();
}

static void test_others(void)
{
	struct gm_extent *extent;

	begin(1);
	want.class = &heap.classes.of[1];
	ok(!gm_heap_get_behind(arena, NULL, &want,
			       GM_BEHIND_SLOTS | GM_BEHIND_EVERYWHERE),
	   "none of another class");
	want.class = NULL;
	ok(!gm_heap_get_behind(arena, NULL, &want,
			       GM_BEHIND_SLOTS | GM_BEHIND_EVERYWHERE),
	   "none for a large block");
	want.class = &heap.classes.of[0];
	ok(!gm_heap_get_behind(arena_of(stream[1]), NULL, &want,
			       GM_BEHIND_SLOTS | GM_BEHIND_EVERYWHERE),
	   "none of another stream");
	ok(!gm_heap_get_behind(arena_of(stream[0]), NULL, &want,
			       GM_BEHIND_SLOTS | GM_BEHIND_EVERYWHERE),
	   "also if it is the one that uses them");
	extent = block(arena, MIB);
	pend(extent, 1);
	ok(gm_heap_get_behind(arena, NULL, &want,
			      GM_BEHIND_SLOTS | GM_BEHIND_EVERYWHERE) &&
		   is_pending(extent),
	   "a large block is left alone");
	end();
}

static void refused(const char *what)
{
	ok(!gm_heap_get_behind(arena, NULL, &want,
			       GM_BEHIND_SLOTS | GM_BEHIND_EVERYWHERE) &&
		   pending() == 1,
	   "%s", what);
}

static void test_left_out(void)
{
	begin(1);
	heap.order->pending.first->freed.view = slot;
	refused("one with a view stays");
	heap.order->pending.first->freed.view = NULL;
	arena->graph = (void *)slot;
	refused("a graph gets none");
	arena->graph = NULL;
	arena->dropped = true;
	refused("nor does a stream that is gone");
	arena->dropped = false;
	must(gpumem_host_capture(0, NULL, true));
	refused("a stream that is being captured waits for nothing");
	must(gpumem_host_capture(0, NULL, false));
	must(gpumem_host_faults("stream_wait@1"));
	refused("what the driver refuses stays");
	must(gpumem_host_faults(NULL));
	ok(gm_heap_get_behind(arena, NULL, &want,
			      GM_BEHIND_SLOTS | GM_BEHIND_EVERYWHERE),
	   "then it is had");
	end();
}

/* What cannot be waited for yet hides nothing. */
static void test_later(void)
{
	must(gpumem_host_capture(0, stream[0], true));
	begin(1);
	must(gpumem_host_capture(0, stream[0], false));
	refused("without an event it stays");
	end();
}

static bool early(uint32_t flags)
{
	want.flags = flags;
	return gm_heap_get_behind_early(arena, NULL, &want);
}

/* Much is reserved, and little was ever needed. */
static void test_early(void)
{
	begin(1);
	block_give(arena, block(arena, 32 * MIB));
	ok(!early(0), "not as long as nothing is wasted");
	heap.counters.highest_allocated = 0;
	ok(!early(GPUMEM_ALLOC_NO_WAIT), "nor with NO_WAIT");
	ok(!early(GPUMEM_ALLOC_NO_GROW), "nor with NO_GROW");
	heap.policy->wait = false;
	ok(!early(0), "nor without option wait");
	heap.policy->wait = true;
	heap.counters.highest_allocated = heap_reserved() - 14 * MIB;
	ok(!early(0), "nor if it is little");
	heap.counters.highest_allocated = MIB;
	heap.space->budget.stream_waste = 100;
	ok(!early(0), "nor within option stream_waste");
	heap.space->budget.stream_waste = 0.045;
	ok(early(0) && !pending(), "but where there is waste");
	end();
}

/* The allocation itself asks: no slab is made. */
static void test_allocation(void)
{
	const struct gm_request request = {.bytes = heap.classes.of[0].bytes,
					   .alignment = 1};
	uint64_t slots = heap.classes.of[0].slots, had = 1;
	struct gm_attempt attempt = {0};
	void *ptr;

	slab_new(arena, 0);
	while (gm_slab_take(arena, 0, slot, 1))
		slot_use(&slot[0]), had++;
	ok(had > slots, "a slab is full");
	hold_begin(&hold[0], stream[0]);
	pend_slot(&slot[0], 1);
	block_give(arena, block(arena, 32 * MIB));
	heap.counters.highest_allocated = 0;
	must(gm_heap_take(&heap, &attempt, &request, &ptr));
	is_uint((uintptr_t)ptr, slot[0].address, "it gets the pending slot");
	is_uint(pending(), 0, "which is its own");
	gm_locals_flush_own(&heap);
	end();
}

int main(void)
{
	alarm(60);
	device_start();
	for (int i = 0; i < STREAMS; i++)
		stream[i] = stream_new();
	restart();
	test_some();
	test_others();
	test_left_out();
	test_later();
	test_early();
	test_allocation();
	heap_end();
	device_end();
	return done_testing();
}
