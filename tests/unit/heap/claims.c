/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The caches of threads against each other: one claims what the others use,
 * blocks go from hand to hand, threads end, and the heap ends before them. All
 * of it with membarrier(2), where there is one, and without. The lock alone is
 * in lock.c. */
#include "fixture.h"
#include <sched.h>

enum { THREADS = 3, MAILS = 16, LIVE = 64 };

static _Atomic(void *) mail[MAILS]; /* live blocks on their way */
static _Atomic bool stop;
static _Atomic long wrong, hits;
static pthread_barrier_t meet;

static void *take_slow(size_t bytes, gpumem_stream stream)
{
	unsigned index = gm_class_of(&heap.classes, bytes);
	struct gm_local *local;
	void *ptr;

	pthread_mutex_lock(&heap.mutex);
	gm_locals_fold_own(&heap, 0);
	must(gm_local_of(&heap, arena_of(stream), &local));
	if (!local->bin[index].count && !gm_local_refill(local, index)) {
		slab_new(local->arena, index);
		gm_local_refill(local, index);
	}
	ptr = gm_local_pop(local, &heap.classes.of[index], index, bytes, 0);
	gm_local_fold(local);
	pthread_mutex_unlock(&heap.mutex);
	return ptr;
}

static void give_slow(void *ptr, gpumem_stream stream)
{
	struct gm_slab *slab = slab_of((uintptr_t)ptr);
	uint32_t slot = (uint32_t)((uintptr_t)ptr - slab->address) /
			class_of(slab)->bytes;
	const struct gm_slot freed = {.address = (uintptr_t)ptr,
				      .mark = gm_slab_mark(slab, slot)};
	struct gm_local *local;

	pthread_mutex_lock(&heap.mutex);
	gm_locals_fold_own(&heap, 0);
	must(gm_local_of(&heap, arena_of(stream), &local));
	if (local->bin[slab->class_index].count == class_of(slab)->keep)
		gm_local_spill(local, slab->class_index);
	gm_local_push(local, slab->class_index, class_of(slab)->bytes, &freed,
		      atomic_load(freed.mark));
	gm_local_fold(local);
	pthread_mutex_unlock(&heap.mutex);
}

/* Every block holds its own address from end to end while it is live: one that
 * two have at once is seen. */
static void *take(size_t bytes)
{
	uintptr_t *ptr = gm_local_alloc(&heap, bytes, NULL);

	if (ptr)
		atomic_fetch_add(&hits, 1);
	else
		ptr = take_slow(bytes, NULL);
	if (ptr[0] == (uintptr_t)ptr || ptr[bytes / 8 - 1] == (uintptr_t)ptr)
		atomic_fetch_add(&wrong, 1);
	ptr[0] = ptr[bytes / 8 - 1] = (uintptr_t)ptr;
	ptr[1] = bytes;
	return ptr;
}

static void give(void *block_)
{
	uintptr_t *ptr = block_;
	size_t bytes = ptr[1];

	if (ptr[0] != (uintptr_t)ptr || ptr[bytes / 8 - 1] != (uintptr_t)ptr)
		atomic_fetch_add(&wrong, 1);
	ptr[0] = ptr[1] = ptr[bytes / 8 - 1] = 0;
	if (!gm_local_free(ptr, NULL))
		give_slow(ptr, NULL);
}

/* Its own generator: the fixture's is the main thread's. */
static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void *hammer(void *arg)
{
	uint32_t state = (uint32_t)(uintptr_t)arg;
	void *live[LIVE] = {NULL};

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		void **at = &live[next(&state) % LIVE];
		size_t bytes = 8 * (4 + next(&state) % 500);

		if (next(&state) % 8 == 0) {
			*at = atomic_exchange(&mail[next(&state) % MAILS], *at);
			continue;
		}
		if (*at)
			give(*at);
		*at = *at ? NULL : take(bytes);
	}
	for (int i = 0; i < LIVE; i++)
		if (live[i])
			give(live[i]);
	return NULL;
}

/* Stops all, looks at everything, empties all, over and over. */
static long claim(long rounds)
{
	long unsound = 0;

	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&heap.mutex);
		gm_locals_stop(&heap);
		gm_locals_fold(&heap);
		unsound += gm_heap_check(&heap) != GPUMEM_OK;
		if (i % 3 == 0)
			gm_locals_flush(&heap);
		if (i % 3 == 0)
			unsound += gm_locals_cached_bytes(&heap) != 0;
		gm_locals_go(&heap);
		pthread_mutex_unlock(&heap.mutex);
		usleep(50);
	}
	return unsound;
}

static void begin(bool membarrier)
{
	heap_start();
	/* Without it the owner's store is an exchange. */
	if (!membarrier)
		heap.caches->membarrier = false;
	atomic_store(&stop, false);
	atomic_store(&wrong, 0);
	atomic_store(&hits, 0);
}

static void test_hammer(const char *mode)
{
	pthread_t thread[THREADS];
	long unsound;

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, hammer, (void *)(i + 1));
	while (!atomic_load(&hits))
		sched_yield();
	unsound = claim(scaled(200, 40));
	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	is_int(unsound, 0, "%s: whoever claims sees all in order", mode);
	is_int(atomic_load(&wrong), 0, "%s: no block is given out twice", mode);
	is_ptr(heap.caches->locals, NULL,
	       "%s: with the threads their caches end", mode);
	for (int i = 0; i < MAILS; i++) {
		void *ptr = atomic_exchange(&mail[i], NULL);

		if (ptr)
			give(ptr);
	}
	sound("%s: in the end", mode);
	is_uint(heap.counters.blocks.current, 0, "%s: nothing is live", mode);
	is_uint(heap.counters.hits, heap.counters.blocks.total,
		"%s: every allocation is counted", mode);
	pthread_mutex_lock(&heap.mutex);
	gm_locals_stop(&heap);
	gm_locals_flush(&heap);
	gm_locals_go(&heap);
	gm_slabs_purge(arena_of(NULL));
	pthread_mutex_unlock(&heap.mutex);
	is_uint(arena_of(NULL)->index.bytes, heap.counters.reserved.current,
		"%s: all memory is free", mode);
}

static void *tried[3];

/* Does what the main thread tells it, step by step. */
static void *puppet(void *arg)
{
	void *ptr = take_slow(1000, NULL);

	(void)arg;
	if (!gm_local_free(ptr, NULL))
		give_slow(ptr, NULL);
	for (int i = 0; i < 3; i++) {
		pthread_barrier_wait(&meet);
		tried[i] = gm_local_alloc(&heap, 1000, NULL);
		if (tried[i] && !gm_local_free(tried[i], NULL))
			tried[i] = NULL;
		pthread_barrier_wait(&meet);
	}
	return NULL;
}

/* The other thread has its turn. */
static void let(void)
{
	pthread_barrier_wait(&meet);
	pthread_barrier_wait(&meet);
}

static void test_puppet(const char *mode)
{
	pthread_t thread;
	struct gm_local *mine;

	pthread_barrier_init(&meet, NULL, 2);
	give_slow(take_slow(1000, NULL), NULL);
	must(gm_local_of(&heap, arena_of(NULL), &mine));
	pthread_create(&thread, NULL, puppet, NULL);
	let();
	ok(tried[0] != NULL, "%s: a cache is its owner's", mode);
	is_int(mine->next || mine->prev, true, "%s: there are two", mode);
	pthread_mutex_lock(&heap.mutex);
	gm_locals_stop(&heap);
	let();
	ok(tried[1] == NULL, "%s: while it is claimed it is not", mode);
	ok(gm_local_alloc(&heap, 1000, NULL) != NULL,
	   "%s: the claimer's own is", mode);
	gm_locals_go(&heap);
	pthread_mutex_unlock(&heap.mutex);
	let();
	ok(tried[2] == tried[0], "%s: then it is again", mode);
	pthread_join(thread, NULL);
	pthread_mutex_lock(&heap.mutex);
	is_ptr(heap.caches->locals, mine,
	       "%s: a thread that ends takes its cache along", mode);
	ok(!mine->next && !mine->prev, "%s: and no other", mode);
	pthread_mutex_unlock(&heap.mutex);
	sound("%s: after the thread", mode);
	pthread_barrier_destroy(&meet);
}

/* A thread that outlives a heap and uses the next, at the same address. */
static void *survivor(void *arg)
{
	(void)arg;
	give(take(1000));
	pthread_barrier_wait(&meet);
	pthread_barrier_wait(&meet);
	tried[0] = gm_local_alloc(&heap, 1000, NULL);
	tried[1] = take(1000);
	return NULL;
}

static void test_survivor(const char *mode)
{
	bool membarrier = heap.caches->membarrier;
	pthread_t thread;

	pthread_barrier_init(&meet, NULL, 2);
	pthread_create(&thread, NULL, survivor, NULL);
	pthread_barrier_wait(&meet);
	heap_end();
	begin(membarrier);
	pthread_barrier_wait(&meet);
	pthread_join(thread, NULL);
	ok(tried[0] == NULL, "%s: nothing is left of a heap that ended", mode);
	ok(tried[1] != NULL, "%s: the next heap serves the thread", mode);
	is_ptr(heap.caches->locals, NULL, "%s: until it ends", mode);
	sound("%s: the next heap", mode);
	give(tried[1]);
	is_uint(atomic_load(&wrong), 0, "%s: the block was its own", mode);
	pthread_barrier_destroy(&meet);
}

static void test_mode(const char *mode, bool membarrier)
{
	begin(membarrier);
	test_hammer(mode);
	heap_end();
	begin(membarrier);
	test_puppet(mode);
	test_survivor(mode);
	heap_end();
}

int main(void)
{
	alarm(120);
	heap_shared = true;
	device_start();
	heap_start();
	if (heap.caches->membarrier) {
		heap_end();
		test_mode("membarrier", true);
	} else {
		heap_end();
		skip("this system has no membarrier(2)", 1);
	}
	test_mode("exchange", false);
	device_end();
	return done_testing();
}
