/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Without virtual memory: which segments of which nothing is used are spared
 * while a small block is searched. What is done instead is exchange.c's. */
#include "exchange.h"

static void test_right_size(void)
{
	void *ptr;

	scene(NULL);
	must(request(16 * MIB, NULL, 0, &ptr));
	ok(is_in_unused(ptr), "most of it is used at once");
	must(request(MIB, NULL, 0, &ptr));
	ok(is_in_unused(ptr), "and the rest of it then");
	is_uint(heap.counters.segments.current, 2, "still two segments");
	heap_end();
}

/* Of the request that fills less than three quarters it is spared. */
static void test_two_thirds(void)
{
	void *ptr;

	scene(NULL);
	must(request(13 * MIB, NULL, 0, &ptr));
	is_uint(calls(GPUMEM_CALL_FREE), 1, "two thirds: it goes back");
	is_uint(heap_reserved(), 54 * MIB, "for one of the right size");
	heap_end();
}

/* A part of a segment is not spared, whichever. */
static void test_part(void)
{
	void *front, *end, *ptr;

	scene(NULL);
	must(request(16 * MIB, NULL, 0, &front));
	must(request(4 * MIB, NULL, 0, &end));
	ok(is_in_unused(front) && is_in_unused(end), "all of it is used");
	must(gm_heap_free(front, NULL));
	must(request(1900 * KIB, NULL, 0, &ptr));
	ok(is_in_unused(ptr), "its front is cut");
	heap_end();
}

/* More than a 24th of what is reserved. */
static void test_small(size_t bytes, bool spared)
{
	void *small, *ptr;

	heap_start();
	must(request(140 * MIB, NULL, 0, &live));
	must(request(bytes, NULL, 0, &small));
	must(gm_heap_free(small, NULL));
	must(request(MIB, NULL, 0, &ptr));
	ok((ptr == small) == !spared, "%zu MiB of 150: %s", bytes / MIB,
	   spared ? "spared" : "cut");
	heap_end();
}

/* Where little is reserved, more than the smallest segment. */
static void test_smallest(size_t bytes, bool spared)
{
	void *ptr[2], *small;

	heap_start();
	must(request(bytes, NULL, 0, &ptr[0]));
	must(request(bytes, NULL, 0, &small));
	must(gm_heap_free(small, NULL));
	must(request(100 * KIB, NULL, 0, &ptr[1]));
	is_uint(heap.counters.segments.total, 2 + spared,
		"%zu MiB of twice that: %s", bytes / MIB,
		spared ? "spared" : "cut");
	heap_end();
}

/* Where there are several streams. */
static void test_several(gpumem_stream stream, size_t bytes, bool spared)
{
	void *small, *ptr;

	heap_start();
	(void)arena_of(stream);
	must(request(480 * MIB, NULL, 0, &live));
	must(request(bytes, NULL, 0, &small));
	must(gm_heap_free(small, NULL));
	must(request(4 * MIB, NULL, 0, &ptr));
	ok((ptr == small) == !spared, "%zu MiB of 480%s: %s", bytes / MIB,
	   stream ? ", several streams" : "", spared ? "spared" : "cut");
	sound("several streams");
	heap_end();
}

/* What is large where so much is reserved, and new segments. */
static void test_sizes(gpumem_stream stream)
{
	static const struct {
		uint64_t reserved, large, segment, finer_large, finer_segment;
	} at[] = {
		{0, 2 * MIB, 2 * MIB, 2 * MIB, 2 * MIB},
		{72 * MIB, 3 * MIB, 2 * MIB, 3 * MIB, 2 * MIB},
		{384 * MIB, 16 * MIB, 8 * MIB, 16 * MIB, 8 * MIB},
		{960 * MIB, 40 * MIB, 20 * MIB, 16 * MIB, 8 * MIB},
		{1536 * MIB, 64 * MIB, 32 * MIB, 16 * MIB, 8 * MIB},
		{9600 * MIB, 400 * MIB, 200 * MIB, 100 * MIB, 50 * MIB},
	};
	uint64_t before;

	heap_start();
	if (stream)
		(void)arena_of(stream);
	(void)arena_of(NULL);
	before = heap.counters.reserved.current;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		heap.counters.reserved.current = at[i].reserved;
		is_uint(gm_budget_spared(&heap),
			stream ? at[i].finer_large : at[i].large,
			"large in %llu", (unsigned long long)at[i].reserved);
		is_uint(gm_budget_segment(&heap),
			stream ? at[i].finer_segment : at[i].segment,
			"new in %llu", (unsigned long long)at[i].reserved);
	}
	heap.counters.reserved.current = before;
	heap_end();
}

/* ---- streams at work ---- */

/* What a busy stream may still use cannot go, and it will need it again; unless
 * the host may wait for it, see drain.c. */
static void test_busy(gpumem_stream stream)
{
	struct hold hold;
	void *ptr;

	option("segment_wait_ms", "0");
	scene(stream);
	must(request(20 * MIB, stream, 0, &ptr));
	ok(is_in_unused(ptr), "all of it is used");
	hold_begin(&hold, stream);
	must(gm_heap_free(ptr, stream));
	gm_locals_flush_own(&heap);
	gm_arena_poll(arena_of(stream), NULL, true);
	ok(!arena_of(stream)->idle, "the stream is known to be busy");
	is_cut(stream, "which is no waste, and");
	hold_end(&hold, stream);
	option("segment_wait_ms", NULL);
}

/* Of a graph nothing goes back. */
static void test_graph(gpumem_stream stream)
{
	static char graph; /* its address is all that counts here */
	struct gm_arena *arena;
	void *ptr[2];

	heap_start();
	must(request(40 * MIB, NULL, 0, &live));
	must(gm_arena_create(&heap, stream, (void *)&graph, &arena));
	arena->routed = true;
	must(request(20 * MIB, stream, 0, &ptr[0]));
	must(gm_heap_free(ptr[0], stream));
	must(request(1900 * KIB, stream, 0, &ptr[1]));
	is_ptr(ptr[1], ptr[0], "a graph's is cut");
	heap_end();
}

/* ---- aligned ---- */

static void *aligned(size_t bytes, size_t alignment)
{
	const struct gm_request wants = {.bytes = bytes,
					 .alignment = alignment};
	void *ptr;

	must(gm_heap_alloc(&heap, &wants, &ptr));
	return ptr;
}

/* What is not spared is long enough, but begins badly. */
static void test_aligned(void)
{
	void *ptr[3], *found;

	heap_start();
	must(request(80 * MIB, NULL, 0, &live));
	must(request(20 * MIB, NULL, 0, &unused));
	must(request(4 * MIB, NULL, 0, &found));
	must(gm_heap_free(found, NULL));
	must(request(128 * KIB, NULL, 0, &ptr[0]));
	must(request(3 * MIB, NULL, 0, &ptr[1]));
	must(request(800 * KIB, NULL, 0, &ptr[2]));
	must(gm_heap_free(ptr[1], NULL));
	must(gm_heap_free(unused, NULL));
	is_uint(heap.counters.segments.total, 3, "three segments");
	found = aligned(5 * MIB / 2, MIB);
	ok(!is_in_unused(found), "an aligned block is elsewhere");
	sound("aligned");
	heap_end();
}

/* A segment for an aligned block has room for it wherever it begins, and is not
 * spared from the block that it is for. */
static void test_room(void)
{
	heap_start();
	must(request(40 * MIB, NULL, 0, &live));
	(void)aligned(MIB, 16 * MIB);
	is_uint(heap.counters.segments.total, 2, "one for an aligned block");
	heap_end();
}

/* ---- another stream's ---- */

static struct gm_arena *owner_of(const void *ptr)
{
	const struct gm_span *span = heap.spans.first;

	while (span && span->address != (uintptr_t)ptr)
		span = span->next;
	return span ? span->first->arena : NULL;
}

enum { NO_GROW = GPUMEM_ALLOC_NO_GROW };

/* It is found behind what is not completed, and before what serves. */
static void test_transfer(gpumem_stream stream)
{
	void *busy, *serves, *rest, *ptr;
	struct hold hold;

	scene(stream);
	must(request(20 * MIB, stream, 0, &unused));
	must(request(32 * MIB, stream, 0, &serves));
	must(gm_heap_free(serves, stream));
	must(request(2 * MIB, stream, NO_GROW, &busy));
	must(request(4 * MIB, stream, NO_GROW, &rest));
	must(request(26 * MIB, stream, NO_GROW, &serves));
	must(gm_heap_free(unused, stream));
	must(gm_heap_free(serves, stream));
	gm_locals_flush_own(&heap);
	gm_arena_poll(arena_of(stream), NULL, true);
	hold_begin(&hold, stream);
	must(gm_heap_free(busy, stream));
	gm_locals_flush_own(&heap);
	must(request(1900 * KIB, NULL, 0, &ptr));
	is_ptr(ptr, serves, "what is not spared serves");
	ok(owner_of(unused) == arena_of(stream), "and the unused one stays");
	hold_end(&hold, stream);
	sound("transferred");
	heap_end();
}

int main(void)
{
	gpumem_stream stream = exchange_start();

	test_right_size();
	test_two_thirds();
	test_part();
	test_small(6 * MIB, false);
	test_small(8 * MIB, true);
	test_smallest(2 * MIB, false);
	test_smallest(4 * MIB, true);
	test_several(NULL, 18 * MIB, false);
	test_several(stream, 18 * MIB, true);
	test_several(stream, 16 * MIB, false);
	test_sizes(NULL);
	test_sizes(stream);
	test_busy(stream);
	test_graph(stream);
	test_aligned();
	test_room();
	test_transfer(stream);
	exchange_end(stream);
	return done_testing();
}
