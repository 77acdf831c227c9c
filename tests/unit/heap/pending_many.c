/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * More pending blocks than are looked at for one allocation: the oldest are,
 * and of the others each has its turn, so that what is over or wanted is found
 * wherever it is in the list. All are, before a request fails.
 */
#include "heap/lookup.h"
#include "pending.h"

enum { TURNS = 5, MANY = TURNS * GM_PENDING_LOOKS };

/* A slot of the class that the streams still use. */
static void pend_one(unsigned class, unsigned streams)
{
	struct gm_slot slot;

	while (!gm_slab_take(arena, class, &slot, 1))
		slab_new(arena, class);
	slot_use(&slot);
	pend_slot(&slot, streams);
}

/* Many, used by a held stream. */
static void begin(void)
{
	hold_begin(&hold[0], stream[0]);
	for (unsigned i = 0; i < MANY; i++)
		pend_one(0, 1);
}

static size_t pending(void)
{
	return heap.order->pending.count;
}

/* Where nothing is pending. */
static bool begins_turn(struct gm_pending_block **link)
{
	return !link || link == &heap.order->pending.first;
}

static void end(void)
{
	hold_end(&hold[0], stream[0]);
	must(gm_stream_sync(device, arena->stream));
	(void)gm_pending_poll(&heap);
	is_uint(pending(), 0, "in the end all are over");
	ok(begins_turn(heap.order->pending.further) &&
		   begins_turn(heap.order->pending.behind),
	   "no turn begins at what is gone");
	ok(!gm_pending_poll_some(&heap), "then none is");
	pend_one(0, 2);
	ok(gm_pending_poll_some(&heap) && !pending(), "then a new one is");
	sound("nothing is pending");
	restart();
}

static void test_oldest(void)
{
	pend_one(0, 2);
	begin();
	ok(gm_pending_poll_some(&heap), "the oldest is found at once");
	is_uint(pending(), MANY, "and is free");
	ok(!gm_pending_poll_some(&heap), "no other is over");
	end();
}

static void test_turns(void)
{
	unsigned polls = 0;

	begin();
	pend_one(0, 2);
	while (polls <= TURNS && !gm_pending_poll_some(&heap))
		polls++;
	ok(polls, "not all are asked about at a time");
	ok(polls < TURNS, "but each in its turn: %u polls for nothing", polls);
	is_uint(pending(), MANY, "what is over is free");
	end();
}

/* Those where the next turns begin may be over by then. */
static void test_turn_leaves(void)
{
	struct gm_want want = {.class = &heap.classes.of[1]};

	begin();
	ok(!gm_pending_poll_some(&heap), "none is over");
	ok(!gm_heap_get_behind(arena, NULL, &want, GM_BEHIND_SLOTS),
	   "none is wanted");
	want.class = &heap.classes.of[0];
	while (pending())
		if (!gm_heap_get_behind(arena, NULL, &want, GM_BEHIND_SLOTS))
			break;
	is_uint(pending(), 0, "all are wanted, some at a time");
	ok(!gm_pending_poll_some(&heap), "so none is left to be over");
	end();
}

static void test_wanted(void)
{
	struct gm_want want = {.class = &heap.classes.of[1]};
	unsigned looks = 0;

	begin();
	pend_one(1, 1);
	while (looks <= TURNS &&
	       !gm_heap_get_behind(arena, NULL, &want, GM_BEHIND_SLOTS))
		looks++;
	ok(looks, "not all are looked at");
	ok(looks < TURNS, "but each in its turn: %u looks for nothing", looks);
	is_uint(pending(), MANY, "what is wanted is free");
	pend_one(1, 1);
	ok(gm_heap_get_behind(arena, NULL, &want,
			      GM_BEHIND_SLOTS | GM_BEHIND_EVERYWHERE),
	   "in need all are looked at");
	end();
}

/* Nobody waits for it: it has to be found before the request fails. */
static void test_fails(void)
{
	const struct gm_request request = {.bytes = 4 * MIB,
					   .alignment = 1,
					   .flags = GPUMEM_ALLOC_NO_WAIT |
						    GPUMEM_ALLOC_NO_GROW};
	struct gm_extent *extent;
	struct gm_attempt attempt = {0};
	void *ptr;

	begin();
	extent = block(arena, 4 * MIB);
	pend(extent, 2);
	must(gm_heap_take(&heap, &attempt, &request, &ptr));
	is_uint((uintptr_t)ptr, extent->address, "the last that is pending");
	block_give(arena, extent);
	end();
}

/* At the limit, rather than that the host waits: that would last for ever. */
static void test_in_need(void)
{
	const struct gm_request request = {.bytes = 4 * MIB, .alignment = 1};
	struct gm_extent *extent;
	void *ptr;

	begin();
	extent = block(arena, 4 * MIB);
	hold_begin(&hold[1], stream[1]);
	pend(extent, 2);
	set_limit(heap.counters.reserved.current);
	must(gm_heap_alloc(&heap, &request, &ptr));
	is_uint((uintptr_t)ptr, extent->address, "the last, behind its work");
	set_limit(0);
	must(gm_heap_free(ptr, NULL));
	hold_end(&hold[1], stream[1]);
	end();
}

int main(void)
{
	alarm(60);
	device_start();
	for (int i = 0; i < STREAMS; i++)
		stream[i] = stream_new();
	restart();
	test_oldest();
	test_turns();
	test_turn_leaves();
	test_wanted();
	test_fails();
	test_in_need();
	heap_end();
	device_end();
	return done_testing();
}
