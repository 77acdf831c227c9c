/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A request that live blocks leave no room for, below the limit: it fails
 * before anything is moved, taken or given back for it, and so makes next to no
 * calls of the driver. But what pending blocks, the caches of threads or the
 * program's callbacks have is no live block, and nothing that fits is refused.
 */
#include "fixture.h"
#include <string.h>

#define LIMIT (256 * MIB)
enum { BLOCKS = 64 };

static gpumem_pool *pool;
static const char *mode;
static void *block[BLOCKS];

/* Half is live, half is free: every second block, so that in segments nothing
 * can be put together. */
static void fill(gpumem_stream stream)
{
	for (int i = 0; i < BLOCKS; i++)
		block[i] = new_block(pool, 4 * MIB, stream);
	for (int i = 0; i < BLOCKS; i += 2)
		must(gpumem_free(block[i], stream));
}

static void drop(void)
{
	for (int i = 1; i < BLOCKS; i += 2)
		if (block[i])
			must(gpumem_free(block[i], NULL));
}

/* What the device is asked for the figures of the error is no more than that.
 */
enum { CALLS = 4 };

static void refused(size_t bytes, const char *what)
{
	struct gpumem_stats before = stats_of(pool), after;
	void *ptr = NULL;

	is_status(gpumem_alloc(pool, bytes, NULL, &ptr), GPUMEM_LIMIT, "%s: %s",
		  mode, what);
	after = stats_of(pool);
	ok(after.driver_calls - before.driver_calls <= CALLS,
	   "%s: it made no calls (%llu)", what,
	   (ull)(after.driver_calls - before.driver_calls));
	is_uint(after.reserved.current, before.reserved.current,
		"%s: what was reserved stays", what);
	is_uint(after.reserved.peak, before.reserved.peak,
		"%s: and no more was", what);
	is_uint(after.retries, before.retries, "%s: nothing was tried", what);
	is_uint(after.ooms, before.ooms + 1, "%s: it counts", what);
}

static void test_refused(void)
{
	fill(NULL);
	refused(160 * MIB, "more than live blocks leave");
	refused(LIMIT / 2 + 1, "a byte more");
	for (int i = 0; i < BLOCKS; i += 2)
		block[i] = new_block(pool, 4 * MIB, NULL);
	refused(4 * MIB, "where all is live");
	refused(1, "a byte");
	for (int i = 0; i < BLOCKS; i += 2)
		must(gpumem_free(block[i], NULL));
	drop();
	must(gpumem_free(new_block(pool, LIMIT, NULL), NULL));
}

static bool free_some(gpumem_pool *of, const struct gpumem_pressure *pressure,
		      void *user)
{
	int *calls = user;

	(void)of;
	is_uint(pressure->needed_bytes, 160 * MIB, "so much is needed");
	++*calls;
	for (int i = 1; i < BLOCKS / 2; i += 2) {
		must(gpumem_free(block[i], NULL));
		block[i] = NULL;
	}
	return true;
}

static void test_callback(void)
{
	int calls = 0;
	void *ptr = NULL;

	fill(NULL);
	must(gpumem_pool_pressure_add(pool, free_some, &calls));
	is_status(gpumem_alloc(pool, 160 * MIB, NULL, &ptr), GPUMEM_OK,
		  "%s: what a callback frees is had", mode);
	is_uint((uint64_t)calls, 1, "it runs once");
	must(gpumem_pool_pressure_remove(pool, free_some, &calls));
	must(gpumem_free(ptr, NULL));
	drop();
}

/* The memory of a busy stream is not live, and comes back. */
static void test_pending(void)
{
	gpumem_stream stream = new_stream();
	struct gate gate = {0};
	void *ptr = NULL;

	fill(stream);
	gate_launch(&gate, stream, NULL, 0);
	for (int i = 1; i < BLOCKS; i += 2) {
		must(gpumem_free(block[i], stream));
		block[i] = NULL;
	}
	refused(LIMIT + 1, "more than the limit");
	gate_finish(&gate, stream);
	is_status(gpumem_alloc(pool, LIMIT, NULL, &ptr), GPUMEM_OK,
		  "%s: once the work is over all may be had", mode);
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_drop_stream(pool, stream));
	must(gpumem_stream_destroy(device, stream));
}

/* Blocks go through the caches of two threads: what each has is counted only
 * when that is looked for. */
static void *churn(void *user)
{
	void *ptr[64];

	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 64; i++)
			ptr[i] = new_block(pool, 4 * KIB << (i % 4), NULL);
		for (int i = 0; i < 64; i++)
			must(gpumem_free(ptr[i], NULL));
	}
	return user;
}

static void *ask(void *user)
{
	void *ptr = NULL;
	gpumem_status status;

	(void)churn(NULL);
	status = gpumem_alloc(pool, LIMIT, NULL, &ptr);
	if (status == GPUMEM_OK)
		must(gpumem_free(ptr, NULL));
	*(gpumem_status *)user = status;
	return NULL;
}

static void test_caches(void)
{
	gpumem_status status = GPUMEM_INVALID;
	pthread_t thread;

	(void)churn(NULL);
	if (pthread_create(&thread, NULL, ask, &status))
		bail("no thread");
	pthread_join(thread, NULL);
	is_status(status, GPUMEM_OK, "%s: what threads have cached is not live",
		  mode);
}

static void test_all(bool vm)
{
	mode = vm ? "pages" : "segments";
	test_refused();
	if (vm)
		test_callback();
	test_pending();
	test_caches();
}

int main(void)
{
	static const char *const limits[] = {"pool", "device"};

	alarm(300);
	for (int i = 0; i < 4; i++) {
		bool device_limit = i / 2;

		diag("the limit of the %s", limits[device_limit]);
		option("device_limit", device_limit ? "256MiB" : NULL);
		device_start("1GiB", i % 2);
		pool = new_pool(device_limit ? 0 : LIMIT);
		test_all(i % 2);
		must(gpumem_pool_destroy(pool, 0));
		ok(device_end(), "nothing is left");
	}
	option("device_limit", NULL);
	return done_testing();
}
