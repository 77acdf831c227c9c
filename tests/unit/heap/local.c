/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The caches of threads, one thread at a time: what slot goes in comes out,
 * once, and is counted. Large blocks are in cached.c, threads against each
 * other in claims.c. */
#include "fixture.h"
#include "heap/block.h"

enum { CLASS = 3 }; /* 1 KiB, with the smallest unit */
#define BYTES ((size_t)1000)

static struct gm_arena *arena;
static struct gm_local *local;

static void restart(void)
{
	if (arena)
		heap_end();
	heap_start();
	arena = arena_of(NULL);
	must(gm_local_of(&heap, arena, &local));
}

/* Slabs with so many slots of the class. */
static void slabs(unsigned count)
{
	for (unsigned i = 0; i < count; i += heap.classes.of[CLASS].slots)
		slab_new(arena, CLASS);
}

/* Ready slots of the class: half of what may be kept. */
static void refill(void)
{
	slabs(heap.classes.of[CLASS].keep);
	if (!gm_local_refill(local, CLASS))
		bail("a new slab has no slots");
}

static void test_nobody(void)
{
	ok(gm_local_last && !gm_local_alloc(&heap, BYTES, NULL),
	   "a thread without a cache has nothing ready");
	ok(!gm_local_free(&heap, NULL), "and takes nothing");
	is_uint(gm_locals_cached_bytes(&heap), 0, "nothing is cached");
}

static void test_slots(void)
{
	unsigned keep = heap.classes.of[CLASS].keep, have = 0;
	struct gm_bin *bin = &local->bin[CLASS];
	static void *ptr[GM_BIN_SLOTS];

	is_ptr(gm_local_last, local, "a cache that was asked for is the last");
	ok(!gm_local_alloc(&heap, BYTES, NULL), "it is empty");
	ok(!gm_local_refill(local, CLASS), "and there is no slab");
	refill();
	is_uint(bin->count, keep / 2, "filled to a half");
	sound("ready");
	while ((ptr[have] = gm_local_alloc(&heap, BYTES, NULL)))
		have++;
	is_uint(have, keep / 2, "all ready ones go out");
	is_uint(gm_locals_cached_bytes(&heap), 0, "none is left");
	sound("all live");
	is_uint(heap.counters.requested.current, have * BYTES,
		"requested bytes");
	is_uint(heap.counters.allocated.current, have * 1024,
		"allocated bytes");
	is_uint(heap.counters.blocks.current, have, "blocks");
	for (unsigned i = 0; i < have; i++)
		if (!gm_local_free(ptr[i], NULL))
			bail("block %u is not taken back", i);
	is_uint(bin->count, have, "all come back");
	is_uint(gm_locals_cached_bytes(&heap), have * 1024, "and are counted");
	sound("all back");
	is_uint(heap.counters.requested.current, 0, "nothing is requested");
	is_uint(heap.counters.blocks.current, 0, "there are no blocks");
	is_uint(heap.counters.requested.peak, have * BYTES, "the peak stays");
	is_uint(heap.counters.hits, have, "so many allocations");
}

static void test_order(void)
{
	void *a, *b;

	refill();
	a = gm_local_alloc(&heap, BYTES, NULL);
	b = gm_local_alloc(&heap, 1024, NULL);
	ok(a && b && a != b, "two blocks");
	ok(gm_local_free(a, NULL) && gm_local_free(b, NULL), "freed");
	is_ptr(gm_local_alloc(&heap, 769, NULL), b,
	       "the last one freed goes out first");
	ok(!gm_local_alloc(&heap, 768, NULL), "only for its own class");
	ok(!gm_local_alloc(&heap, 1025, NULL), "nor for a larger one");
	ok(!gm_local_alloc(&heap, 0, NULL), "nor for nothing");
	ok(gm_local_free(b, NULL), "freed again");
}

/* What is no live block of this cache is left to the slow path. */
static void test_refusals(void)
{
	gpumem_stream other = &arena;
	struct gm_slab *slab;
	uintptr_t entry;
	char *ptr;
	gm_mark *mark;

	refill();
	ptr = gm_local_alloc(&heap, BYTES, NULL);
	slab = slab_of((uintptr_t)ptr);
	mark = gm_slab_mark(slab, ((uintptr_t)ptr - slab->address) / 1024);
	is_uint(atomic_load(mark), BYTES, "a live slot is marked");
	ok(!gm_local_alloc(&heap, BYTES, other), "another stream's");
	ok(!gm_local_free(ptr, other), "freed on another stream");
	ok(!gm_local_free(ptr + 1, NULL), "not its beginning");
	ok(!gm_local_free(ptr + 512, NULL), "the middle");
	ok(!gm_local_free(&heap, NULL), "foreign memory");
	ok(!gm_local_free((void *)UINTPTR_MAX, NULL), "no address at all");
	atomic_store(mark, (uint16_t)(BYTES | GM_MARK_MORE));
	ok(!gm_local_free(ptr, NULL), "used by other streams");
	atomic_store(mark, GM_MARK_PENDING);
	ok(!gm_local_free(ptr, NULL), "pending");
	atomic_store(mark, (uint16_t)BYTES);
	entry = gm_map_get((uintptr_t)ptr);
	gm_map_set((uintptr_t)ptr, entry ^ 1ull << GM_ENTRY_ARENA_SHIFT);
	ok(!gm_local_free(ptr, NULL), "a slab of another arena");
	gm_map_set((uintptr_t)ptr, entry);
	atomic_store(&local->claimed, 1);
	ok(!gm_local_free(ptr, NULL) && !gm_local_alloc(&heap, BYTES, NULL),
	   "a cache that is claimed");
	is_uint(atomic_load(&local->busy), 0, "it is not busy either");
	atomic_store(&local->claimed, 0);
	ok(gm_local_free(ptr, NULL), "none of this has harmed the block");
	ok(!gm_local_free(ptr, NULL), "freed twice");
	is_uint(atomic_load(&local->busy), 0, "it is not busy afterwards");
	sound("after refusals");
}

static unsigned fill(void **ptr, unsigned most)
{
	unsigned have = 0;

	for (; have < most; have++) {
		ptr[have] = gm_local_alloc(&heap, BYTES, NULL);
		if (!ptr[have])
			break;
	}
	return have;
}

/* What is left at the end of a run is no slot. */
static void test_tail(void)
{
	const struct gm_class *class = heap.classes.of;
	char *run;

	while (class->run_bytes % class->bytes == 0)
		class ++;
	slab_new(arena, (unsigned)(class - heap.classes.of));
	run = (char *)partial_of(arena, class - heap.classes.of)->address;
	ok(!gm_local_free(run + (size_t) class->slots * class->bytes, NULL),
	   "the end of a run is no block");
	ok(!gm_local_free(run, NULL), "nor is a slot that is not live");
}

/* Two heaps, and streams of the same name. */
static void test_heaps(void)
{
	const struct gm_heap_config config = {.limit_bytes = 0};
	struct gm_arena *there;
	struct gm_local *second;
	struct gm_heap other;
	void *small, *big;

	refill();
	small = gm_local_alloc(&heap, BYTES, NULL);
	big = (void *)block(arena, MIB)->address;
	must(gm_heap_init(&other, device, &config));
	must(gm_arena_of(&other, NULL, &there));
	must(gm_local_of(&other, there, &second));
	ok(!gm_local_alloc(&heap, BYTES, NULL), "a cache is of one heap");
	ok(!gm_local_free(small, NULL) && !gm_local_free(big, NULL),
	   "and takes no other's blocks");
	must(gm_local_of(&heap, arena, &second));
	ok(gm_local_free(small, NULL) && gm_local_free(big, NULL),
	   "the other one does");
	must(gm_heap_fini(&other));
	sound("two heaps");
}

/* A full bin takes no more; half of it goes back, the older half. */
static void test_spill(void)
{
	unsigned keep = heap.classes.of[CLASS].keep, have = 0, back = 0;
	struct gm_bin *bin = &local->bin[CLASS];
	static void *ptr[2 * GM_BIN_SLOTS];
	uintptr_t newest;

	slabs(keep + 2);
	while (have < keep + 2 && gm_local_refill(local, CLASS))
		have += fill(ptr + have, keep + 2 - have);
	while (gm_local_free(ptr[back], NULL))
		back++;
	is_uint(bin->count, keep, "a bin takes so many, and no more");
	newest = bin->slot[bin->count - 1].address;
	sound("a full bin");
	gm_local_spill(local, CLASS);
	is_uint(bin->count, keep - (keep + 1) / 2, "half of it is spilled");
	is_uint(bin->slot[bin->count - 1].address, newest, "the older half");
	sound("spilled");
	while (back < have && gm_local_free(ptr[back], NULL))
		back++;
	is_uint(back, have, "there is room again");
	gm_locals_flush(&heap);
	is_uint(gm_locals_cached_bytes(&heap), 0, "flushed, nothing is ready");
	sound("flushed");
	gm_slabs_purge(arena);
	is_uint(arena->index.count, 1, "and all memory is in one piece");
}

/* The peaks of a lone thread that folds before it changes the counters. */
static void test_peaks(void)
{
	void *a, *b;

	refill();
	a = gm_local_alloc(&heap, 1024, NULL);
	b = gm_local_alloc(&heap, 1024, NULL);
	ok(gm_local_free(a, NULL) && gm_local_free(b, NULL), "two and none");
	gm_locals_fold_own(&heap, 0);
	is_uint(heap.counters.requested.peak, 2048, "the peak was two");
	is_uint(heap.counters.requested.current, 0, "now it is none");
	is_uint(heap.counters.requested.total, 2048, "the total is two");
	gm_locals_fold_own(&heap, 0);
	is_uint(heap.counters.requested.total, 2048, "and not counted twice");
	a = gm_local_alloc(&heap, 1, NULL);
	is_ptr(a, NULL, "of another class there is none");
	gm_counters_alloc(&heap.counters, 5000, 5120);
	a = gm_local_alloc(&heap, 1024, NULL);
	gm_locals_fold_own(&heap, 0);
	is_uint(heap.counters.requested.peak, 6024, "a block upon a block");
	is_uint(heap.counters.highest_allocated, 6144,
		"and so much was allocated");
	gm_counters_free(&heap.counters, 5000, 5120, false);
	ok(gm_local_free(a, NULL), "freed");
	sound("peaks");
}

/* While several threads use a heap, what was reached is known when all have
 * been stopped, and only until something else is folded in. */
static void test_known(void)
{
	const struct gm_gauge *active = &heap.counters.active;
	void *a;

	gm_locals_fold(&heap);
	gm_gauge_reset(&heap.counters.active, false);
	heap.counters.shared = true;
	gm_counters_alloc(&heap.counters, 4096, 4096);
	is_uint(active->reached, 4096, "all were stopped: it is reached");
	gm_locals_fold_own(&heap, 0);
	gm_counters_alloc(&heap.counters, 4096, 4096);
	is_uint(active->reached, 4096, "another call: others may have freed");
	is_uint(active->peak, 8192, "but it may be the peak");
	heap.counters.known = true;
	a = gm_local_alloc(&heap, 1024, NULL);
	ok(a && gm_local_free(a, NULL), "a cache is used");
	gm_local_fold(gm_local_last);
	gm_counters_alloc(&heap.counters, 4096, 4096);
	is_uint(active->reached, 4096, "and folded in alone: unknown again");
	for (int i = 0; i < 3; i++)
		gm_counters_free(&heap.counters, 4096, 4096, false);
	gm_locals_fold(&heap);
	sound("known");
}

/* A thread has a cache per stream, and one of them is the last. */
static void test_streams(void)
{
	char name;
	struct gm_arena *other = arena_of(&name);
	struct gm_local *second, *again;
	void *a, *b;

	refill();
	must(gm_local_of(&heap, other, &second));
	ok(second != local && gm_local_last == second, "another stream's");
	ok(!gm_local_alloc(&heap, BYTES, NULL), "is used for that alone");
	slab_new(other, CLASS);
	gm_local_refill(second, CLASS);
	b = gm_local_alloc(&heap, BYTES, &name);
	must(gm_local_of(&heap, arena, &again));
	is_ptr(again, local, "the first is found again");
	a = gm_local_alloc(&heap, BYTES, NULL);
	ok(a && b && a != b, "each gives its own blocks");
	ok(!gm_local_free(b, NULL), "and takes no other's");
	ok(gm_local_free(a, NULL), "but its own");
	sound("two caches");
	gm_locals_stop(&heap);
	gm_locals_flush(&heap);
	gm_locals_go(&heap);
	is_uint(gm_locals_cached_bytes(&heap), 0, "both are flushed");
	gm_locals_drop(&heap, other);
	ok(!atomic_load(&second->heap) && atomic_load(&local->heap) == &heap,
	   "a dropped stream's cache is nobody's");
	must(gm_local_of(&heap, arena_of(&again), &again));
	is_ptr(again, second, "and is used for the next stream");
}

/* Without the mutex, also where no block of the process has a tag. */
static void test_word(void)
{
	unsigned ready;
	void *ptr, *user = &user;

	restart();
	refill();
	ready = local->bin[CLASS].count;
	ptr = gm_local_alloc(&heap, BYTES, NULL);
	must(gm_block_poke_user(ptr, &ready));
	ok(gm_block_peek_user(ptr, &user) && user == &ready,
	   "a block of a cache has a word");
	sound("with a word");
	ok(!gm_local_free(ptr, NULL), "it is not of those that have nothing");
	ok(gm_local_free_again(ptr, true, NULL), "the cache takes it still");
	is_uint(local->bin[CLASS].count, ready, "itself");
	ok(!gm_block_peek_user(ptr, &user), "then it has none");
	is_ptr(gm_local_alloc(&heap, BYTES, NULL), ptr, "nor has the next");
	ok(gm_block_peek_user(ptr, &user) && !user, "at the same address");
	ok(gm_local_free(ptr, NULL), "which has nothing");
	sound("without words");
}

int main(void)
{
	alarm(60);
	device_start();
	heap_start();
	test_nobody();
	heap_end();
	restart();
	test_slots();
	restart();
	test_order();
	restart();
	test_refusals();
	restart();
	test_spill();
	restart();
	test_tail();
	restart();
	test_heaps();
	restart();
	test_peaks();
	test_known();
	restart();
	test_streams();
	test_word();
	heap_end();
	ok(!gm_local_alloc(&heap, BYTES, NULL), "a cache ends with its heap");
	device_end();
	return done_testing();
}
