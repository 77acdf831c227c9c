/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Blocks that go one way for long: some threads only allocate, others only
 * free, and nobody looks at the counters. What is live at a time is known, and
 * so is the error that peaks may have; memory goes round and does not grow.
 */
#include "fixture.h"
#include <pthread.h>
#include <sched.h>

enum { PAIRS = 3, RING = 256, BYTES = 16 * KIB };

static gpumem_pool *pool;

/* One thread puts in, one takes out. */
static struct pair {
	void *_Atomic ring[RING];
	gpumem_stream stream;
	long count;
} pairs[PAIRS];

static void *allocate(void *arg)
{
	struct pair *pair = arg;

	for (long i = 0; i < pair->count; i++) {
		void *ptr = new_block(pool, BYTES, pair->stream);

		while (pair->ring[i % RING])
			sched_yield();
		pair->ring[i % RING] = ptr;
	}
	return NULL;
}

static void *release(void *arg)
{
	struct pair *pair = arg;

	for (long i = 0; i < pair->count; i++) {
		void *ptr;

		while (!(ptr = pair->ring[i % RING]))
			sched_yield();
		pair->ring[i % RING] = NULL;
		must(gpumem_free(ptr, pair->stream));
	}
	return NULL;
}

int main(void)
{
	/* Each has one block in hand beside those in its ring. */
	const uint64_t most = PAIRS * (uint64_t)(RING + 2) * BYTES;
	pthread_t thread[2 * PAIRS];
	struct gpumem_stats s;

	open_device(300);
	pool = new_pool(0);
	for (int i = 0; i < PAIRS; i++) {
		pairs[i].stream = i ? new_stream() : NULL;
		pairs[i].count = scaled(60000, 30000);
		if (pthread_create(&thread[2 * i], NULL, allocate, &pairs[i]) ||
		    pthread_create(&thread[2 * i + 1], NULL, release,
				   &pairs[i]))
			bail("no thread");
	}
	for (int i = 0; i < 2 * PAIRS; i++)
		pthread_join(thread[i], NULL);
	s = stats_of(pool);
	diag("bound %" PRIu64 " MiB; peaks %" PRIu64 ", %" PRIu64 ", %" PRIu64
	     " MiB of %" PRIu64,
	     s.cache_bound_bytes / MIB, s.requested.peak / MIB,
	     s.allocated.peak / MIB, s.active.peak / MIB, most / MIB);
	is_str(unlawful(&s), NULL, "the law holds");
	is_uint(s.blocks.current, 0, "no block is live");
	is_uint(s.allocated.total, PAIRS * (uint64_t)pairs[0].count * BYTES,
		"what went through is counted to the byte");
	ok(s.allocated.total > 2 * (most + s.cache_bound_bytes),
	   "and is more than any peak may be");
	ok(s.requested.peak <= most + s.cache_bound_bytes,
	   "the peak of requested is as far off as may be");
	ok(s.allocated.peak <= most + s.cache_bound_bytes, "of allocated");
	ok(s.active.peak <= most + s.cache_bound_bytes, "of active");
	ok(s.reserved.peak <= 4 * most + 32 * MIB,
	   "memory goes round: %" PRIu64 " MiB", s.reserved.peak / MIB);
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "all is in order");
	must(gpumem_pool_destroy(pool, 0));
	for (int i = 1; i < PAIRS; i++)
		must(gpumem_stream_destroy(device, pairs[i].stream));
	must(gpumem_device_close(device));
	is_uint(gpumem_host_used_bytes(0), 0, "nothing is left");
	return done_testing();
}
