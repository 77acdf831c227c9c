/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Slabs: every slot of every class goes out and comes back, empty runs are kept
 * or given back, and slabs outlive their stream. */
#include "fixture.h"

static struct gm_slot slot[3 * GM_SLOTS_MAX];
static struct gm_arena *arena;

/* Every granule of the run leads to the slab and says what it is. */
static unsigned wrong_entries(const struct gm_slab *slab)
{
	uintptr_t at = slab->extent->address;
	unsigned wrong = 0;

	for (size_t i = 0; i < class_of(slab)->run_bytes;
	     i += GM_RUN_UNIT / 2) {
		uintptr_t entry = gm_map_get(at + i);

		wrong += gm_slab_of_entry(entry) != slab;
		wrong += gm_entry_class(entry) != slab->class_index;
		wrong += gm_entry_arena(entry) != arena->slabs->number;
		wrong += gm_entry_offset(entry, at + i) != i;
	}
	return wrong;
}

/* All slots of one slab, taken in odd portions: each once, unused, and where
 * its mark says. */
static unsigned take_all(unsigned index)
{
	const struct gm_class *class = &heap.classes.of[index];
	unsigned have = 0, wrong = 0, portion = 1;
	const struct gm_slab *slab;
	static bool seen[GM_SLOTS_MAX];

	while (have < class->slots) {
		unsigned got = gm_slab_take(arena, index, slot + have,
					    class->slots - have < portion
						    ? class->slots - have
						    : portion);

		if (!got)
			return 1000;
		have += got;
		portion = portion * 2 + 1;
	}
	memset(seen, 0, sizeof(seen));
	slab = slab_of(slot[0].address);
	for (unsigned i = 0; i < have; i++) {
		size_t at = slot[i].address - slab->address;
		size_t n = at / class->bytes;

		wrong += at % class->bytes != 0 || n >= class->slots;
		wrong += slot[i].mark != gm_slab_mark(slab, n);
		wrong += atomic_load(slot[i].mark) != 0 || seen[n];
		seen[n] = true;
		slot_use(&slot[i]);
	}
	wrong += slab->free_count != 0 || partial_of(arena, index) != NULL;
	return wrong + gm_slab_take(arena, index, slot + have, 1);
}

/* Puts `count` slots back, each third first. */
static void give_all(unsigned first, unsigned count)
{
	for (unsigned k = 0; k < 3; k++)
		for (unsigned i = k; i < count; i += 3)
			slot_give(&slot[first + i]);
}

static void test_class(unsigned index)
{
	const struct gm_class *class = &heap.classes.of[index];
	size_t free_bytes, counters = heap.caches->metadata.live_bytes;
	struct gm_slab *slab;
	unsigned wrong;

	slab_new(arena, index);
	free_bytes = arena->index.bytes;
	slab = partial_of(arena, index);
	wrong = wrong_entries(slab) + (slab->address % GM_RUN_UNIT != 0);
	wrong += slab->extent->bytes != class->run_bytes;
	wrong += heap.caches->metadata.live_bytes - counters !=
		 gm_slab_host_bytes(class);
	wrong += take_all(index);
	wrong += heap_check() != GPUMEM_OK;
	give_all(0, class->slots);
	wrong += arena->slabs->empty[index] != slab || partial_of(arena, index);
	wrong += arena->index.bytes != free_bytes;
	wrong += take_all(index) + (slab_of(slot[0].address) != slab);
	give_all(0, class->slots);
	wrong += heap_check() != GPUMEM_OK;
	gm_slabs_purge(arena);
	wrong += arena->index.bytes != free_bytes + class->run_bytes;
	wrong += arena->slabs->empty[index] != NULL ||
		 heap.caches->metadata.live_bytes != counters;
	wrong += gm_map_get(slot[0].address) != 0;
	is_uint(wrong, 0, "class of %u: every slot out and back", class->bytes);
}

/* Of two runs that become empty one is kept; one in use is used before it. */
static void test_empty(unsigned index)
{
	unsigned count = heap.classes.of[index].slots;
	struct gm_slab *first, *second;
	size_t free_bytes;

	slab_new(arena, index);
	slab_new(arena, index);
	free_bytes = arena->index.bytes;
	is_uint(gm_slab_take(arena, index, slot, 2 * count + 1), 2 * count,
		"a taker of more gets what two runs have");
	for (unsigned i = 0; i < 2 * count; i++)
		slot_use(&slot[i]);
	first = slab_of(slot[0].address);
	second = slab_of(slot[count].address);
	ok(first != second, "which are two");
	give_all(0, count);
	is_ptr(arena->slabs->empty[index], first,
	       "the first that is empty is kept");
	slot_give(&slot[count]);
	gm_slab_take(arena, index, slot + count, 1);
	slot_use(&slot[count]);
	is_ptr(slab_of(slot[count].address), second,
	       "what is in use is used first");
	sound("one empty, one full");
	give_all(count, count);
	is_ptr(arena->slabs->empty[index], first,
	       "the second that is empty is not");
	is_uint(arena->index.bytes,
		free_bytes + heap.classes.of[index].run_bytes,
		"its run is free");
	is_uint(gm_map_get(slot[count].address), 0, "the map forgets it");
	is_ptr(slab_of(slot[0].address), first, "but not the other");
	gm_slabs_purge(arena);
	sound("purged");
}

/* Partial slabs form a list from which any may leave. */
static void test_partial(unsigned index)
{
	unsigned count = heap.classes.of[index].slots;
	unsigned got;

	for (int i = 0; i < 3; i++)
		slab_new(arena, index);
	got = gm_slab_take(arena, index, slot, 3 * count);
	for (unsigned i = 0; i < got; i++)
		slot_use(&slot[i]);
	for (unsigned i = 0; i < 3; i++)
		slot_give(&slot[i * count]);
	/* The middle one first, then the last, then the head. */
	for (unsigned k = 0; k < 3; k++) {
		unsigned run = k == 0 ? 1 : k == 1 ? 0 : 2;

		for (unsigned i = 1; i < count; i++)
			slot_give(&slot[run * count + i]);
		is_status(heap_check(), GPUMEM_OK, "%u left the list", k + 1);
	}
	is_ptr(partial_of(arena, index), NULL, "no partial one is left");
	ok(arena->slabs->empty[index] != NULL, "one empty one is");
	is_uint(gm_slab_take(arena, index, slot, 1), 1, "it is used again");
	is_ptr(arena->slabs->empty[index], NULL, "and not empty any more");
	slot_use(&slot[0]);
	slot_give(&slot[0]);
	gm_slabs_purge(arena);
}

/* Three slabs, full, partial and empty, whose stream goes. */
static void test_orphans(unsigned index)
{
	gpumem_stream stream = stream_new();
	struct gm_arena *from = arena_of(stream), *receiver = arena;
	unsigned count = heap.classes.of[index].slots;
	struct gm_slab *full, *partial, *other;

	slab_new(receiver, index);
	other = partial_of(receiver, index);
	for (int i = 0; i < 3; i++)
		slab_new(from, index);
	gm_slab_take(from, index, slot, 3 * count);
	for (unsigned i = 0; i < 3 * count; i++)
		slot_use(&slot[i]);
	full = slab_of(slot[0].address);
	partial = slab_of(slot[count].address);
	slot_give(&slot[count]);
	give_all(2 * count, count);
	gm_slabs_orphan(from);
	ok(atomic_load(&full->stream) == &gm_stream_gone &&
		   atomic_load(&partial->stream) == &gm_stream_gone,
	   "slabs of a stream that is gone are no stream's");
	is_ptr(atomic_load(&other->stream), NULL, "those of others are");
	is_ptr(from->slabs->empty[index], NULL, "empty ones are given back");
	must(gm_slabs_make(receiver));
	gm_slab_move(full->extent, receiver);
	gm_slab_move(partial->extent, receiver);
	full->extent->arena = partial->extent->arena = receiver;
	ok(full->arena == receiver && partial->arena == receiver &&
		   atomic_load(&full->stream) == NULL &&
		   atomic_load(&partial->stream) == NULL,
	   "moved, they are their new stream's");
	is_ptr(partial_of(from, index), NULL, "and not the old one's");
	is_ptr(partial_of(receiver, index), partial, "who takes from them");
	sound("moved");
	slot_give(&slot[0]);
	is_ptr(partial_of(receiver, index), full,
	       "what comes back is the new one's");
	for (unsigned i = 1; i < count; i++) {
		slot_give(&slot[i]);
		slot_give(&slot[count + i]);
	}
	gm_slabs_purge(receiver);
	gm_slabs_purge(from);
	sound("all given back");
	must(gm_stream_destroy(device, stream));
}

static void test_marks(void)
{
	ok(!gm_mark_live(0) && !gm_mark_live(GM_MARK_MORE) &&
		   !gm_mark_live(GM_MARK_PENDING),
	   "no bytes, no life");
	ok(gm_mark_live(1) && gm_mark_live(GM_SMALL_MAX) &&
		   gm_mark_live(1 | GM_MARK_MORE) &&
		   gm_mark_live(GM_SMALL_MAX | GM_MARK_MORE),
	   "bytes, shared or not, are live");
	ok(!gm_mark_live(GM_SMALL_MAX + 1), "more than a slot holds is not");
}

static void test_unit(int unit)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", unit);
	option("host.alignment", text);
	device_start();
	heap_start();
	arena = arena_of(NULL);
	for (unsigned i = 0; i < heap.classes.count; i++)
		test_class(i);
	test_empty(heap.classes.count / 2);
	test_partial(heap.classes.count - 1);
	test_orphans(0);
	test_orphans(heap.classes.count - 1);
	heap_end();
	/* A heap may end with runs in use. */
	heap_start();
	arena = arena_of(NULL);
	slab_new(arena, 0);
	gm_slab_take(arena, 0, slot, 1);
	slot_use(&slot[0]);
	heap_end();
	is_uint(gm_map_get(slot[0].address), 0, "the map forgets all");
	device_end();
	option("host.alignment", NULL);
}

int main(void)
{
	alarm(60);
	test_marks();
	test_unit(GM_UNIT_MIN);
	test_unit(4096);
	test_unit(GM_SMALL_MAX);
	return done_testing();
}
