/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Memory that passes from stream to stream: adopted when it is completed, left
 * behind by streams that go, and waited for at the end. */
#include "fixture.h"
#include "heap/ladder.h"

static struct gm_arena *receiver;

/* The receiver exists before the others, or after them. */
static void restart(void)
{
	if (receiver)
		heap_end();
	heap_start();
	receiver = arena_of(NULL);
}

static void test_adopt(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *from = arena_of(stream);
	struct gm_extent *a = block(from, MIB), *b = block(from, MIB), *c;
	struct hold hold;

	c = block(receiver, 2 * MIB);
	block(from, 2 * MIB);
	block_give(from, a);
	gm_arena_poll(from, true);
	hold_begin(&hold, stream);
	block_give(receiver, c);
	block_give(from, b);
	gm_heap_transfer(&heap, receiver);
	is_uint(from->index.bytes, 2 * MIB,
		"what a busy stream may use stays its own");
	sound("nothing adopted");
	hold_end(&hold, stream);
	gm_heap_transfer(&heap, receiver);
	is_uint(from->index.count, 0, "when it is over, all passes");
	is_uint(receiver->index.count, 1, "and merges");
	is_uint(receiver->index.bytes, 4 * MIB, "with what was there");
	is_uint(gm_arena_fit(receiver, 4 * MIB, heap.unit)->seqno,
		receiver->seqno, "to be completed when that is");
	gm_heap_transfer(&heap, receiver);
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
	gm_arena_poll(from, true);
	hold_begin(&hold, stream);
	block_give(from, extent[2]);
	gm_heap_transfer(&heap, receiver);
	is_uint(receiver->index.bytes, MIB, "the completed one passes");
	is_ptr(gm_index_fit(&receiver->index, 1), extent[0], "which it is");
	ok(gm_arena_completed(receiver, extent[0]->seqno),
	   "completed as before");
	is_uint(from->index.bytes, 2 * MIB, "the other does not");
	hold_end(&hold, stream);
	must(gm_stream_destroy(device, stream));
	restart();
}

/* Where the receiver gets so much; it is free again afterwards. */
static uintptr_t served(size_t bytes)
{
	const struct gm_want want = {.bytes = bytes, .alignment = heap.unit};
	struct gm_extent *extent;
	bool grown = false;
	uintptr_t address;

	must(gm_ladder_take(receiver, &want, &grown, &extent));
	ok(!grown, "from what is free");
	address = extent->address;
	(void)gm_arena_insert(receiver, extent);
	return address;
}

/* Near the limit it is not its own large block that is cut. */
static void test_smallest(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *from = arena_of(stream);
	struct gm_extent *small = block(from, MIB), *large;
	uintptr_t small_at = small->address, large_at;
	struct hold hold;

	block(from, MIB);
	large = block(receiver, 8 * MIB);
	large_at = large->address;
	block_give(receiver, large);
	hold_begin(&hold, stream);
	block_give(from, small);
	gm_arena_poll(from, true);
	heap.space->budget.limit_bytes = heap.counters.reserved.current;
	is_uint(served(MIB / 2), large_at, "its own, while the other is busy");
	hold_end(&hold, stream);
	gm_arena_poll(from, true);
	heap.space->budget.limit_bytes *= 2;
	is_uint(served(MIB / 2), large_at, "its own, far from the limit");
	heap.space->budget.limit_bytes /= 2;
	is_uint(served(2 * MIB), large_at, "its own, where no other fits");
	is_uint(served(MIB / 2), small_at, "near it the smallest of all");
	sound("near the limit");
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
	gm_heap_transfer(&heap, receiver);
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
	gm_arena_poll(from, true);
	is_uint(calls(GPUMEM_CALL_STREAM_QUERY), asked, "and not asked again");
	gm_heap_transfer(&heap, receiver);
	ok(known(from) && freed->arena == from &&
		   receiver->index.bytes < 2 * MIB,
	   "what it may use stays where it is");
	must(heap_trim(0));
	is_uint(gpumem_host_used_bytes(0), 6 * MIB, "nor is it trimmed");
	ok(gm_extent_is(freed, GM_EXTENT_FREE) && freed->bytes == 2 * MIB,
	   "while it is busy");
	hold_end(&hold, stream);
	must(gm_stream_destroy(device, stream));
	gm_heap_transfer(&heap, receiver);
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
	gm_heap_transfer(&heap, receiver);
	ok(known(from) && receiver->index.count == 0,
	   "an empty run of a busy stream does not pass");
	/* What is freed after the stream is gone was fenced with it. */
	for (unsigned i = count; i < 2 * count; i++)
		slot_give(&slot[i]);
	gm_slabs_purge(from);
	gm_heap_transfer(&heap, receiver);
	ok(known(from) && receiver->index.count == 0, "nor one emptied later");
	sound("dropped with slots");
	hold_end(&hold, stream);
	must(gm_stream_destroy(device, stream));
	gm_heap_transfer(&heap, receiver);
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
	gm_arena_poll(from, true);
	is_uint(from->completed, from->seqno, "and frees settle as before");
	is_status(gm_heap_drop(from), GPUMEM_OK, "then it can be dropped");
	must(gpumem_host_faults(NULL));
	gm_heap_transfer(&heap, receiver);
	ok(!known(from), "and ends");
	must(gm_stream_destroy(device, stream));
	restart();
}

/* ---- waiting ---- */

static _Atomic bool done;

static void work(void *arg)
{
	usleep(2000);
	atomic_store((_Atomic bool *)arg, true);
}

static void test_wait(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *arena = arena_of(stream);

	atomic_store(&done, false);
	must(gpumem_host_launch(0, stream, work, &done));
	block_give(arena, block(arena, MIB));
	gm_arena_wait(arena);
	ok(atomic_load(&done), "what may still be used is waited for");
	is_uint(arena->completed, arena->seqno, "then all is completed");
	gm_arena_wait(arena);
	atomic_store(&done, false);
	must(gpumem_host_launch(0, stream, work, &done));
	slab_new(arena, 0);
	must(gm_heap_drop(arena));
	gm_arena_wait(arena);
	ok(atomic_load(&done), "of a dropped stream too");
	is_uint(arena->completed, arena->seqno, "then all is completed");
	must(gm_stream_destroy(device, stream));
	restart();
}

/* gm_arenas_wait() gives the mutex up: else this thread could not end the work
 * that it waits for. */
static void *ender(void *arg)
{
	struct hold *hold = arg;

	pthread_mutex_lock(&heap.mutex);
	pthread_mutex_lock(&hold->mutex);
	hold->ended = true;
	pthread_cond_signal(&hold->more);
	pthread_mutex_unlock(&hold->mutex);
	pthread_mutex_unlock(&heap.mutex);
	return NULL;
}

static void test_wait_any(void)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *arena = arena_of(stream);
	struct hold hold;
	pthread_t thread;

	block_give(arena, block(arena, MIB));
	pthread_mutex_lock(&heap.mutex);
	ok(!gm_arenas_wait(&heap), "idle streams are not waited for");
	hold_begin(&hold, stream);
	block_give(arena, block(arena, MIB));
	pthread_create(&thread, NULL, ender, &hold);
	ok(gm_arenas_wait(&heap), "a busy one is");
	is_uint(arena->completed, arena->seqno, "until something is completed");
	pthread_mutex_unlock(&heap.mutex);
	pthread_join(thread, NULL);
	must(gm_stream_destroy(device, stream));
	restart();
}

int main(void)
{
	alarm(60);
	device_start();
	restart();
	test_adopt();
	test_adopt_half();
	test_smallest();
	test_order();
	test_drop();
	test_drop_slots();
	test_drop_trim();
	test_drop_faults();
	test_wait();
	test_wait_any();
	heap_end();
	device_end();
	return done_testing();
}
