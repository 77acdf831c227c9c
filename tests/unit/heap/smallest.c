/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Without virtual memory: a block that fits the stream's own free memory badly
 * goes where another stream has some that it fits, if streams have no work as a
 * rule. Near the limit, with virtual memory too: in transfer.c.
 */
#include "exchange.h"

static gpumem_stream stream, other;

/* One stream has 24 MiB free beside a block, the other one 8 MiB. */
static void begin(uint64_t idle_in_row)
{
	void *large, *small, *kept[2];

	heap_start();
	must(request(24 * MIB, stream, 0, &large));
	must(request(8 * MIB, other, 0, &small));
	must(gm_heap_free(large, stream));
	must(gm_heap_free(small, other));
	must(request(18 * MIB, stream, GPUMEM_ALLOC_NO_GROW, &kept[0]));
	must(request(6 * MIB, other, GPUMEM_ALLOC_NO_GROW, &kept[1]));
	is_uint(arena_of(stream)->index.bytes, 6 * MIB, "6 MiB beside a block");
	is_uint(arena_of(other)->index.bytes, 2 * MIB, "and 2 MiB of another");
	heap.order->idle_in_row = idle_in_row;
}

static void is_of(gpumem_stream from, size_t bytes, const char *what)
{
	uint64_t before = arena_of(from)->index.bytes;
	void *ptr;

	must(request(bytes, stream, 0, &ptr));
	ok(arena_of(from)->index.bytes < before, "%s", what);
	sound("in the end");
	heap_end();
}

static void test_idle(void)
{
	begin(64);
	is_of(other, 2 * MIB, "what fits is taken from the other stream");
	begin(64);
	is_of(stream, 6 * MIB - 300 * KIB, "not where its own fits well");
	begin(64);
	is_of(stream, 3 * MIB,
	      "nor where nothing of the other's is large enough");
}

static void test_busy(void)
{
	struct hold hold;

	begin(63);
	is_of(stream, 2 * MIB, "where streams are busy its own is cut");
	begin(64);
	hold_begin(&hold, other);
	arena_of(other)->completed = 0;
	is_of(stream, 2 * MIB, "nor is what another one is at work on taken");
	hold_end(&hold, other);
}

int main(void)
{
	stream = exchange_start();
	other = stream_new();
	test_idle();
	test_busy();
	must(gm_stream_destroy(device, other));
	exchange_end(stream);
	return done_testing();
}
