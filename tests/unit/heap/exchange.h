/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A scene without virtual memory for the tests of segments of which nothing is
 * used: one of 40 MiB is in use, and one of 20 MiB is not. Each test program
 * includes this once. Only the main thread calls what is here, but for
 * request().
 */
#ifndef HEAP_EXCHANGE_H
#define HEAP_EXCHANGE_H

#include "fixture.h"

static void *live, *unused;

HEAP_USE gpumem_status request(size_t bytes, gpumem_stream stream,
			       uint32_t flags, void **ptr_out)
{
	const struct gm_request wants = {.bytes = bytes,
					 .alignment = 1,
					 .stream = stream,
					 .flags = flags};

	return gm_heap_alloc(&heap, &wants, ptr_out);
}

HEAP_USE void scene(gpumem_stream stream)
{
	heap_start();
	must(request(40 * MIB, stream, 0, &live));
	must(request(20 * MIB, stream, 0, &unused));
	must(gm_heap_free(unused, stream));
	is_uint(heap.counters.segments.current, 2, "two segments");
}

HEAP_USE bool is_in_unused(const void *ptr)
{
	return ptr >= unused && (char *)ptr < (char *)unused + 20 * MIB;
}

/* Up to the 5 % that may be wasted. */
HEAP_USE void fill(gpumem_stream stream)
{
	void *ptr;

	must(request(1900 * KIB, stream, 0, &ptr));
	ok(!is_in_unused(ptr), "no more than the waste: it stays");
	is_uint(calls(GPUMEM_CALL_FREE), 0, "nothing goes back");
}

/* And ends the heap. */
HEAP_USE void is_cut(gpumem_stream stream, const char *why)
{
	uint64_t before = heap.counters.segments.current;
	void *ptr;

	must(request(1900 * KIB, stream, 0, &ptr));
	ok(is_in_unused(ptr) && heap.counters.segments.current == before &&
		   !calls(GPUMEM_CALL_FREE),
	   "%s: it is cut", why);
	sound("cut");
	heap_end();
}

HEAP_USE gpumem_stream exchange_start(void)
{
	alarm(60);
	option("vm", "off");
	option("host.capacity", "1GiB");
	must(gm_device_open("host:0", &device));
	return stream_new();
}

HEAP_USE void exchange_end(gpumem_stream stream)
{
	must(gm_stream_destroy(device, stream));
	device_end();
}

#endif
