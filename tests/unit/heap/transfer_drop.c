/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What streams leave behind that go: free memory, live blocks and slots pass to
 * another when they are completed, and not before. */
#include "transfer.h"

static bool known(const struct gm_arena *arena)
{
	const struct gm_arena *at = heap.order->arenas;

	while (at && at != arena)
		at = at->next;
	return at != NULL;
}

/* A stream goes while it is busy, and leaves free memory, a live block and a
 * run; then it is destroyed. */
static void test_drop(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *from = arena_of(stream);
	struct gm_extent *freed = block(from, 2 * MIB), *live;
	struct gm_slot slot;
	struct hold hold;
	uint64_t asked;

	live = block(from, 2 * MIB);
	slab_new(from, 0);
	gm_slab_take(from, 0, &slot, 1);
	slot_use(&slot);
	hold_begin(&hold, stream);
	block_give(from, freed);
	is_status(gm_heap_drop(from), GPUMEM_OK, "a busy stream is dropped");
	asked = calls(GPUMEM_CALL_STREAM_QUERY);
	gm_arena_poll(from, NULL, true);
	is_uint(calls(GPUMEM_CALL_STREAM_QUERY), asked, "and not asked again");
	gm_heap_transfer(receiver, NULL, true);
	ok(known(from) && freed->arena == from &&
		   receiver->index.bytes < 2 * MIB,
	   "what it may use stays where it is");
	must(heap_trim(0));
	is_uint(gpumem_host_used_bytes(0), 6 * MIB, "nor is it trimmed");
	ok(gm_extent_is(freed, GM_EXTENT_FREE) && freed->bytes == 2 * MIB,
	   "while it is busy");
	hold_end(&hold, stream);
	must(gm_stream_destroy(device, stream));
	gm_heap_transfer(receiver, NULL, true);
	ok(!known(from), "when its work is over, its fences end");
	ok(live->arena == receiver && slab_of(slot.address)->arena == receiver,
	   "its live blocks are the receiver's");
	ok(receiver->index.bytes >= 2 * MIB, "its free memory too");
	sound("dropped");
	slot_give(&slot);
	block_give(receiver, live);
	gm_slabs_purge(receiver);
	is_uint(receiver->index.count, 1, "and all of it merges");
	must(heap_trim(0));
	is_uint(gpumem_host_used_bytes(0), 0, "and can be given back");
	restart();
}

/* Slots have no sequence numbers: a stream that only ever freed slots. */
static void test_drop_slots(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *from = arena_of(stream);
	unsigned count = heap.classes.of[3].slots;
	static struct gm_slot slot[2 * GM_SLOTS_MAX];
	struct hold hold;

	slab_new(from, 3);
	slab_new(from, 3);
	gm_slab_take(from, 3, slot, 2 * count);
	for (unsigned i = 0; i < 2 * count; i++)
		slot_use(&slot[i]);
	hold_begin(&hold, stream);
	for (unsigned i = 0; i < count; i++)
		slot_give(&slot[i]);
	must(gm_heap_drop(from));
	gm_heap_transfer(receiver, NULL, true);
	ok(known(from) && receiver->index.count == 0,
	   "an empty run of a busy stream does not pass");
	/* What is freed after the stream is gone was fenced with it. */
	for (unsigned i = count; i < 2 * count; i++)
		slot_give(&slot[i]);
	gm_slabs_purge(from);
	gm_heap_transfer(receiver, NULL, true);
	ok(known(from) && receiver->index.count == 0, "nor one emptied later");
	sound("dropped with slots");
	hold_end(&hold, stream);
	must(gm_stream_destroy(device, stream));
	gm_heap_transfer(receiver, NULL, true);
	ok(!known(from) && receiver->index.count == 1, "then both do");
	sound("passed");
	restart();
}

/* What a stream leaves need not wait for an receiver to be trimmed. */
static void test_drop_trim(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *from = arena_of(stream);

	block_give(from, block(from, 4 * MIB));
	must(gm_heap_drop(from));
	must(gm_stream_sync(device, stream));
	must(gm_stream_destroy(device, stream));
	must(heap_trim(0));
	is_uint(gpumem_host_used_bytes(0), 0,
		"what a dropped stream leaves is trimmed");
	sound("trimmed");
	restart();
}

static void test_drop_faults(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *from = arena_of(stream);
	uint64_t seqno;

	block_give(from, block(from, 2 * MIB));
	seqno = from->seqno;
	must(gpumem_host_faults("event_record@1"));
	is_status(gm_heap_drop(from), GPUMEM_DRIVER,
		  "a driver that does not record is heard");
	ok(!from->dropped && from->seqno == seqno &&
		   gm_arena_find(&heap, stream) == from,
	   "nothing has happened");
	sound("not dropped");
	gm_arena_poll(from, NULL, true);
	is_uint(from->completed, from->seqno, "and frees settle as before");
	is_status(gm_heap_drop(from), GPUMEM_OK, "then it can be dropped");
	must(gpumem_host_faults(NULL));
	gm_heap_transfer(receiver, NULL, true);
	ok(!known(from), "and ends");
	must(gm_stream_destroy(device, stream));
	restart();
}

static void *large(gpumem_stream stream)
{
	const struct gm_request wants = {
		.bytes = 2 * MIB, .alignment = 1, .stream = stream};
	void *ptr;

	must(gm_heap_alloc(&heap, &wants, &ptr));
	return ptr;
}

/* A block has grown over what another stream had freed later than its own
 * stream ever did, which is gone when the block is freed. */
static void test_drop_resized(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *from = arena_of(stream);
	char *ptr = large(stream), *behind = large(NULL);
	struct hold hold;
	uint64_t holds;

	is_ptr(behind, ptr + 2 * MIB, "two blocks side by side");
	hold_begin(&hold, stream);
	must(gm_heap_drop(from));
	must(gm_heap_free(behind, NULL));
	must(gm_stream_sync(device, NULL));
	must(gm_heap_resize(ptr, 4 * MIB, NULL, &holds));
	must(gm_heap_free(ptr, NULL));
	(void)gm_pending_poll(&heap);
	sound("the larger one is freed after its stream has gone");
	hold_end(&hold, stream);
	must(gm_stream_destroy(device, stream));
	gm_heap_transfer(receiver, NULL, true);
	is_uint(receiver->index.bytes, 4 * MIB, "all of it passes");
	sound("then, too");
	restart();
}

int main(void)
{
	alarm(60);
	device_start();
	restart();
	test_drop();
	test_drop_slots();
	test_drop_trim();
	test_drop_faults();
	test_drop_resized();
	heap_end();
	device_end();
	return done_testing();
}
