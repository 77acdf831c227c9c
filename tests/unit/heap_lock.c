/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The lock of a cache, which is biased to its owner, with nothing else in it.
 * It rests on the order of one store and one load of each side: here they meet
 * as often as can be. */
#include "heap_fixture.h"
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
		if (!gm_local_enter(local))
			continue;
		atomic_store_explicit(&inside, true, memory_order_relaxed);
		if (atomic_load_explicit(&claimed, memory_order_relaxed))
			atomic_fetch_add(&wrong, 1);
		atomic_store_explicit(&inside, false, memory_order_relaxed);
		gm_local_leave(local);
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

int main(void)
{
	alarm(60);
	device_start();
	heap_start();
	if (heap.membarrier)
		test_lock("membarrier");
	else
		skip("this system has no membarrier(2)", 1);
	heap.membarrier = false;
	test_lock("exchange");
	heap_end();
	device_end();
	return done_testing();
}
