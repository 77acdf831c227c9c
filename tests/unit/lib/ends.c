/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What ends while others go on: threads whose caches are full, streams whose
 * blocks are live, pools of which threads still have caches, threads that end
 * while pools do. Always the memory comes back to the driver in the end.
 */
#include "fixture.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 6, SMALL = 40, LARGE = 10 };

static pthread_barrier_t barrier;
static _Atomic unsigned long failed;

static void expect_nothing(gpumem_pool *pool, const char *when)
{
	is_uint(trim_all(pool, NULL, 0), 0, "%s: a trim gives all back", when);
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "%s: sound", when);
	is_status(gpumem_pool_destroy(pool, 0), GPUMEM_OK, "%s: destroy", when);
	is_uint(gpumem_host_used_bytes(0), 0, "%s: the device is empty", when);
}

/* Frees all that it allocated into its cache: every size class, and more large
 * blocks than a cache keeps. */
static void fill_cache(gpumem_pool *pool, gpumem_stream stream)
{
	void *ptr[SMALL + LARGE];

	for (size_t i = 0; i < SMALL; i++)
		ptr[i] = new_block(pool, (i + 1) * 1600, stream);
	for (size_t i = SMALL; i < SMALL + LARGE; i++)
		ptr[i] = new_block(pool, i * 50 * KIB, stream);
	for (size_t i = 0; i < SMALL + LARGE; i++)
		must(gpumem_free(ptr[i], stream));
}

static void start(pthread_t *thread, size_t count, void *(*fn)(void *),
		  void *arg)
{
	for (size_t i = 0; i < count; i++)
		if (pthread_create(&thread[i], NULL, fn, arg))
			bail("no thread");
}

static void join(const pthread_t *thread, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
}

/* ---- threads that end ---- */

static void *fill_and_end(void *pool)
{
	fill_cache(pool, NULL);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void threads_end(void)
{
	gpumem_pool *pool = new_pool(0);
	pthread_t thread[THREADS];
	struct gpumem_stats full, after;

	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	start(thread, THREADS, fill_and_end, pool);
	pthread_barrier_wait(&barrier);
	full = stats_of(pool);
	ok(full.cached_bytes >= THREADS * (uint64_t)MIB,
	   "the caches of %d threads are full", THREADS);
	pthread_barrier_wait(&barrier);
	join(thread, THREADS);
	after = stats_of(pool);
	is_uint(after.cached_bytes, 0, "ended threads keep nothing");
	is_uint(after.reserved.current, full.reserved.current,
		"it went to the pool, not to the driver");
	ok(after.host_bytes + THREADS * 4ull * KIB <= full.host_bytes,
	   "their caches' host memory is free");
	expect_nothing(pool, "threads end");
}

/* One that ends at any time, with what it freed on the way. */
static void *short_life(void *pool)
{
	void *ptr[8];

	for (size_t i = 0; i < 8; i++)
		ptr[i] = new_block(pool, (i + 1) * 9000, NULL);
	for (size_t i = 0; i < 8; i++)
		must(gpumem_free(ptr[i], NULL));
	return NULL;
}

static void many_short_lives(void)
{
	gpumem_pool *pool = new_pool(0);
	long rounds = scaled(300, 30);
	uint64_t host_bytes = 0;

	for (long i = 0; i < rounds; i++) {
		pthread_t thread[THREADS];

		start(thread, THREADS, short_life, pool);
		join(thread, THREADS);
		if (i == rounds / 10)
			host_bytes = stats_of(pool).host_bytes;
	}
	ok(stats_of(pool).host_bytes <= host_bytes + 64 * KIB,
	   "%ld threads leave no host memory behind", rounds * THREADS);
	expect_nothing(pool, "short lives");
}

/* ---- pools that end before the threads that used them ---- */

static gpumem_pool *_Atomic shared_pool;

static void *outlive(void *unused)
{
	long rounds = scaled(200, 20);

	(void)unused;
	for (long i = 0; i < rounds; i++) {
		pthread_barrier_wait(&barrier);
		short_life(shared_pool);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void pools_end(void)
{
	long rounds = scaled(200, 20);
	pthread_t thread[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	start(thread, THREADS, outlive, NULL);
	for (long i = 0; i < rounds; i++) {
		shared_pool = new_pool(0);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		failed += gpumem_pool_destroy(shared_pool, 0) != GPUMEM_OK;
		failed += gpumem_host_used_bytes(0) != 0;
	}
	join(thread, THREADS);
	is_uint(failed, 0, "%ld pools end under the caches of threads", rounds);
}

/* Pools end at the very time that threads with caches of them do. */
static void *use_and_end(void *pool)
{
	fill_cache(pool, NULL);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void both_end(void)
{
	long rounds = scaled(200, 20);

	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (long i = 0; i < rounds; i++) {
		gpumem_pool *pool = new_pool(0);
		pthread_t thread[THREADS];

		start(thread, THREADS, use_and_end, pool);
		pthread_barrier_wait(&barrier);
		failed += gpumem_pool_destroy(pool, 0) != GPUMEM_OK;
		failed += gpumem_host_used_bytes(0) != 0;
		join(thread, THREADS);
	}
	is_uint(failed, 0, "%ld pools end together with the threads", rounds);
}

/* ---- streams that end under live blocks ---- */

enum { BLOCKS = 30 };

static void *blocks_of_stream[BLOCKS];
static atomic_size_t next_block;

static void *free_leftovers(void *pool)
{
	size_t at;

	/* A cache of its own, so that this is the usual way. */
	fill_cache(pool, NULL);
	pthread_barrier_wait(&barrier);
	while ((at = next_block++) < BLOCKS)
		failed += gpumem_free(blocks_of_stream[at], NULL) != GPUMEM_OK;
	return NULL;
}

/* The last fence of the stream is over: growing and trimming hand its memory,
 * and the blocks that are still live, on to another stream. */
static void *adopt(void *pool)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 4; i++)
		must(gpumem_pool_trim(pool, 0, NULL));
	return NULL;
}

static void destroy_stream_under_blocks(gpumem_pool *pool)
{
	gpumem_stream stream = new_stream();
	pthread_t thread[4];

	next_block = 0;
	for (size_t i = 0; i < BLOCKS; i++)
		blocks_of_stream[i] = new_block(
			pool, i % 2 ? 5 * KIB : 100 * KIB + i * KIB, stream);
	start(thread, 3, free_leftovers, pool);
	start(&thread[3], 1, adopt, pool);
	must(gpumem_stream_destroy(device, stream));
	pthread_barrier_wait(&barrier);
	join(thread, 4);
}

/* The same, step by step: the blocks are freed when their stream's arena is
 * another's already. */
static void stream_ended_before(void)
{
	gpumem_pool *pool = new_pool(0);
	gpumem_stream stream = new_stream();

	for (size_t i = 0; i < BLOCKS; i++)
		blocks_of_stream[i] =
			new_block(pool, i % 2 ? 5 * KIB : 300 * KIB, stream);
	fill_cache(pool, NULL);
	must(gpumem_stream_destroy(device, stream));
	ok(trim_all(pool, NULL, 0) > 0, "live blocks keep memory");
	for (size_t i = 0; i < BLOCKS; i += 3) {
		must(gpumem_free(blocks_of_stream[i], NULL));
		blocks_of_stream[i] = NULL;
	}
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "sound with some left");
	for (size_t i = 0; i < 60; i++)
		must(gpumem_free(new_block(pool, 5 * KIB, NULL), NULL));
	for (size_t i = 0; i < BLOCKS; i++)
		must(gpumem_free(blocks_of_stream[i], NULL));
	expect_nothing(pool, "stream ended");
}

static void streams_end(void)
{
	gpumem_pool *pool = new_pool(0);
	long rounds = scaled(300, 30);

	pthread_barrier_init(&barrier, NULL, 5);
	for (long i = 0; i < rounds; i++)
		destroy_stream_under_blocks(pool);
	is_uint(failed, 0, "%ld streams end under live blocks", rounds);
	is_uint(stats_of(pool).blocks.current, 0, "all blocks are freed");
	expect_nothing(pool, "streams end");
}

int main(void)
{
	open_device(120);
	threads_end();
	many_short_lives();
	pools_end();
	both_end();
	stream_ended_before();
	streams_end();
	is_status(gpumem_device_close(device), GPUMEM_OK, "close");
	return done_testing();
}
