/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Slabs by level: slots come out of the fuller ones first, whatever order they
 * go back in; a slab that was never used is found and given back; and one that
 * moves to another arena is that one's in every granule. */
#include "fixture.h"

enum { SLABS = 12, CLASS = 5 };

static struct gm_arena *arena;
static struct gm_slot slot[SLABS * GM_SLOTS_MAX];
static unsigned count, slots;

static void start(void)
{
	heap_start();
	arena = arena_of(NULL);
	slots = heap.classes.of[CLASS].slots;
	for (int i = 0; i < SLABS; i++)
		slab_new(arena, CLASS);
	count = 0;
}

static void take(unsigned want)
{
	unsigned got = gm_slab_take(arena, CLASS, slot + count, want);

	for (unsigned i = 0; i < got; i++)
		slot_use(&slot[count + i]);
	count += got;
}

static void give(unsigned i)
{
	slot_give(&slot[i]);
	slot[i] = slot[--count];
}

/* The lowest level that any slab with a free slot has. */
static unsigned lowest(void)
{
	unsigned level = 0;

	while (level < GM_SLAB_LEVELS && !arena->slabs->partial[CLASS][level])
		level++;
	return level;
}

static void test_fuller_first(void)
{
	unsigned wrong = 0, unsound = 0;

	start();
	take(SLABS * slots / 2);
	for (int round = 0; round < 4000; round++) {
		unsigned before = lowest();

		if (chance(2) && count + 1 < SLABS * slots) {
			const struct gm_slab *slab;

			take(1);
			slab = slab_of(slot[count - 1].address);
			/* It was as full, or nearly, before. */
			wrong += before < GM_SLAB_LEVELS &&
				 (slab->free_count + 1) * GM_SLAB_LEVELS /
						 (slots + 1) !=
					 before;
		} else if (count) {
			give((unsigned)chance(count));
		}
		if (round % 16 == 0)
			unsound += heap_check() != GPUMEM_OK;
	}
	is_uint(wrong, 0, "each slot comes from the fullest");
	is_uint(unsound, 0, "and the lists are in order");
	while (count)
		give(count - 1);
	sound("all slots are back");
	gm_slabs_purge(arena);
	is_uint(heap.caches->metadata.live_bytes, 0, "and all slabs can go");
	heap_end();
}

/* Fewer and fewer live slots: those left lie in few slabs, so others end. */
static void test_never_used(void)
{
	size_t counters;

	start();
	counters = heap.caches->metadata.live_bytes;
	take(1);
	gm_slabs_purge(arena);
	is_uint(heap.caches->metadata.live_bytes, counters / SLABS,
		"slabs that were never used go, the other stays");
	sound("in order");
	give(0);
	ok(arena->slabs->empty[CLASS], "one that is empty is kept");
	take(1);
	ok(!arena->slabs->empty[CLASS], "and used again");
	give(0);
	gm_slabs_purge(arena);
	is_uint(heap.caches->metadata.live_bytes, 0, "or goes");
	heap_end();
}

/* Every granule of each run leads to its slab, of the new arena. */
static void test_moved(void)
{
	gpumem_stream stream = stream_new();
	struct gm_extent *extent;
	struct gm_arena *receiver;
	unsigned wrong = 0, runs = 0;

	start();
	receiver = arena_of(stream);
	take(3 * slots / 2);
	must(gm_heap_drop(arena));
	must(gm_stream_sync(device, NULL));
	gm_heap_transfer(receiver, NULL, true);
	for (extent = gm_heap_first(&heap); extent; extent = next_of(extent)) {
		if (!gm_extent_is(extent, GM_EXTENT_RUN))
			continue;
		runs++;
		for (size_t at = 0; at < extent->bytes; at += 4 * KIB) {
			uintptr_t address = extent->address + at;
			uintptr_t entry = gm_map_get(address);

			wrong += gm_entry_arena(entry) !=
				 receiver->slabs->number;
			wrong += gm_entry_class(entry) != CLASS;
			wrong += gm_entry_offset(entry, address) != at;
			wrong += slab_of(address)->arena != receiver;
		}
	}
	is_uint(runs, 2, "the slabs that are in use move");
	is_uint(wrong, 0, "with all of their granules");
	sound("in order");
	arena = receiver;
	while (count)
		give(count - 1);
	gm_slabs_purge(receiver);
	is_uint(heap.caches->metadata.live_bytes, 0, "and end where they went");
	heap_end();
	must(gm_stream_destroy(device, stream));
}

int main(void)
{
	alarm(60);
	device_start();
	test_fuller_first();
	test_never_used();
	test_moved();
	device_end();
	return done_testing();
}
