/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pending blocks that a stream gets behind the work that uses them: that no
 * event is lost, and which it never gets. When it gets them, and how many, is
 * in decide_streams.c; that the work is over before what comes behind it, in
 * tests/unit/lib/pending_behind.c.
 */
#include "pending.h"

/* Until so many bytes fit, or the most are free. */
static bool get(struct gm_arena *receiver, size_t bytes, uint64_t most)
{
	const struct gm_transfer transfer = {.receiver = receiver,
					     .bytes = bytes,
					     .alignment = heap.unit,
					     .most = most,
					     .everywhere = true};

	return gm_transfer_pending(&transfer, receiver == arena);
}

static bool is_free(const struct gm_extent *extent, const struct gm_arena *of)
{
	return gm_extent_is(extent, GM_EXTENT_FREE) && extent->arena == of;
}

static void end(unsigned streams)
{
	for (unsigned i = 0; i < STREAMS; i++)
		if (streams >> i & 1)
			hold_end(&hold[i], stream[i]);
	/* It has waited for them. */
	must(gm_stream_sync(device, arena->stream));
	gm_pending_poll(&heap);
	is_uint(heap.order->pending.count, 0, "in the end nothing is pending");
	is_uint(heap.order->pending.bytes, 0, "nor counted");
	restart();
}

/* Only fences of arenas keep events. */
static size_t events_out(void)
{
	size_t fences = 0;

	for (const struct gm_arena *each = gm_arena_first(&heap); each;
	     each = gm_arena_after(&heap, each))
		fences += each->fence_count;
	return heap.order->events.made - heap.order->events.count - fences;
}

static void test_order(void)
{
	struct gm_extent *extent[4];

	for (int i = 0; i < 4; i++)
		extent[i] = block(arena, MIB);
	hold_begin(&hold[0], stream[0]);
	pend(extent[2], 1);
	pend(extent[0], 1);
	pend(extent[3], 1);
	ok(get(arena, MIB + 1, MIB + 1), "for more than one block");
	ok(is_free(extent[2], arena) && is_free(extent[0], arena),
	   "two are free, those that were freed first");
	ok(is_pending(extent[3]), "and no more");
	is_uint(events_out(), 1, "their events are given back");
	is_uint(extent[0]->seqno, arena->seqno, "as freed now");
	ok(arena->seqno > arena->completed && !arena->idle,
	   "by a stream that is not known to be done");
	sound("some are behind");
	end(1);
}

static void test_left_out(void)
{
	struct gm_pending_block **first = &heap.order->pending.first;
	struct gm_extent *extent = block(arena, MIB);
	struct gm_arena *user = arena_of(stream[1]);
	struct gm_slot slot[2];

	slab_new(arena, 0);
	gm_slab_take(arena, 0, slot, 2);
	slot_use(&slot[0]);
	slot_use(&slot[1]);
	hold_begin(&hold[0], stream[0]);
	pend_slot(&slot[0], 1);
	ok(!get(arena, 1, 1), "a small block is left alone");
	ok(!get(user, 1, 1), "also by other streams");
	pend(extent, 1);
	(*first)->next->freed.view = extent;
	ok(!get(arena, 1, 1) && is_pending(extent), "so is one with a view");
	(*first)->next->freed.view = NULL;
	arena->graph = (void *)extent;
	ok(!get(arena, 1, 1) && !get(user, 1, 1) && is_pending(extent),
	   "and one of a graph");
	arena->graph = NULL;
	user->graph = (void *)extent;
	ok(!get(user, 1, 1) && is_pending(extent), "a graph gets none");
	user->graph = NULL;
	user->dropped = true;
	ok(!get(user, 1, 1) && is_pending(extent),
	   "nor does a stream that is gone");
	user->dropped = false;
	must(gpumem_host_capture(0, NULL, true));
	ok(!get(arena, 1, 1) && is_pending(extent),
	   "a stream that is being captured waits for nothing");
	ok(!get(user, 1, 1) && is_pending(extent), "nor does one for it");
	must(gpumem_host_capture(0, NULL, false));
	ok(get(arena, 1, 1) && is_free(extent, arena), "then it does");
	hold_end(&hold[0], stream[0]);
	gm_pending_poll(&heap);
	slot_give(&slot[1]);
	end(0);
}

/* What cannot be waited for yet hides nothing. */
static void test_later(void)
{
	struct gm_extent *extent[2];

	extent[0] = block(arena, MIB);
	extent[1] = block(arena, MIB);
	must(gpumem_host_capture(0, stream[0], true));
	pend(extent[0], 3);
	must(gpumem_host_capture(0, stream[0], false));
	hold_begin(&hold[0], stream[0]);
	pend(extent[1], 1);
	ok(get(arena, 2 * MIB, 2 * MIB), "of two one has its events");
	ok(is_pending(extent[0]) && is_free(extent[1], arena),
	   "that one is free");
	sound("one is left");
	end(1);
}

/* The first wait is queued, the second one is refused. */
static void test_refused(void)
{
	struct gm_extent *extent = block(arena, MIB);

	hold_begin(&hold[0], stream[0]);
	hold_begin(&hold[1], stream[1]);
	pend(extent, 3);
	must(gpumem_host_faults("stream_wait@2"));
	ok(!get(arena, MIB, MIB) && is_pending(extent),
	   "without all waits it stays pending");
	must(gpumem_host_faults(NULL));
	is_uint(events_out(), 2, "with its events");
	sound("refused");
	hold_end(&hold[0], stream[0]);
	gm_pending_poll(&heap);
	ok(is_pending(extent), "until both are done");
	ok(get(arena, MIB, MIB) && is_free(extent, arena),
	   "what is over is not waited for");
	is_uint(events_out(), 0, "and all events are back");
	end(2);
}

/* The program has freed it: there were never more than two megabytes. */
static void test_peak(void)
{
	uint64_t before = gm_budget_target(&heap, 0);

	hold_begin(&hold[0], stream[0]);
	pend(block(arena, MIB), 1);
	is_uint(heap.counters.active.peak, MIB, "a block was active");
	ok(gm_budget_target(&heap, 0) > before, "and may be reserved");
	before = gm_budget_target(&heap, 0);
	pend(block(arena, 2 * MIB), 1);
	is_uint(heap.counters.active.peak, 3 * MIB, "then three times that");
	is_uint(gm_budget_target(&heap, 0) / before, 2,
		"but the program had no more than two at a time");
	end(1);
}

/* A stream that is gone had the name that the receiver's has now. */
static void test_names(void)
{
	struct gm_wait wait = {.stream = NULL, .dropped = true};
	struct gm_extent *extent = block(arena, MIB);

	hold_begin(&hold[0], stream[0]);
	must(gm_events_record(&heap, stream[0], &wait.event));
	pend_waits(extent, &wait, 1);
	must(gpumem_host_faults("stream_wait@1"));
	ok(!get(arena, MIB, MIB) && is_pending(extent),
	   "the use of a stream of the same name is waited for");
	must(gpumem_host_faults(NULL));
	ok(get(arena, MIB, MIB), "as that of any other one");
	end(1);
}

int main(void)
{
	alarm(60);
	device_start();
	for (int i = 0; i < STREAMS; i++)
		stream[i] = stream_new();
	restart();
	test_order();
	test_left_out();
	test_later();
	test_refused();
	test_names();
	test_peak();
	heap_end();
	device_end();
	return done_testing();
}
