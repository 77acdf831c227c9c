/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Without virtual memory: a large segment of which nothing is used is not cut
 * for a small block. It stays, or goes back for another one, as long as that is
 * no waste, is not too often, and can be; else it is cut after all. */
#include "fixture.h"

static void *live, *unused;

static gpumem_status request(size_t bytes, gpumem_stream stream, uint32_t flags,
			     void **ptr_out)
{
	const struct gm_request wants = {.bytes = bytes,
					 .alignment = 1,
					 .stream = stream,
					 .flags = flags};

	return gm_heap_alloc(&heap, &wants, ptr_out);
}

/* Segments of 40 MiB, in use, and of 20 MiB, unused. */
static void scene(gpumem_stream stream)
{
	heap_start();
	must(request(40 * MIB, stream, 0, &live));
	must(request(20 * MIB, stream, 0, &unused));
	must(gm_heap_free(unused, stream));
	is_uint(heap.counters.segments.current, 2, "two segments");
}

static bool is_in_unused(const void *ptr)
{
	return ptr >= unused && (char *)ptr < (char *)unused + 20 * MIB;
}

/* Up to the 5 % that may be wasted. */
static void fill(gpumem_stream stream)
{
	void *ptr;

	must(request(1900 * KIB, stream, 0, &ptr));
	ok(!is_in_unused(ptr), "no more than the waste: it stays");
	is_uint(calls(GPUMEM_CALL_FREE), 0, "nothing goes back");
}

static void test_exchange(void)
{
	void *ptr;

	scene(NULL);
	fill(NULL);
	must(request(1900 * KIB, NULL, 0, &ptr));
	is_uint(calls(GPUMEM_CALL_FREE), 1, "more than that: it goes back");
	is_uint(heap.counters.segments.current, 3, "for another one");
	ok(heap_reserved() < 50 * MIB, "of the right size");
	sound("exchanged");
	heap_end();
}

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

/* A small one is not spared. */
static void test_small(void)
{
	void *ptr;

	scene(NULL);
	must(request(100 * MIB, NULL, 0, &live));
	must(request(8 * MIB, NULL, 0, &unused));
	must(gm_heap_free(unused, NULL));
	must(request(MIB, NULL, 0, &ptr));
	ok(is_in_unused(ptr), "a segment of a sixteenth or less");
	heap_end();
}

static void is_cut(const char *why)
{
	uint64_t before = heap.counters.segments.current;
	void *ptr;

	must(request(1900 * KIB, NULL, 0, &ptr));
	ok(is_in_unused(ptr) && heap.counters.segments.current == before &&
		   !calls(GPUMEM_CALL_FREE),
	   "%s: it is cut", why);
	sound("cut");
	heap_end();
}

static void test_often(void)
{
	scene(NULL);
	fill(NULL);
	heap.space->budget.exchanges = INT64_MAX / 2;
	is_cut("too often");
}

static void test_limit(void)
{
	scene(NULL);
	heap.space->budget.limit_bytes = heap_reserved();
	is_cut("at the limit");
}

static void test_refused(void)
{
	scene(NULL);
	must(gpumem_host_faults("alloc@1+:no_memory"));
	is_cut("the driver has no more");
	must(gpumem_host_faults(NULL));
}

static void test_captured(gpumem_stream stream)
{
	scene(NULL);
	(void)arena_of(stream);
	fill(NULL);
	must(gpumem_host_capture(0, stream, true));
	is_cut("another stream is being captured");
	must(gpumem_host_capture(0, stream, false));
}

static void test_waits(void)
{
	void *ptr;

	scene(NULL);
	device->info.caps |= GPUMEM_CAP_FREE_WAITS;
	fill(NULL);
	must(request(1900 * KIB, NULL, GPUMEM_ALLOC_NO_WAIT, &ptr));
	ok(is_in_unused(ptr) && !calls(GPUMEM_CALL_FREE),
	   "NO_WAIT where giving back waits: it is cut");
	device->info.caps &= ~(uint32_t)GPUMEM_CAP_FREE_WAITS;
	heap_end();
}

static void test_no_grow(void)
{
	uint64_t before;
	void *ptr;

	scene(NULL);
	before = calls(GPUMEM_CALL_ALLOC);
	must(request(MIB, NULL, GPUMEM_ALLOC_NO_GROW, &ptr));
	ok(is_in_unused(ptr) && calls(GPUMEM_CALL_ALLOC) == before,
	   "NO_GROW: it is cut");
	heap_end();
}

/* What a busy stream may still use cannot go, and it will need it again. */
static void test_busy(gpumem_stream stream)
{
	struct hold hold;
	void *ptr;

	scene(stream);
	fill(stream);
	hold_begin(&hold, stream);
	must(request(16 * MIB, stream, 0, &ptr));
	must(gm_heap_free(ptr, stream));
	must(request(1900 * KIB, stream, 0, &ptr));
	ok(is_in_unused(ptr) && !calls(GPUMEM_CALL_FREE),
	   "the stream is busy: it is cut");
	hold_end(&hold, stream);
	heap_end();
}

/* What another stream has is spared too. */
static void test_other(gpumem_stream stream)
{
	void *ptr;

	scene(NULL);
	must(request(1900 * KIB, stream, 0, &ptr));
	ok(!is_in_unused(ptr), "another stream's stays too");
	must(request(1900 * KIB, stream, 0, &ptr));
	is_uint(calls(GPUMEM_CALL_FREE), 1, "and goes back");
	sound("another stream's");
	heap_end();
}

static void test_count(void)
{
	heap_start();
	is_uint((uint64_t)gm_budget_exchanges(&heap), 32, "at first 32");
	heap.space->budget.exchanges = 32;
	is_uint((uint64_t)gm_budget_exchanges(&heap), 0, "then none");
	heap.counters.blocks.total = 500;
	is_uint((uint64_t)gm_budget_exchanges(&heap), 1, "one for 500 blocks");
	heap.counters.blocks.total = 1000 * 1000;
	is_uint((uint64_t)gm_budget_exchanges(&heap), 32, "32 at most");
	heap.space->budget.exchanges = INT64_MAX / 2;
	ok(gm_budget_exchanges(&heap) == -32, "or at least: -32");
	heap.counters.blocks.total = 0;
	ok(gm_budget_exchanges(&heap) == -32, "and when counts begin anew");
	heap_end();
}

int main(void)
{
	gpumem_stream stream;

	alarm(60);
	option("vm", "off");
	option("host.capacity", "1GiB");
	must(gm_device_open("host:0", &device));
	stream = stream_new();
	test_exchange();
	test_right_size();
	test_small();
	test_often();
	test_limit();
	test_refused();
	test_captured(stream);
	test_waits();
	test_no_grow();
	test_busy(stream);
	test_other(stream);
	test_count();
	must(gm_stream_destroy(device, stream));
	device_end();
	return done_testing();
}
