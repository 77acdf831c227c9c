/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Without virtual memory: an allocation for which the pool would reserve more
 * than ever waits for the work on unused segments, which go back. The stream is
 * held: its work is done by whoever waits for it. What is spared on streams
 * without work, and exchanged, is spared.c's and exchange.c's.
 */
#include "exchange.h"

static gpumem_stream stream;
static unsigned done;

static void count_done(void *arg)
{
	(void)arg;
	done++;
}

/* A segment is in use, and another is not, with work behind it. */
static void begin_with(size_t used, size_t free)
{
	heap_start();
	must(gpumem_host_hold(0, stream, true));
	must(request(used, stream, 0, &live));
	must(request(free, stream, 0, &unused));
	done = 0;
	must(gpumem_host_launch(0, stream, count_done, NULL));
	must(gm_heap_free(unused, stream));
	gm_locals_flush_own(&heap);
	gm_arena_poll(arena_of(stream), NULL, true);
	ok(!arena_of(stream)->idle, "the stream is known to be busy");
}

static void begin(void)
{
	begin_with(40 * MIB, 20 * MIB);
}

static void end(void)
{
	sound("in the end");
	must(gpumem_host_hold(0, stream, false));
	must(gm_stream_sync(device, stream));
	heap_end();
}

static void *take(size_t bytes, uint32_t flags)
{
	void *ptr;

	must(request(bytes, stream, flags, &ptr));
	return ptr;
}

static void test_wait(void)
{
	begin();
	(void)take(50 * MIB, 0);
	is_uint(done, 1, "work is waited for");
	is_uint(calls(GPUMEM_CALL_EVENT_SYNC), 1, "once");
	is_uint(heap_reserved(), 90 * MIB, "and the unused segment goes back");
	must(gpumem_host_launch(0, stream, count_done, NULL));
	(void)take(MIB, 0);
	is_uint(done, 1, "with nothing unused, nothing is waited for");
	end();
	begin();
	must(gm_stream_sync(device, stream));
	(void)take(50 * MIB, 0);
	is_uint(calls(GPUMEM_CALL_EVENT_SYNC), 0, "nor for what is over");
	is_uint(heap_reserved(), 90 * MIB, "which goes back");
	end();
}

/* What was reserved before, and what is no waste, may be had again. */
static void test_no_record(void)
{
	begin();
	heap.space->budget.highest_reserved = 110 * MIB;
	(void)take(50 * MIB, 0);
	is_uint(done, 0, "as much has been reserved before");
	is_uint(heap_reserved(), 110 * MIB, "and is again");
	end();
	begin();
	heap.counters.highest_allocated = 80 * MIB;
	heap.space->budget.waste = 0.25;
	(void)take(50 * MIB, 0);
	is_uint(done, 0, "it is no waste");
	end();
	begin();
	heap.counters.highest_allocated = 95 * MIB;
	(void)take(50 * MIB, 0);
	is_uint(done, 0, "or up to 16 MiB are");
	end();
}

/* Beside 940 MiB a block of 17 MiB gets a segment for two. */
static void test_segment(bool waits)
{
	begin_with(900 * MIB, 40 * MIB);
	heap.space->budget.waste = 0;
	heap.space->budget.highest_reserved = (waits ? 973 : 974) * MIB;
	(void)take(17 * MIB, 0);
	is_uint(done, waits, "the whole segment has%s been reserved before",
		waits ? " not" : "");
	is_uint(heap_reserved(), (waits ? 934 : 974) * MIB, "it is taken");
	end();
}

static void grows(uint32_t flags, const char *who)
{
	(void)take(50 * MIB, flags);
	is_uint(done, 0, "%s waits for nothing", who);
	is_uint(calls(GPUMEM_CALL_EVENT_SYNC), 0, "asks for none");
	is_uint(heap_reserved(), 110 * MIB, "and takes more");
	is_uint(heap.space->budget.highest_reserved, 110 * MIB, "than ever");
}

static void test_not(void)
{
	begin();
	grows(GPUMEM_ALLOC_NO_WAIT, "who must not wait");
	end();
	option("wait", "off");
	begin();
	grows(0, "a pool that does not wait");
	end();
	option("wait", NULL);
	option("segment_wait_ms", "0");
	begin();
	grows(0, "nor does one that does not for segments");
	end();
	option("segment_wait_ms", NULL);
}

static void test_capture(void)
{
	gpumem_stream other = stream_new();

	begin();
	(void)arena_of(other);
	must(gpumem_host_capture(0, other, true));
	grows(0, "while a stream is captured, an allocation");
	must(gpumem_host_capture(0, other, false));
	is_uint(gpumem_host_capture_violations(), 0, "which nothing disturbs");
	end();
	must(gm_stream_destroy(device, other));
}

/* The work ends when it likes: no longer than that is waited, and never again.
 */
static void test_too_long(void)
{
	struct hold hold;
	uint64_t waits;

	option("segment_wait_ms", "20");
	begin();
	must(gpumem_host_hold(0, stream, false));
	must(gm_stream_sync(device, stream));
	(void)take(20 * MIB, 0);
	hold_begin(&hold, stream);
	must(gm_heap_free(unused, stream));
	(void)take(50 * MIB, 0);
	is_uint(heap_reserved(), 110 * MIB, "what takes too long is let be");
	waits = calls(GPUMEM_CALL_EVENT_SYNC);
	ok(waits > 0, "after a wait");
	(void)take(70 * MIB, 0);
	is_uint(calls(GPUMEM_CALL_EVENT_SYNC), waits, "there is no other one");
	hold_end(&hold, stream);
	end();
	option("segment_wait_ms", NULL);
}

/* Whose driver fails to wait is served all the same. */
static void test_failed(void)
{
	begin();
	must(gpumem_host_faults("event_wait@1+"));
	(void)take(50 * MIB, 0);
	must(gpumem_host_faults(""));
	is_uint(heap_reserved(), 110 * MIB, "it grows");
	is_uint(heap.space->budget.segment_wait_ns, 0, "and waits no more");
	end();
}

/* A small block leaves a large segment whole, though there is work on it. */
static void test_spared(void)
{
	begin();
	ok(!is_in_unused(take(1900 * KIB, 0)), "no waste: it is spared");
	is_uint(done, 0, "and nothing is waited for");
	end();
	option("segment_wait_ms", "0");
	begin();
	ok(is_in_unused(take(1900 * KIB, 0)), "where nobody waits it is cut");
	end();
	option("segment_wait_ms", NULL);
}

/* What an attempt has done is no other's. */
static void test_others(void)
{
	const struct gm_request request = {
		.bytes = 50 * MIB, .alignment = 1, .stream = stream};
	struct gm_attempt attempt = {.drained = true};
	void *ptr;

	begin();
	pthread_mutex_lock(&heap.mutex);
	must(gm_heap_take(&heap, &attempt, &request, &ptr));
	pthread_mutex_unlock(&heap.mutex);
	is_uint(done, 0, "one that has waited does not wait again");
	(void)take(70 * MIB, 0);
	is_uint(done, 1, "which is nothing to the next one");
	end();
}

static void *more;

/* In the thread that waits. */
static void leave_another(void *arg)
{
	(void)arg;
	done++;
	must(gpumem_host_launch(0, stream, count_done, NULL));
	must(gm_heap_free(more, stream));
}

/* While an allocation waits others free what would be waited for, too. */
static void test_once(void)
{
	heap_start();
	must(gpumem_host_hold(0, stream, true));
	live = take(40 * MIB, 0);
	unused = take(20 * MIB, 0);
	more = take(22 * MIB, 0);
	done = 0;
	must(gpumem_host_launch(0, stream, leave_another, NULL));
	must(gm_heap_free(unused, stream));
	(void)take(60 * MIB, 0);
	is_uint(done, 1, "an allocation waits once");
	is_uint(heap_reserved(), 122 * MIB, "what came meanwhile stays");
	end();
}

/* Two streams have unused segments; both are waited for. */
static void test_two(void)
{
	gpumem_stream other = stream_new();
	void *ptr;

	begin();
	must(gpumem_host_hold(0, other, true));
	must(request(21 * MIB, other, GPUMEM_ALLOC_NO_WAIT, &ptr));
	must(gpumem_host_launch(0, other, count_done, NULL));
	must(gm_heap_free(ptr, other));
	(void)take(60 * MIB, 0);
	is_uint(done, 2, "the work of both streams is waited for");
	is_uint(heap_reserved(), 100 * MIB, "and both segments go back");
	must(gpumem_host_hold(0, other, false));
	must(gm_stream_sync(device, other));
	end();
	must(gm_stream_destroy(device, other));
}

/* Each stream has a part of one segment. Of the last one something may be in
 * use, or a graph may keep it. */
enum last { UNUSED, USED, KEPT };

static void test_parts(enum last last)
{
	gpumem_stream other = stream_new();
	struct gm_extent *extent, *part[3];
	struct gm_arena *arena;

	heap_start();
	(void)take(40 * MIB, 0);
	arena = arena_of(other);
	extent = block(arena_of(stream), 30 * MIB);
	block_give(arena_of(stream), extent);
	part[0] = block(arena_of(stream), 10 * MIB);
	(void)gm_arenas_transfer_one(arena, NULL, 10 * MIB, 1, SIZE_MAX);
	part[1] = block(arena, 10 * MIB);
	part[2] = block(arena, 10 * MIB);
	done = 0;
	must(gpumem_host_hold(0, stream, true));
	must(gpumem_host_hold(0, other, true));
	must(gpumem_host_launch(0, stream, count_done, NULL));
	must(gpumem_host_launch(0, other, count_done, NULL));
	block_give(arena_of(stream), part[0]);
	block_give(arena, part[1]);
	if (last != USED)
		block_give(arena, part[2]);
	if (last == KEPT)
		arena->graph = (struct gpumem_graph *)&heap;
	(void)take(60 * MIB, 0);
	arena->graph = NULL;
	is_uint(done, last == UNUSED ? 2 : 0, "%s are waited for",
		last == UNUSED ? "both" : "none");
	is_uint(heap_reserved(), last == UNUSED ? 100 * MIB : 130 * MIB,
		"the segment %s", last == UNUSED ? "goes back" : "stays");
	must(gpumem_host_hold(0, other, false));
	must(gm_stream_sync(device, other));
	end();
	must(gm_stream_destroy(device, other));
}

/* A stream that is captured is not waited for, be it that others may be. */
static void test_captured(void)
{
	gpumem_stream other = stream_new();
	void *ptr;

	begin();
	device->info.caps |= GPUMEM_CAP_FREES_IN_CAPTURE;
	must(gpumem_host_capture(0, stream, true));
	must(request(50 * MIB, other, 0, &ptr));
	must(gpumem_host_capture(0, stream, false));
	is_uint(done, 0, "a stream that is captured is not waited for");
	is_uint(gpumem_host_capture_violations(), 0, "nor asked");
	is_uint(heap_reserved(), 110 * MIB, "memory is taken");
	device->info.caps &= ~(uint32_t)GPUMEM_CAP_FREES_IN_CAPTURE;
	end();
	must(gm_stream_destroy(device, other));
}

int main(void)
{
	/* What a capture may forbid. */
	option("host.capture_frees", "off");
	stream = exchange_start();
	test_wait();
	test_no_record();
	test_segment(true);
	test_segment(false);
	test_not();
	test_capture();
	test_too_long();
	test_failed();
	test_spared();
	test_others();
	test_once();
	test_two();
	test_parts(UNUSED);
	test_parts(USED);
	test_parts(KEPT);
	test_captured();
	exchange_end(stream);
	return done_testing();
}
