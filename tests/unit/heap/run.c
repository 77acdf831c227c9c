/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Without virtual memory: what streams that are at work have free side by side
 * serves one of them, which waits for the others' work. What one other stream
 * has is of_others.c's and lib/behind.c's.
 */
#include "exchange.h"

enum { STREAMS = 4 };

static gpumem_stream stream[STREAMS];
static struct hold hold[STREAMS];
static void *segment; /* of 32 MiB, in parts of 8 */

static void hold_all(void)
{
	for (unsigned i = 0; i < STREAMS; i++)
		hold_begin(&hold[i], stream[i]);
}

/* Part i is a block of the stream of that number; so many are freed. */
static void begin_with(unsigned freed)
{
	struct gm_extent *part[STREAMS], *extent;

	heap_start();
	(void)block(arena_of(stream[0]), 40 * MIB);
	extent = block(arena_of(stream[0]), 32 * MIB);
	segment = (void *)extent->address;
	block_give(arena_of(stream[0]), extent);
	for (unsigned i = 0; i < STREAMS; i++) {
		(void)gm_arenas_transfer_one(arena_of(stream[i]), NULL, 8 * MIB,
					     1, SIZE_MAX);
		part[i] = block(arena_of(stream[i]), 8 * MIB);
	}
	hold_all();
	for (unsigned i = 0; i < freed; i++)
		block_give(arena_of(stream[i]), part[i]);
	is_uint(heap_reserved(), 72 * MIB, "two segments");
	/* All that is unused is waste. */
	heap.counters.highest_allocated = heap.counters.allocated.current;
	heap.space->budget.stream_waste = 0;
}

static void begin(void)
{
	begin_with(STREAMS - 1);
}

static void end(void)
{
	/* A stream that waits for others ends after them. */
	for (unsigned i = 0; i < STREAMS; i++)
		hold_let_go(&hold[i]);
	for (unsigned i = 0; i < STREAMS; i++)
		must(gm_stream_sync(device, stream[i]));
	sound("in the end");
	heap_end();
}

static bool follows(unsigned a, unsigned b)
{
	return gm_arena_follows(arena_of(stream[a]), arena_of(stream[b]), 1);
}

static bool is_in_segment(const void *ptr, size_t at)
{
	return ptr == (char *)segment + at;
}

/* The first stream's part, and the others' beside it. */
static void test_joined(size_t bytes, bool last)
{
	void *ptr;

	begin();
	must(request(bytes, stream[0], 0, &ptr));
	ok(is_in_segment(ptr, 0), "%zu MiB: what is side by side serves it",
	   bytes / MIB);
	is_uint(heap_reserved(), 72 * MIB, "nothing is taken");
	ok(follows(0, 1), "its stream waits for the one beside");
	ok(follows(0, 2) == last, "and for the next one %s",
	   last ? "too" : "not");
	ok(!follows(1, 0) && !follows(2, 0), "and nobody for it");
	end();
}

/* None of it is the stream's. */
static void test_of_others(void)
{
	void *ptr;

	begin();
	must(request(20 * MIB, stream[3], 0, &ptr));
	ok(is_in_segment(ptr, 0), "a stream that has none gets it");
	ok(follows(3, 0) && follows(3, 1) && follows(3, 2),
	   "and waits for all of them");
	end();
}

static void grows(size_t bytes, uint32_t flags, const char *why)
{
	uint64_t before = heap_reserved();
	void *ptr;

	must(request(bytes, stream[0], flags, &ptr));
	is_uint(heap_reserved(), before + bytes, "%s: memory is taken", why);
	ok(!follows(0, 1) && !follows(0, 2), "and no stream waits");
}

static void test_not(void)
{
	begin();
	grows(20 * MIB, GPUMEM_ALLOC_NO_WAIT, "who must not wait");
	end();
	begin();
	grows(26 * MIB, 0, "too little side by side");
	end();
	begin();
	heap.space->budget.stream_waste = 1;
	grows(20 * MIB, 0, "no waste");
	end();
	option("wait", "off");
	begin();
	grows(20 * MIB, 0, "a pool that does not wait");
	end();
	option("wait", NULL);
}

/* All of a segment is spared for what needs little of it. */
static void test_spared(void)
{
	void *ptr;

	begin_with(STREAMS);
	heap.space->budget.highest_reserved = 200 * MIB;
	grows(20 * MIB, 0, "a whole segment");
	end();
	option("segment_wait_ms", "0");
	begin_with(STREAMS);
	must(request(20 * MIB, stream[0], 0, &ptr));
	ok(is_in_segment(ptr, 0), "where nobody waits for it it is cut");
	end();
	option("segment_wait_ms", NULL);
}

static void test_captured(void)
{
	void *ptr;

	begin();
	must(gpumem_host_capture(0, stream[2], true));
	must(request(20 * MIB, stream[0], 0, &ptr));
	ok(!is_in_segment(ptr, 0), "one of them is captured: memory is taken");
	must(gpumem_host_capture(0, stream[2], false));
	is_uint(gpumem_host_capture_violations(), 0, "which nothing disturbs");
	end();
}

/* An alignment above the unit may need more than there is. */
static void test_aligned(size_t alignment, bool joined)
{
	const struct gm_request wants = {
		.bytes = 16 * MIB, .alignment = alignment, .stream = stream[0]};
	void *ptr;

	begin();
	must(gm_heap_alloc(&heap, &wants, &ptr));
	ok((uintptr_t)ptr % alignment == 0, "it is aligned");
	ok(follows(0, 1) == joined, "to %zu MiB: %s", alignment / MIB,
	   joined ? "what is adjacent" : "memory is taken");
	end();
}

/* At the limit it comes before the host waits; be it an unused segment. */
static void test_limit(unsigned freed)
{
	void *ptr;

	begin_with(freed);
	heap.space->budget.highest_reserved = 200 * MIB;
	heap.space->budget.limit_bytes = 72 * MIB;
	must(request(20 * MIB, stream[0], 0, &ptr));
	ok(is_in_segment(ptr, 0), "at the limit it is had");
	is_uint(calls(GPUMEM_CALL_EVENT_SYNC), 0, "the host has not waited");
	must(gm_heap_free(ptr, stream[0]));
	heap.space->budget.limit_bytes = 0;
	end();
}

/* The smallest that is enough, in whichever segment it lies. */
static void test_smallest(void)
{
	struct gm_arena *arena[2];
	struct gm_extent *half[4], *extent;
	void *ptr;

	heap_start();
	for (unsigned i = 0; i < 2; i++)
		arena[i] = arena_of(stream[i]);
	for (unsigned i = 0; i < 4; i += 2) {
		size_t part = i ? 9 * MIB : 10 * MIB;

		extent = block(arena[0], 2 * part + 4 * MIB);
		block_give(arena[0], extent);
		half[i] = block(arena[0], part);
		(void)gm_arenas_transfer_one(arena[1], NULL, part, 1, SIZE_MAX);
		half[i + 1] = block(arena[1], part);
		(void)block(arena[1], 4 * MIB);
	}
	segment = (void *)half[2]->address;
	hold_all();
	for (unsigned i = 0; i < 4; i++)
		block_give(arena[i % 2], half[i]);
	heap.counters.highest_allocated = heap.counters.allocated.current;
	heap.space->budget.stream_waste = 0;
	must(request(17 * MIB, stream[0], 0, &ptr));
	ok(is_in_segment(ptr, 0), "the smaller one");
	end();
}

static void test_alone(void)
{
	begin();
	ok(!gm_arenas_run_behind(arena_of(stream[0]), NULL, 4 * MIB, 1),
	   "what is all one's own is nothing new");
	ok(!follows(0, 1), "and nobody is waited for");
	end();
}

/* The receiver's work must not wait for others' while it is captured. */
static void test_receiver(void)
{
	begin();
	must(gpumem_host_capture(0, stream[0], true));
	ok(!gm_arenas_run_behind(arena_of(stream[0]), NULL, 20 * MIB, 1),
	   "not for a stream that is captured");
	must(gpumem_host_capture(0, stream[0], false));
	is_uint(gpumem_host_capture_violations(), 0, "which nothing disturbs");
	end();
}

/* What a graph has it keeps, and takes nothing; a stream that is gone neither.
 */
static void test_graph(void)
{
	struct gpumem_graph *graph = (struct gpumem_graph *)&heap;
	struct gm_arena *arena[2];

	begin();
	for (unsigned i = 0; i < 2; i++) {
		arena[i] = arena_of(stream[i]);
		arena[i]->graph = graph;
		ok(!gm_arenas_run_behind(arena[0], NULL, 12 * MIB, 1),
		   i ? "nor of one's" : "nothing for a graph");
		arena[i]->graph = NULL;
	}
	arena[0]->dropped = true;
	ok(!gm_arenas_run_behind(arena[0], NULL, 12 * MIB, 1), "for nobody");
	arena[0]->dropped = false;
	ok(!follows(0, 1) && !follows(0, 2), "nobody is waited for");
	end();
}

/* There pages move. */
static void test_vm(void)
{
	struct gm_extent *half[2];
	struct gm_arena *arena[2];

	option("vm", NULL);
	heap_start();
	for (unsigned i = 0; i < 2; i++) {
		arena[i] = arena_of(stream[i]);
		half[i] = block(arena[i], 8 * MIB);
	}
	hold_all();
	for (unsigned i = 0; i < 2; i++)
		block_give(arena[i], half[i]);
	ok(next_of(half[0]) == half[1] || next_of(half[1]) == half[0],
	   "they are adjacent");
	ok(!gm_arenas_run_behind(arena[0], NULL, 16 * MIB, 1),
	   "not with virtual memory");
	end();
	option("vm", "off");
}

int main(void)
{
	stream[0] = exchange_start();
	for (unsigned i = 1; i < STREAMS; i++)
		stream[i] = stream_new();
	test_joined(12 * MIB, false);
	test_joined(20 * MIB, true);
	test_of_others();
	test_not();
	test_spared();
	test_captured();
	test_aligned(4 * MIB, true);
	test_aligned(16 * MIB, false);
	test_limit(STREAMS - 1);
	test_limit(STREAMS);
	test_smallest();
	test_alone();
	test_receiver();
	test_graph();
	test_vm();
	for (unsigned i = 1; i < STREAMS; i++)
		must(gm_stream_destroy(device, stream[i]));
	exchange_end(stream[0]);
	return done_testing();
}
