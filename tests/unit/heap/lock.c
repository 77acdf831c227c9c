/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The lock of a cache, which is biased to its owner, with nothing else in it.
 * It rests on the order of one store and one load of each side: here they meet
 * as often as can be. */
#include "fixture.h"
#include <sched.h>

static _Atomic bool begun, stop, inside, claimed;
static _Atomic long wrong;

static void *owner(void *arg)
{
	struct gm_local *local;

	(void)arg;
	pthread_mutex_lock(&heap.mutex);
	must(gm_local_of(&heap, arena_of(NULL), &local));
	pthread_mutex_unlock(&heap.mutex);
	atomic_store(&begun, true);
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		if (!gm_local_lock(local))
			continue;
		atomic_store_explicit(&inside, true, memory_order_relaxed);
		if (atomic_load_explicit(&claimed, memory_order_relaxed))
			atomic_fetch_add(&wrong, 1);
		atomic_store_explicit(&inside, false, memory_order_relaxed);
		gm_local_unlock(local);
	}
	return NULL;
}

/* Owner and claimer are never inside together. */
static void test_lock(const char *mode)
{
	long rounds = scaled(100000, 2000);
	pthread_t thread;

	atomic_store(&begun, false);
	atomic_store(&stop, false);
	pthread_create(&thread, NULL, owner, NULL);
	while (!atomic_load(&begun))
		sched_yield();
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&heap.mutex);
		gm_locals_stop(&heap);
		atomic_store_explicit(&claimed, true, memory_order_relaxed);
		for (int k = 0; k < 20; k++)
			if (atomic_load_explicit(&inside, memory_order_relaxed))
				atomic_fetch_add(&wrong, 1);
		atomic_store_explicit(&claimed, false, memory_order_relaxed);
		gm_locals_go(&heap);
		pthread_mutex_unlock(&heap.mutex);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	is_int(atomic_load(&wrong), 0, "%s: nobody enters what is claimed",
	       mode);
}

/* ---- an owner that does not run ---- */

static _Atomic(struct gm_local *) stuck;
static _Atomic long yields, naps;

/* A thread that goes before the owner by its priority yields in vain: it must
 * come to sleep, and only then the owner goes on here. */
int sched_yield(void)
{
	struct gm_local *local = atomic_load(&stuck);

	if (local && atomic_fetch_add(&yields, 1) == 100000)
		atomic_store(&local->busy, 0);
	return 0;
}

int nanosleep(const struct timespec *duration, struct timespec *left)
{
	struct gm_local *local = atomic_load(&stuck);

	if (!local || duration->tv_nsec > 1000 * 1000)
		return clock_nanosleep(CLOCK_MONOTONIC, 0, duration, left);
	if (atomic_fetch_add(&naps, 1) == 20)
		atomic_store(&local->busy, 0);
	return 0;
}

static pthread_barrier_t meet;

static void *be_stuck(void *unused)
{
	struct gm_local *local;

	(void)unused;
	pthread_mutex_lock(&heap.mutex);
	must(gm_local_of(&heap, arena_of(NULL), &local));
	pthread_mutex_unlock(&heap.mutex);
	ok(gm_local_lock(local), "entered");
	atomic_store(&stuck, local);
	pthread_barrier_wait(&meet);
	pthread_barrier_wait(&meet);
	return NULL;
}

static void test_stuck(void)
{
	pthread_t thread;

	pthread_barrier_init(&meet, NULL, 2);
	pthread_create(&thread, NULL, be_stuck, NULL);
	pthread_barrier_wait(&meet);
	pthread_mutex_lock(&heap.mutex);
	gm_locals_stop(&heap);
	gm_locals_go(&heap);
	pthread_mutex_unlock(&heap.mutex);
	ok(atomic_load(&yields) < 1000 && atomic_load(&naps) == 21,
	   "who waits for an owner that does not run sleeps: %ld yields, %ld "
	   "naps",
	   atomic_load(&yields), atomic_load(&naps));
	atomic_store(&stuck, NULL);
	pthread_barrier_wait(&meet);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&meet);
}

int main(void)
{
	alarm(60);
	device_start();
	heap_start();
	if (heap.caches->membarrier)
		test_lock("membarrier");
	else
		skip("this system has no membarrier(2)", 1);
	heap.caches->membarrier = false;
	test_lock("exchange");
	test_stuck();
	heap_end();
	device_end();
	return done_testing();
}
