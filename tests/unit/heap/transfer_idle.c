/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of idle streams that lies side by side: before pages are moved for a
 * large block it joins, where streams are idle as a rule, and no more of them
 * are asked than that is worth.
 */
#include "transfer.h"
#include "heap/ladder.h"

enum { STREAMS = 3, PIECES = 6, LONG_ROW = 64 };

static gpumem_stream stream[STREAMS];
static struct gm_arena *from[STREAMS];

/* A page of each stream in turn, twice; all free. */
static void pieces(void)
{
	struct gm_extent *extent[PIECES];

	for (unsigned i = 0; i < STREAMS; i++)
		from[i] = arena_of(stream[i]);
	for (unsigned i = 0; i < PIECES; i++)
		extent[i] = block(from[i % STREAMS], heap.page_bytes);
	for (unsigned i = 0; i < PIECES; i++)
		block_give(from[i % STREAMS], extent[i]);
}

/* With so many questions. */
static void transfer_idle(size_t asks)
{
	const struct gm_transfer transfer = {
		.receiver = receiver, .asks = asks, .idle = true};

	gm_transfer_all(&transfer);
}

static uint64_t queries(void)
{
	return calls(GPUMEM_CALL_STREAM_QUERY);
}

static size_t pages_of(const struct gm_arena *arena)
{
	return arena->index.bytes / heap.page_bytes;
}

static void test_joins(void)
{
	pieces();
	transfer_idle(STREAMS);
	is_uint(pages_of(receiver), PIECES, "all that is free passes");
	is_uint(receiver->index.count, 1, "and is one then");
	sound("joined");
	restart();
}

static void test_questions(void)
{
	uint64_t before;

	pieces();
	before = queries();
	transfer_idle(0);
	is_uint(pages_of(receiver), 0, "without a question nothing passes");
	transfer_idle(2);
	is_uint(queries() - before, 2, "two streams are asked");
	is_uint(pages_of(receiver), 4, "and what they have passes");
	restart();
	pieces();
	gm_arena_poll(from[0], NULL, true);
	gm_arena_poll(from[1], NULL, true);
	before = queries();
	transfer_idle(0);
	is_uint(queries() - before, 0, "what is known is not asked for");
	is_uint(pages_of(receiver), 4, "and passes as well");
	sound("known");
	restart();
	for (unsigned unknown = 0; unknown < STREAMS; unknown++) {
		pieces();
		for (unsigned i = 0; i < STREAMS; i++)
			if (i != unknown)
				gm_arena_poll(from[i], NULL, true);
		transfer_idle(1);
		is_uint(pages_of(receiver), PIECES,
			"so there is a question left");
		restart();
	}
}

static void test_busy(void)
{
	struct hold hold[STREAMS];
	uint64_t before;

	pieces();
	for (unsigned i = 0; i < STREAMS; i++)
		hold_begin(&hold[i], stream[i]);
	before = queries();
	transfer_idle(STREAMS);
	is_uint(queries() - before, 1, "the first that is busy is the last");
	is_uint(pages_of(receiver), 0, "and nothing passes");
	for (unsigned i = 0; i < STREAMS; i++)
		hold_end(&hold[i], stream[i]);
	restart();
}

/* Asks one stream. */
static void ask(void)
{
	block_give(from[0], block(from[0], heap.page_bytes));
	gm_arena_poll(from[0], NULL, true);
}

static void test_row(void)
{
	struct hold hold;

	pieces();
	for (int i = 1; i < LONG_ROW; i++)
		ask();
	ok(!gm_order_is_idle(&heap), "a short row says nothing");
	ask();
	ok(gm_order_is_idle(&heap), "a long one says that streams are idle");
	hold_begin(&hold, stream[0]);
	ask();
	ok(!gm_order_is_idle(&heap), "until one is not");
	for (int i = 1; i <= LONG_ROW; i++)
		ask();
	ok(!gm_order_is_idle(&heap), "and as long as it is not");
	heap.order->idle_in_row = LONG_ROW;
	gm_arena_poll(from[0], NULL, false);
	ok(!gm_order_is_idle(&heap), "which its events say, too");
	hold_end(&hold, stream[0]);
	restart();
}

int main(void)
{
	alarm(60);
	device_start();
	for (int i = 0; i < STREAMS; i++)
		stream[i] = stream_new();
	restart();
	test_joins();
	test_questions();
	test_busy();
	test_row();
	heap_end();
	for (int i = 0; i < STREAMS; i++)
		must(gm_stream_destroy(device, stream[i]));
	device_end();
	return done_testing();
}
