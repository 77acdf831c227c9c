/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Memory that passes from stream to stream when it is completed, and in which
 * order. What streams that go leave behind is in transfer_drop.c, waiting in
 * transfer_wait.c. */
#include "transfer.h"

#define PAGE (2 * MIB)

static void test_adopt(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *from = arena_of(stream);
	struct gm_extent *a = block(from, MIB), *b = block(from, MIB), *c;
	struct hold hold;

	c = block(receiver, 2 * MIB);
	block(from, 2 * MIB);
	block_give(from, a);
	gm_arena_poll(from, NULL, true);
	hold_begin(&hold, stream);
	block_give(receiver, c);
	block_give(from, b);
	gm_heap_transfer(receiver, NULL, true);
	is_uint(from->index.bytes, 2 * MIB,
		"what a busy stream may use stays its own");
	sound("nothing adopted");
	hold_end(&hold, stream);
	gm_heap_transfer(receiver, NULL, true);
	is_uint(from->index.count, 0, "when it is over, all passes");
	is_uint(receiver->index.count, 1, "and merges");
	is_uint(receiver->index.bytes, 4 * MIB, "with what was there");
	is_uint(gm_arena_fit(receiver, NULL, 4 * MIB, heap.unit)->seqno,
		receiver->seqno, "to be completed when that is");
	gm_heap_transfer(receiver, NULL, true);
	is_uint(receiver->index.bytes, 4 * MIB, "nothing passes twice");
	sound("adopted");
	must(gm_stream_destroy(device, stream));
	restart();
}

/* Of two frees with an event between them one passes. */
static void test_adopt_half(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *from = arena_of(stream);
	struct gm_extent *extent[3];
	struct hold hold;

	for (int i = 0; i < 3; i++)
		extent[i] = block(from, MIB);
	block_give(from, extent[0]);
	gm_arena_poll(from, NULL, true);
	hold_begin(&hold, stream);
	block_give(from, extent[2]);
	gm_heap_transfer(receiver, NULL, true);
	is_uint(receiver->index.bytes, MIB, "the completed one passes");
	is_ptr(gm_index_fit(&receiver->index, 1), extent[0], "which it is");
	ok(gm_arena_completed(receiver, extent[0]->seqno),
	   "completed as before");
	is_uint(from->index.bytes, 2 * MIB, "the other does not");
	hold_end(&hold, stream);
	must(gm_stream_destroy(device, stream));
	restart();
}

/* In an order that every run has, wherever the driver's addresses are. */
static void test_order(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *from = arena_of(stream);
	const struct gm_extent *extent;
	struct gm_extent *block_of[14];
	uintptr_t last = UINTPTR_MAX;
	unsigned count = 0, wrong = 0;

	for (int i = 0; i < 14; i++)
		block_of[i] = block(from, 4 * MIB);
	for (int i = 0; i < 14; i += 2)
		block_give(from, block_of[i]);
	gm_heap_transfer(receiver, NULL, true);
	extent = gm_index_most_pages(&receiver->index);
	for (; extent;
	     extent = gm_index_fewer_pages(&receiver->index, extent)) {
		count++;
		wrong += extent->address > last;
		last = extent->address;
	}
	is_uint(count, 7, "all that is free passes");
	is_uint(wrong, 0, "the one with the highest address first");
	must(gm_stream_destroy(device, stream));
	restart();
}

/* What the stream waited for is not over when all that it did before is. */
static void test_followed(void)
{
	gpumem_stream other = stream_new();
	struct gm_arena *own = receiver, *beside = arena_of(other);
	const struct gm_transfer page = {.receiver = own,
					 .terms = GM_TERMS_ANY,
					 .bytes = PAGE,
					 .alignment = heap.unit,
					 .below = SIZE_MAX};
	struct gm_extent *theirs, *small;
	struct hold hold;

	theirs = block(beside, 3 * PAGE);
	block(beside, PAGE);
	small = block(beside, PAGE);
	block(beside, PAGE);
	hold_begin(&hold, other);
	block_give(beside, theirs);
	ok(!gm_transfer_terms(own, theirs, GM_TERMS_NOW),
	   "the other stream is at work");
	block_give(beside, small);
	ok(gm_transfer_block(&page), "a page comes from it behind its work");
	ok(gm_transfer_terms(own, theirs, GM_TERMS_NOW),
	   "so may what was freed before");
	own->completed = own->seqno;
	gm_transfer_extent(own, theirs);
	is_ptr(theirs->arena, own, "it comes");
	ok(!gm_arena_completed(own, theirs->seqno), "and is busy");
	sound("behind the work");
	hold_end(&hold, other);
	must(gm_stream_destroy(device, other));
	restart();
}

int main(void)
{
	alarm(60);
	device_start();
	restart();
	test_adopt();
	test_adopt_half();
	test_order();
	test_followed();
	heap_end();
	device_end();
	return done_testing();
}
