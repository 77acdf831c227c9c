/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Threads race to the limit of a tag: as many blocks as fit are had, never one
 * more and never one fewer, while blocks are freed by other threads than theirs
 * and the limit is set and taken away. The sum that the threads have at any
 * moment is counted here: before a free, and after an allocation, so that it is
 * never more than the pool's.
 */
#include "tags.h"

enum { THREADS = 4, FIT = 24, PLACES = 64 };

static gpumem_pool *pool;
static gpumem_stream stream;
static uint32_t tag[3]; /* race, race/one, race/two */
static size_t bytes;
static _Atomic unsigned taken, failures, refusals;
static _Atomic uint64_t live;
static _Atomic(void *) place[PLACES];
static _Atomic bool stop;
static pthread_barrier_t turn;

static gpumem_status take(unsigned which, void **ptr_out)
{
	if (gpumem_tag_set(tag[which % 3]))
		atomic_fetch_add(&failures, 1);
	return gpumem_alloc(pool, bytes, stream, ptr_out);
}

static void *grab(void *arg)
{
	unsigned which = (unsigned)(uintptr_t)arg;
	void *ptr[FIT + 1];
	unsigned count = 0;

	pthread_barrier_wait(&turn);
	while (count <= FIT && take(which++, &ptr[count]) == GPUMEM_OK)
		count++;
	atomic_fetch_add(&taken, count);
	pthread_barrier_wait(&turn);
	while (count)
		if (gpumem_free(ptr[--count], stream))
			atomic_fetch_add(&failures, 1);
	return NULL;
}

static void run(void *(*fn)(void *), pthread_t *thread)
{
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, fn, (void *)i))
			bail("no thread");
}

static void join(const pthread_t *thread)
{
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

/* Nothing is freed until all have been refused. */
static void test_exact(size_t size)
{
	pthread_t thread[THREADS];
	unsigned wrong = 0;

	bytes = size;
	must(gpumem_tag_set_limit(pool, tag[0], FIT * size + size - 1));
	pthread_barrier_init(&turn, NULL, THREADS);
	for (unsigned i = 0; i < scaled(100, 20); i++) {
		atomic_store(&taken, 0);
		run(grab, thread);
		join(thread);
		wrong += atomic_load(&taken) != FIT;
	}
	pthread_barrier_destroy(&turn);
	is_uint(wrong, 0, "%zu bytes: as many as fit, each time", size);
	is_uint(tag_row(pool, tag[0]).held_bytes, 0, "all gone");
	tags_agree(pool);
}

static void give(void *ptr)
{
	if (!ptr)
		return;
	atomic_fetch_sub(&live, bytes);
	if (gpumem_free(ptr, stream))
		atomic_fetch_add(&failures, 1);
}

static void *swap(void *arg)
{
	unsigned which = (unsigned)(uintptr_t)arg;

	while (!atomic_load(&stop)) {
		gpumem_status status;
		void *ptr = NULL;

		which = which * 1664525 + 1013904223;
		status = take(which >> 8, &ptr);
		if (status == GPUMEM_OK &&
		    atomic_fetch_add(&live, bytes) + bytes > FIT * bytes)
			atomic_fetch_add(&failures, 1);
		if (status == GPUMEM_LIMIT)
			atomic_fetch_add(&refusals, 1);
		else if (status != GPUMEM_OK)
			atomic_fetch_add(&failures, 1);
		give(atomic_exchange(&place[(which >> 16) % PLACES], ptr));
	}
	return NULL;
}

static void test_swap(size_t size)
{
	pthread_t thread[THREADS];

	bytes = size;
	atomic_store(&stop, false);
	must(gpumem_tag_set_limit(pool, tag[0], FIT * size));
	run(swap, thread);
	for (unsigned i = 0; i < scaled(200, 40); i++) {
		/* That of another tag comes and goes, and makes the threads
		 * choose theirs anew. */
		must(gpumem_tag_set_limit(pool, tag[1], i % 2 ? 0 : size * 5));
		must(gpumem_tag_set_limit(pool, tag[0], FIT * size));
		must(gpumem_pool_check(pool));
		gate_sleep();
	}
	atomic_store(&stop, true);
	join(thread);
	ok(!atomic_load(&failures), "%zu bytes: never more than fit", size);
	ok(atomic_load(&refusals), "and %u were refused",
	   atomic_load(&refusals));
	for (unsigned i = 0; i < PLACES; i++)
		give(atomic_exchange(&place[i], NULL));
	must(gpumem_tag_set_limit(pool, tag[1], 0));
	tags_agree(pool);
	is_uint(tag_row(pool, tag[0]).held_bytes, 0, "all gone");
}

int main(void)
{
	alarm(scaled(240, 480));
	device_start("1GiB", true);
	pool = new_pool(0);
	stream = new_stream();
	must(gpumem_tag_intern("race", &tag[0]));
	must(gpumem_tag_intern("race/one", &tag[1]));
	must(gpumem_tag_intern("race/two", &tag[2]));
	test_exact(400);
	test_exact(5 * MIB);
	test_swap(1000);
	test_swap(200000);
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, stream));
	ok(device_end(), "all given back");
	return done_testing();
}
