/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The middle way: a thread with several caches changes between them, and trades
 * with depots, while another thread holds the mutexes; but not with a cache
 * that is claimed, has drifted, or whose arena has no number of its own. What
 * depots hold at the end of a heap goes with it.
 */
#include "fixture.h"
#include <malloc.h>

enum { HEAPS = 2, STREAMS = 2, CACHES = HEAPS * STREAMS, BYTES = 1000 };

static struct gm_heap second;
static struct gm_heap *const heaps[HEAPS] = {&heap, &second};
static gpumem_stream stream[STREAMS];

static void second_start(void)
{
	const struct gm_heap_config config = {0};

	must(gm_heap_init(&second, device, &config));
}

/* The thread's cache of the heap and stream, with one slab to take from. */
static struct gm_local *cache(struct gm_heap *of, gpumem_stream on)
{
	unsigned index = gm_class_of(&of->classes, BYTES);
	size_t bytes = of->classes.of[index].run_bytes;
	struct gm_arena *arena;
	struct gm_extent *run;
	struct gm_local *local;

	must(gm_arena_of(of, on, &arena));
	must(gm_local_of(of, arena, &local));
	must(heap_grow(of, arena, bytes, GM_RUN_UNIT));
	run = gm_arena_fit(arena, NULL, bytes, GM_RUN_UNIT);
	must(gm_nodes_reserve(&of->nodes, 2));
	must(gm_slab_create(arena, index,
			    gm_arena_carve(run, bytes, GM_RUN_UNIT)));
	if (!gm_local_refill(local, index))
		bail("no slots");
	return local;
}

/* As the door does it, but for the slow path. */
static void *take(struct gm_heap *from, gpumem_stream on)
{
	void *ptr = gm_local_alloc(from, BYTES, on);

	if (!ptr && gm_local_refill_for(from, BYTES, on))
		ptr = gm_local_alloc(from, BYTES, on);
	return ptr;
}

static bool give(void *ptr, gpumem_stream on)
{
	return gm_local_free(ptr, on) ||
	       (gm_local_flush_for(ptr, on) && gm_local_free(ptr, on));
}

/* ---- another thread holds the mutexes ---- */

static pthread_barrier_t barrier;

static void *hold_mutexes(void *unused)
{
	(void)unused;
	for (int i = 0; i < HEAPS; i++)
		pthread_mutex_lock(&heaps[i]->mutex);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < HEAPS; i++)
		pthread_mutex_unlock(&heaps[i]->mutex);
	return NULL;
}

static pthread_t hold_begins(void)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, hold_mutexes, NULL))
		bail("no thread");
	pthread_barrier_wait(&barrier);
	return thread;
}

static void hold_ends(pthread_t thread)
{
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&barrier);
}

static void caches_begin(void)
{
	heap_start();
	second_start();
	for (int i = 0; i < CACHES; i++)
		(void)cache(heaps[i / STREAMS], stream[i % STREAMS]);
}

static void caches_end(void)
{
	if (gm_heap_fini(&second))
		bail("the second heap does not end");
	heap_end();
}

static void test_alternating(void)
{
	unsigned failed = 0;
	pthread_t thread;

	caches_begin();
	thread = hold_begins();
	/* Each block is freed after another cache was used. */
	for (int i = 0; i < 10000; i++) {
		void *ptr[CACHES];

		for (int k = 0; k < CACHES; k++) {
			ptr[k] = take(heaps[k / STREAMS], stream[k % STREAMS]);
			failed += !ptr[k];
		}
		for (int k = 0; k < CACHES; k++)
			failed += !give(ptr[k], stream[k % STREAMS]);
	}
	hold_ends(thread);
	is_uint(failed, 0, "two streams of two heaps in turn take no lock");
	sound("in order");
	caches_end();
}

/* Blocks of one stream are freed while the other is in use, and the bins of
 * both fill and empty by the depots. */
static void test_depots(void)
{
	void *ptr[STREAMS][2 * GM_BIN_SLOTS];
	unsigned failed = 0, count;
	pthread_t thread;

	caches_begin();
	/* More than a bin holds, so that frees spill and takes fetch. */
	count = heap.classes.of[gm_class_of(&heap.classes, BYTES)].keep / 2 * 3;
	for (int s = 0; s < STREAMS; s++)
		for (unsigned i = 0; i < count; i++)
			while (!(ptr[s][i] = take(&heap, stream[s])))
				(void)cache(&heap, stream[s]);
	thread = hold_begins();
	for (int round = 0; round < 100; round++) {
		for (unsigned i = 0; i < count; i++)
			for (int s = 0; s < STREAMS; s++)
				failed += !give(ptr[s][i], stream[s]);
		for (unsigned i = 0; i < count; i++)
			for (int s = 0; s < STREAMS; s++)
				failed += !(ptr[s][i] = take(&heap, stream[s]));
	}
	hold_ends(thread);
	is_uint(failed, 0, "bins spill into depots and fetch from them");
	ok(atomic_load(&arena_of(stream[0])->slabs->depot.used),
	   "which were used");
	sound("in order");
	caches_end();
}

/* ---- caches that may not be used now ---- */

static void test_claimed(void)
{
	struct gm_local *one, *two;
	uint32_t count;
	void *ptr;

	caches_begin();
	must(gm_local_of(&heap, arena_of(stream[0]), &one));
	ptr = take(&heap, stream[0]);
	must(gm_local_of(&heap, arena_of(stream[1]), &two));
	count = one->bin[gm_class_of(&heap.classes, BYTES)].count;
	atomic_store(&one->claimed, 1);
	ok(!gm_local_refill_for(&heap, BYTES, stream[0]), "a claimed cache");
	ok(!gm_local_flush_for(ptr, stream[0]), "is not entered");
	ok(gm_local_last == two && !atomic_load(&one->busy), "nor left busy");
	is_uint(one->bin[gm_class_of(&heap.classes, BYTES)].count, count,
		"nor changed");
	atomic_store(&one->claimed, 0);
	ok(!gm_local_refill_for(&heap, BYTES, stream_new()),
	   "no cache, no help");
	ok(!gm_local_flush_for(&heap, stream[0]), "what is no block");
	ok(!gm_local_flush_for(ptr, stream[1]), "another stream's block");
	ok(give(ptr, stream[0]), "afterwards it is used again");
	sound("in order");
	caches_end();
}

static void test_drift(void)
{
	struct gm_local *one, *two;
	struct gm_delta *allocated;

	caches_begin();
	must(gm_local_of(&heap, arena_of(stream[0]), &one));
	must(gm_local_of(&heap, arena_of(stream[1]), &two));
	is_ptr(one->group, two->group, "both caches count together");
	allocated = &one->group->counts.allocated;
	allocated->high = GM_DRIFT_BYTES;
	allocated->left = 2 * GM_DRIFT_BYTES;
	ok(gm_local_refill_for(&heap, BYTES, stream[0]),
	   "a drift in its bounds");
	gm_local_last = two;
	allocated->high++;
	allocated->left++;
	ok(!gm_local_refill_for(&heap, BYTES, stream[0]), "one up too far");
	allocated->high = 0;
	allocated->left = GM_DRIFT_BYTES + 1;
	gm_local_last = two;
	ok(!gm_local_refill_for(&heap, BYTES, stream[0]), "one down too far");
	ok(!atomic_load(&one->busy), "which is not left busy");
	allocated->left = 0;
	gm_local_last = two;
	ok(gm_local_refill_for(&heap, BYTES, stream[0]),
	   "when it is folded in");
	caches_end();
}

/* All numbers are given out: nothing may be taken for another's. */
static void test_no_number(void)
{
	struct gm_slab *slab;
	void *ptr, *again;

	while (gm_arena_number_take())
		;
	caches_begin();
	must(gm_slabs_make(arena_of(stream[0])));
	is_uint(arena_of(stream[0])->slabs->number, 0,
		"an arena without a number");
	ptr = take(&heap, stream[0]);
	ok(ptr, "gives blocks");
	slab = slab_of((uintptr_t)ptr);
	is_uint(gm_entry_arena(gm_map_get((uintptr_t)ptr)), 0, "of number 0");
	ok(slab && slab->arena == arena_of(stream[0]), "its own");
	ok(!give(ptr, stream[0]) && !give(ptr, stream[1]),
	   "whose frees take the slow way");
	again = take(&second, stream[0]);
	ok(again && !give(again, stream[0]), "in each heap");
	sound("in order");
	caches_end();
	for (unsigned i = 1; i < GM_ARENA_NUMBERS; i++)
		gm_arena_number_give(i);
}

/* ---- the end of a heap with full depots ---- */

static void fill_depot(void)
{
	struct gm_slot slots[GM_BATCH_SLOTS];
	unsigned index = gm_class_of(&heap.classes, BYTES), count;
	struct gm_arena *arena = arena_of(NULL);

	slab_new(arena, index);
	slab_new(arena, index);
	for (unsigned i = 0; i < 4; i++) {
		count = gm_slab_take(arena, index, slots, 10);
		if (!gm_depot_put(&arena->slabs->depot, i, index, slots, count))
			bail("the depot takes nothing");
	}
}

/* Of this process, with malloc(). */
static size_t in_use(void)
{
#if __GLIBC_PREREQ(2, 33)
	return mallinfo2().uordblks;
#else
	return (unsigned)mallinfo().uordblks;
#endif
}

static size_t round_trip(void)
{
	heap_start();
	fill_depot();
	heap_end();
	return in_use();
}

/* A thread of the device leaves something or not with the C library, as it
 * happens; what a heap leaves comes on top each time. */
static void test_end(void)
{
	size_t before, after = round_trip();
	int tries = 8;

	do {
		before = after;
		after = round_trip();
	} while (after != before && --tries);
	if (!before)
		skip("this malloc tells nothing", 1);
	else
		is_uint(after, before, "full depots end with their heap");
}

int main(void)
{
	alarm(60);
	device_start();
	for (int i = 0; i < STREAMS; i++)
		stream[i] = stream_new();
	test_alternating();
	test_depots();
	test_claimed();
	test_drift();
	test_no_number();
	test_end();
	device_end();
	return done_testing();
}
