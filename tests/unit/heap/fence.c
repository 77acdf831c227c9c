/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Fences and sequence numbers, with streams that are held busy: nothing settles
 * early, and everything does in the end. */
#include "fixture.h"

/* A seqno settles when the event after it is over, and not before. */
static void test_fences(gpumem_stream stream)
{
	struct gm_arena *arena = arena_of(stream);
	struct gm_extent *first = block(arena, MIB), *second, *third;
	struct hold hold[2];
	uint64_t seqno;

	block(arena, MIB);
	second = block(arena, MIB);
	block(arena, MIB);
	third = block(arena, MIB);
	gm_arena_poll(arena, NULL, true);
	is_uint(calls(GPUMEM_CALL_EVENT_RECORD), 0,
		"nothing freed, nothing recorded");
	hold_begin(&hold[0], stream);
	block_give(arena, first);
	seqno = arena->seqno;
	ok(!gm_arena_completed(arena, seqno) && gm_arena_completed(arena, 0),
	   "a free is not completed, fresh memory is");
	gm_arena_poll(arena, NULL, false);
	is_uint(arena->fence_count, 0, "nobody asked for a fence");
	gm_arena_poll(arena, NULL, true);
	gm_arena_poll(arena, NULL, true);
	is_uint(arena->fence_count, 1, "one fence for one free");
	is_uint(calls(GPUMEM_CALL_STREAM_QUERY), 1,
		"a stream is not asked behind an event that is not over");
	hold_begin(&hold[1], stream);
	block_give(arena, second);
	gm_arena_poll(arena, NULL, true);
	block_give(arena, third);
	ok(!gm_arena_completed(arena, seqno), "the stream is busy");
	pthread_mutex_lock(&hold[0].mutex);
	hold[0].ended = true;
	pthread_cond_signal(&hold[0].more);
	pthread_mutex_unlock(&hold[0].mutex);
	while (!gm_arena_completed(arena, seqno))
		gm_arena_poll(arena, NULL, false);
	is_uint(arena->completed, seqno, "what came before the fence settles");
	is_uint(arena->fence_count, 1, "what came after does not");
	hold_end(&hold[1], stream);
	gm_arena_poll(arena, NULL, false);
	is_uint(arena->completed, seqno + 1, "but for the second fence");
	gm_arena_poll(arena, NULL, true);
	is_uint(arena->completed, arena->seqno, "all is completed in the end");
	is_uint(heap.order->events.count, heap.order->events.made,
		"events are given back");
	heap_end();
	heap_start();
}

/* More fences than there is room for are not recorded, and nothing settles too
 * early for it. */
static void test_ring(gpumem_stream stream)
{
	struct gm_arena *arena = arena_of(stream);
	struct hold hold;
	uint64_t last = 0, early = 0;

	for (int turn = 0; turn < 3; turn++) {
		hold_begin(&hold, stream);
		for (int i = 0; i < 3 * GM_FENCES; i++) {
			block_give(arena, block(arena, MIB));
			gm_arena_poll(arena, NULL, true);
			early += arena->completed != last;
		}
		is_uint(arena->fence_count, GM_FENCES, "the ring is full");
		hold_end(&hold, stream);
		gm_arena_poll(arena, NULL, false);
		ok(arena->completed > last && arena->completed < arena->seqno,
		   "what was fenced settles, and no more");
		gm_arena_poll(arena, NULL, true);
		is_uint(arena->completed, arena->seqno, "then all");
		last = arena->completed;
	}
	hold_begin(&hold, stream);
	for (int i = 0; i < 3 * GM_FENCES; i++) {
		block_give(arena, block(arena, MIB));
		gm_arena_poll(arena, NULL, true);
	}
	hold_end(&hold, stream);
	gm_arena_poll(arena, NULL, true);
	is_uint(arena->completed, arena->seqno,
		"of an idle stream all settles at once, full ring or not");
	is_uint(early, 0, "nothing completed while the stream was busy");
	ok(heap.order->events.made <= GM_FENCES, "events are used again: %zu",
	   heap.order->events.made);
	heap_end();
	heap_start();
}

/* A program that never asks has its frees completed all the same. */
static void test_unasked(gpumem_stream stream)
{
	struct gm_arena *arena = arena_of(stream);
	long i = 0;

	while (!arena->completed && i++ < 100000)
		block_give(arena, block(arena, 4 * MIB));
	ok(arena->completed > 0, "frees settle without being asked for");
	ok(calls(GPUMEM_CALL_EVENT_RECORD) <= 16,
	   "with few events: %" PRIu64 " for %ld frees",
	   calls(GPUMEM_CALL_EVENT_RECORD), i);
	heap_end();
	heap_start();
}

/* Nothing holds the stream any more. */
static void captured_settles(struct gm_arena *arena)
{
	gm_arena_poll(arena, NULL, true);
	is_uint(arena->completed, arena->seqno, "afterwards all settles");
	is_uint(gpumem_host_capture_violations(), 0,
		"no capture was disturbed");
	heap_end();
	heap_start();
}

static void test_capture(gpumem_stream stream)
{
	struct gm_arena *arena = arena_of(stream);
	uint64_t records;
	struct hold hold;

	hold_begin(&hold, stream);
	block_give(arena, block(arena, MIB));
	gm_arena_poll(arena, NULL, true);
	block_give(arena, block(arena, MIB));
	must(gpumem_host_capture(0, stream, true));
	records = calls(GPUMEM_CALL_EVENT_RECORD);
	gm_arena_poll(arena, NULL, true);
	ok(calls(GPUMEM_CALL_EVENT_RECORD) == records && arena->completed == 0,
	   "a stream that is being captured is left alone");
	ok(!gm_arenas_wait(&heap), "and not waited for");
	must(gpumem_host_capture(0, stream, false));
	hold_end(&hold, stream);
	captured_settles(arena);
}

/* What was over before the capture began is known during it; what was freed
 * since is not. */
static void test_captured(gpumem_stream stream)
{
	struct gm_arena *arena = arena_of(stream);
	uint64_t before;
	struct hold hold;

	hold_begin(&hold, stream);
	block_give(arena, block(arena, MIB));
	gm_arena_poll(arena, NULL, true);
	before = arena->seqno;
	hold_end(&hold, stream);
	must(gpumem_host_capture(0, stream, true));
	block_give(arena, block(arena, MIB));
	gm_arena_poll(arena, NULL, true);
	is_uint(arena->completed, before, "an event of before is asked");
	is_uint(arena->fence_count, 0, "none is recorded");
	gm_arena_poll(arena, NULL, true);
	is_uint(arena->completed, before, "nor is the stream idle");
	must(gpumem_host_capture(0, stream, false));
	captured_settles(arena);
}

/* A stream that answers is asked nothing else. */
static void test_questions(gpumem_stream stream)
{
	struct gm_arena *arena = arena_of(stream);
	uint64_t captures = calls(GPUMEM_CALL_CAPTURE_ID);
	struct hold hold;

	block_give(arena, block(arena, MIB));
	gm_arena_poll(arena, NULL, true);
	is_uint(arena->completed, arena->seqno, "an idle one");
	is_uint(calls(GPUMEM_CALL_CAPTURE_ID), captures, "whether captured");
	hold_begin(&hold, stream);
	block_give(arena, block(arena, MIB));
	gm_arena_poll(arena, NULL, true);
	is_uint(arena->fence_count, 1, "a busy one");
	is_uint(calls(GPUMEM_CALL_CAPTURE_ID), captures, "whether captured");
	block_give(arena, block(arena, MIB));
	gm_arena_poll(arena, NULL, true);
	is_uint(arena->fence_count, 2, "one whose event is not over");
	is_uint(calls(GPUMEM_CALL_CAPTURE_ID), captures + 1, "is asked");
	hold_end(&hold, stream);
	heap_end();
	heap_start();
}

/* A busy stream whose fence the driver does not record now. */
static void test_unfenced(gpumem_stream stream, const char *fault)
{
	struct gm_arena *arena = arena_of(stream);
	struct hold hold;

	hold_begin(&hold, stream);
	block_give(arena, block(arena, MIB));
	must(gpumem_host_faults(fault));
	gm_arena_poll(arena, NULL, true);
	is_uint(arena->fence_count, 0, "%s: no fence", fault);
	must(gpumem_host_faults(NULL));
	gm_arena_poll(arena, NULL, true);
	is_uint(arena->fence_count, 1, "but the next time");
	hold_end(&hold, stream);
	gm_arena_poll(arena, NULL, false);
	is_uint(arena->completed, arena->seqno, "and all settles");
	is_uint(heap.order->events.count, heap.order->events.made,
		"no event is lost");
	heap_end();
	heap_start();
}

/* An idle one of which it does not say so now. */
static void test_unknown(gpumem_stream stream, const char *fault)
{
	struct gm_arena *arena = arena_of(stream);

	block_give(arena, block(arena, MIB));
	must(gpumem_host_faults(fault));
	gm_arena_poll(arena, NULL, true);
	ok(arena->completed < arena->seqno, "%s: nothing settles", fault);
	must(gpumem_host_faults(NULL));
	gm_arena_poll(arena, NULL, true);
	is_uint(arena->completed, arena->seqno, "but the next time");
	is_uint(heap.order->events.count, heap.order->events.made,
		"no event is lost");
	heap_end();
	heap_start();
}

/* The stream is known to be idle before its events are known to be over. */
static void test_idle(gpumem_stream stream)
{
	struct gm_arena *arena = arena_of(stream);
	struct hold hold;

	hold_begin(&hold, stream);
	for (int i = 0; i < 3; i++) {
		block_give(arena, block(arena, MIB));
		gm_arena_poll(arena, NULL, true);
	}
	hold_end(&hold, stream);
	must(gpumem_host_faults("event_query@1+"));
	gm_arena_poll(arena, NULL, true);
	is_uint(arena->completed, arena->seqno, "an idle stream settles all");
	must(gpumem_host_faults(NULL));
	is_uint(arena->fence_count, 0, "without its fences");
	is_uint(heap.order->events.count, heap.order->events.made,
		"which are given back");
	heap_end();
	heap_start();
}

static uint64_t asked(void)
{
	return calls(GPUMEM_CALL_STREAM_QUERY) + calls(GPUMEM_CALL_EVENT_QUERY);
}

/* While nobody asks what is completed, it is tried more and more seldom. */
static void test_backs_off(void)
{
	static const unsigned want[] = {1024, 2048, 4096, 8192, 8192, 8192};
	gpumem_stream stream = stream_new();
	unsigned tries = 0, frees = 0;
	struct gm_arena *arena;
	struct hold hold;

	heap_start();
	arena = arena_of(stream);
	hold_begin(&hold, stream);
	while (tries < sizeof(want) / sizeof(*want)) {
		uint64_t before = asked();

		arena->seqno = ++heap.seqno;
		gm_arena_count_free(arena);
		frees++;
		if (asked() == before)
			continue;
		is_uint(frees, want[tries], "a fence after so many frees");
		tries++;
		frees = 0;
	}
	gm_arena_poll(arena, NULL, true);
	for (frees = 1; frees < 1023; frees++)
		gm_arena_count_free(arena);
	is_uint(arena->fence_frees, 1024, "until somebody asks");
	hold_end(&hold, stream);
	heap_end();
	must(gm_stream_destroy(device, stream));
}

int main(void)
{
	gpumem_stream stream;

	/* What a capture may forbid: decide_streams.c has the rest. */
	option("host.capture_frees", "off");
	alarm(60);
	device_start();
	stream = stream_new();
	heap_start();
	test_fences(stream);
	test_ring(stream);
	test_unasked(stream);
	test_capture(stream);
	test_captured(stream);
	test_questions(stream);
	test_unfenced(stream, "event_create@1");
	test_unfenced(stream, "event_record@1");
	test_unknown(stream, "stream_query@1+;event_query@1+");
	test_idle(stream);
	heap_end();
	test_backs_off();
	device_end();
	return done_testing();
}
