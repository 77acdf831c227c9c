/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A scene for the tests of what a stream gets behind another's work: stream A
 * is going to write three blocks side by side, and has freed the first and the
 * last; B allocates. Both are held: no work on them is over unless somebody
 * waits for it. The main thread only.
 */
#ifndef LIB_HELD_H
#define LIB_HELD_H

#include "fixture.h"

enum { OLD = 0x11, NEW = 0x22, PART = 4 * MIB };

static gpumem_pool *pool;
static gpumem_stream a, b;
static unsigned char *kept; /* the block that is live */

LIB_USE void fill(void *ptr, int value, size_t bytes, gpumem_stream stream)
{
	must(gpumem_fill(device, ptr, (uint8_t)value, bytes, stream));
}

LIB_USE bool holds(const unsigned char *ptr, int value, size_t bytes)
{
	size_t i = 0;

	while (i < bytes && ptr[i] == value)
		i++;
	return i == bytes;
}

LIB_USE uint64_t reserved(void)
{
	return stats_of(pool).reserved.current;
}

LIB_USE void held_begin(void)
{
	unsigned char *ptr[3];

	pool = new_pool(0);
	a = new_stream();
	b = new_stream();
	must(gpumem_host_hold(0, a, true));
	must(gpumem_host_hold(0, b, true));
	for (int i = 0; i < 3; i++)
		ptr[i] = new_block(pool, PART, a);
	for (int i = 0; i < 3; i++)
		fill(ptr[i], OLD, PART, a);
	must(gpumem_free(ptr[0], a));
	kept = ptr[1];
	must(gpumem_free(ptr[2], a));
}

LIB_USE void held_end(void)
{
	must(gpumem_pool_check(pool));
	must(gpumem_stream_sync(device, a));
	ok(holds(kept, OLD, PART), "nobody else wrote what is live");
	must(gpumem_stream_destroy(device, a));
	must(gpumem_stream_destroy(device, b));
	must(gpumem_free_own(kept));
	must(gpumem_pool_trim(pool, 0, NULL));
	is_uint(reserved(), 0, "when all is over, all goes back");
	must(gpumem_pool_destroy(pool, 0));
	is_uint(gpumem_host_used_bytes(0), 0, "the device is empty");
	is_uint(gpumem_host_capture_violations(), 0, "nothing disturbed");
}

/* What B writes there comes after what A writes. Frees it. */
LIB_USE void is_behind(unsigned char *ptr, size_t bytes, const char *what)
{
	fill(ptr, NEW, bytes, b);
	is_uint(calls_of(pool, GPUMEM_CALL_EVENT_SYNC).count, 0,
		"%s: the host waits for nothing", what);
	must(gpumem_pool_check(pool));
	must(gpumem_stream_sync(device, b));
	ok(holds(ptr, NEW, bytes), "and what the stream writes stays");
	must(gpumem_stream_sync(device, a));
	ok(holds(ptr, NEW, bytes), "whatever the other does");
	must(gpumem_free(ptr, b));
}

#endif
