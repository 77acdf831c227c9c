/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A small block that was freed is freed again, and asked for its size, by
 * threads of which one gives back the slab that it lay in at the same time:
 * each call is refused, whatever the slab's metadata has become. What one
 * thread does after the other is in misuse.c.
 */
#include "fixture.h"

enum { FREES = 2, SIZES = 1, TRIMS = 1, THREADS = FREES + SIZES + TRIMS };

static gpumem_pool *pool;
static pthread_barrier_t turn;
static void *ptr;
static bool stop;
static _Atomic unsigned odd;

static void act(unsigned which)
{
	gpumem_status wanted = GPUMEM_BAD_POINTER, status;
	uint64_t bytes;

	if (which < FREES) {
		status = gpumem_free(ptr, NULL);
	} else if (which < FREES + SIZES) {
		status = gpumem_usable_bytes(ptr, &bytes);
	} else {
		wanted = GPUMEM_OK;
		status = gpumem_pool_trim(pool, 0, NULL);
	}
	atomic_fetch_add(&odd, status != wanted);
}

static void *work(void *arg)
{
	for (;;) {
		pthread_barrier_wait(&turn);
		if (stop)
			return NULL;
		act((unsigned)(uintptr_t)arg);
		pthread_barrier_wait(&turn);
	}
}

/* It is the only slab, so that its chunk of metadata is given up with it; or
 * there is another one. */
static void race(size_t bytes, bool alone)
{
	void *other = alone ? NULL : new_block(pool, bytes / 2, NULL);

	atomic_store(&odd, 0);
	for (unsigned i = 0; i < scaled(5000, 500); i++) {
		ptr = new_block(pool, bytes, NULL);
		must(gpumem_free(ptr, NULL));
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
	}
	must(gpumem_free(other, NULL));
	is_uint(atomic_load(&odd), 0, "%zu bytes, %s: all is refused", bytes,
		alone ? "alone" : "beside another");
	sound(pool, "the pool is sound");
}

int main(void)
{
	pthread_t thread[THREADS];

	alarm(300);
	device_start("64MiB", true);
	pool = new_pool(0);
	pthread_barrier_init(&turn, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			bail("no thread");
	race(1000, true);
	race(1000, false);
	race(16 * KIB, true);
	stop = true;
	pthread_barrier_wait(&turn);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&turn);
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "the device is empty");
	return done_testing();
}
