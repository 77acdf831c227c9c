/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Threads that run out of memory of the same pools at the same time, while
 * another one sets and removes the function, and the pools are looked at: each
 * failure is told once at most, in its own thread, with its own request.
 */
#include "oom.h"

enum { THREADS = 4, POOLS = 2, PLACES = 16 };

static gpumem_pool *pool[POOLS];
static gpumem_stream stream;
static _Atomic bool stop;
static _Atomic unsigned wrong, calls, failures;

/* What this thread asks for; 0: nothing. */
static _Thread_local size_t asked;
static _Thread_local unsigned heard;

static void hear(const struct gpumem_oom *oom, void *user)
{
	if (user != &wrong || !asked || oom->bytes != asked ||
	    !strstr(oom->json, "\"request\": ") || heard++)
		atomic_fetch_add(&wrong, 1);
	atomic_fetch_add(&calls, 1);
}

static void step(uint64_t number, void **place)
{
	static const size_t sizes[] = {3000, 100000, MIB, 5 * MIB, 9 * MIB};
	void *ptr = *place;

	*place = NULL;
	if (ptr && gpumem_free(ptr, number & 32 ? stream : NULL))
		atomic_fetch_add(&wrong, 1);
	asked = sizes[(number >> 8) % 5];
	heard = 0;
	if (gpumem_alloc(pool[number >> 16 & 1], asked,
			 number >> 17 & 1 ? stream : NULL, place)) {
		atomic_fetch_add(&failures, 1);
		if (!strstr(gpumem_error_text(), " out of memory"))
			atomic_fetch_add(&wrong, 1);
	}
	asked = 0;
}

static void *allocate(void *arg)
{
	uint64_t state = 88172645463325252u + (uintptr_t)arg * 977;
	void *place[PLACES] = {NULL};

	while (!atomic_load(&stop)) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		step(state, &place[state >> 40 & (PLACES - 1)]);
	}
	for (int i = 0; i < PLACES; i++)
		if (place[i] && gpumem_free(place[i], NULL))
			atomic_fetch_add(&wrong, 1);
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];
	unsigned checks = 0;

	alarm(240);
	device_start("32MiB", true);
	stream = new_stream();
	for (int i = 0; i < POOLS; i++)
		pool[i] = new_pool(i ? 20 * MIB : 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, allocate, (void *)i))
			bail("no thread");
	while (atomic_load(&failures) < (unsigned)scaled(2000, 100) ||
	       atomic_load(&calls) < (unsigned)scaled(500, 20)) {
		gpumem_oom_set(checks % 4 ? hear : NULL, &wrong);
		must(gpumem_pool_check(pool[checks++ & 1]));
		gate_sleep();
	}
	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	is_uint(atomic_load(&wrong), 0, "%u failures, of which %u were told",
		atomic_load(&failures), atomic_load(&calls));
	ok(atomic_load(&calls) <= atomic_load(&failures), "each once at most");
	is_uint(stats_of(pool[0]).ooms + stats_of(pool[1]).ooms,
		atomic_load(&failures), "as many as the pools have counted");
	gpumem_oom_set(NULL, NULL);
	must(gpumem_stream_sync(device, stream));
	for (int i = 0; i < POOLS; i++)
		must(gpumem_pool_destroy(pool[i], 0));
	must(gpumem_stream_destroy(device, stream));
	ok(device_end(), "nothing is left");
	return done_testing();
}
