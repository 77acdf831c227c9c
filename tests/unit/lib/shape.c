/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The figures of a pool's shape, free, cached, holes, largest free block and
 * fragmentation, against a walk over its blocks and against cases whose answer
 * is known; and what its bookkeeping costs.
 */
#include "fixture.h"
#include <pthread.h>

/* What a visit adds up to. */
struct sums {
	uint64_t requested, live, pending, free, blocks, largest;
};

static bool vm;

static bool add_up(const struct gpumem_block *at, void *user)
{
	struct sums *sums = user;

	sums->requested += at->requested_bytes;
	if (at->state == GPUMEM_BLOCK_LIVE) {
		sums->live += at->bytes;
		sums->blocks++;
	} else if (at->state == GPUMEM_BLOCK_PENDING) {
		sums->pending += at->bytes;
	} else if (at->state == GPUMEM_BLOCK_FREE) {
		sums->free += at->bytes;
		if (at->bytes > sums->largest)
			sums->largest = at->bytes;
	}
	return true;
}

static bool agrees(gpumem_pool *pool)
{
	const struct gpumem_stats s = stats_of(pool);
	struct sums sums = {0};

	must(gpumem_block_visit(pool, add_up, &sums));
	return sums.requested == s.requested.current &&
	       sums.live == s.allocated.current &&
	       sums.pending == s.pending_bytes && sums.free == s.free_bytes &&
	       sums.blocks == s.blocks.current &&
	       s.largest_free_bytes <= sums.largest;
}

static void visit_agrees(void)
{
	gpumem_pool *pool = new_pool(0);
	long steps = scaled(3000, 300), wrong = 0;
	gpumem_stream other = new_stream();
	void *ptr[200] = {NULL};
	struct gate gate;

	srand(2);
	gate_launch(&gate, other, NULL, 0);
	for (long i = 0; i < steps; i++) {
		size_t at = (size_t)rand() % 200, r = (size_t)rand();

		if (ptr[at])
			must(gpumem_free(ptr[at], r % 9 ? NULL : other));
		ptr[at] = new_block(
			pool, r % 3 ? 1 + r % (80 * KIB) : 1 + r % (4 * MIB),
			NULL);
		wrong += !agrees(pool);
	}
	is_int(wrong, 0, "a visit sums up to the statistics, %ld times", steps);
	gate_open(&gate);
	must(gpumem_stream_destroy(device, other));
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

static bool near(double got, double want)
{
	return got > want - 1e-9 && got < want + 1e-9;
}

/* 2 MiB pages: 3 MiB live leave 1 MiB that is no whole page. */
static void known_cases(void)
{
	gpumem_pool *pool = new_pool(0);
	struct gpumem_stats s = stats_of(pool);
	void *ptr;

	is_uint(s.free_bytes + s.largest_free_bytes + s.cached_bytes +
			s.unreleasable_bytes + (s.fragmentation != 0),
		0, "an empty pool has no shape");
	ptr = new_block(pool, 3 * MIB, NULL);
	s = stats_of(pool);
	is_uint(s.reserved.current, 4 * MIB, "two pages");
	is_uint(s.free_bytes, MIB, "1 MiB is free");
	is_uint(s.largest_free_bytes, MIB, "in one piece");
	is_uint(s.unreleasable_bytes, MIB, "not to be given back");
	is_uint(s.cached_bytes, 0, "nothing is cached");
	ok(near(s.fragmentation, 0), "one piece is no fragmentation");
	must(gpumem_free(ptr, NULL));
	s = stats_of(pool);
	is_uint(s.cached_bytes, 3 * MIB, "freed: 3 MiB are cached");
	is_uint(s.free_bytes, 4 * MIB, "and free");
	is_uint(s.largest_free_bytes, 3 * MIB, "what is cached is free too");
	is_uint(s.unreleasable_bytes, MIB, "the hole too");
	ok(near(s.fragmentation, 0.25), "three quarters in one piece");
	/* Keeping all, a trim only empties the caches. */
	must(gpumem_pool_trim(pool, UINT64_MAX, NULL));
	s = stats_of(pool);
	is_uint(s.cached_bytes, 0, "trimmed: nothing is cached");
	is_uint(s.largest_free_bytes, 4 * MIB, "all in one piece");
	is_uint(s.unreleasable_bytes, 0, "which is whole pages");
	ok(near(s.fragmentation, 0), "no fragmentation");
	is_uint(s.reserved.current, 4 * MIB, "still reserved");
	must(gpumem_pool_destroy(pool, 0));
}

/* Live 1 MiB blocks with 1 MiB gaps: free bytes, and not a page to be had. */
static void all_holes(void)
{
	gpumem_pool *pool = new_pool(0);
	struct gpumem_stats s;
	void *ptr[32];

	for (int i = 0; i < 32; i++)
		ptr[i] = new_block(pool, MIB, NULL);
	for (int i = 0; i < 32; i += 2)
		must(gpumem_free(ptr[i], NULL));
	must(gpumem_pool_trim(pool, UINT64_MAX, NULL));
	s = stats_of(pool);
	is_uint(s.reserved.current, 32 * MIB, "32 blocks of 1 MiB");
	is_uint(s.free_bytes, 16 * MIB, "every other one is free");
	is_uint(s.unreleasable_bytes, 16 * MIB, "all of it holes");
	is_uint(s.largest_free_bytes, MIB, "none larger than a block");
	ok(near(s.fragmentation, 15. / 16), "as scattered as can be");
	must(gpumem_stream_sync(device, NULL));
	is_uint(trim_all(pool, NULL, 0), 32 * MIB, "nothing can be given back");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

static void cached_small(void)
{
	gpumem_pool *pool = new_pool(0);
	void *first = new_block(pool, 1000, NULL), *ptr[128];
	uint64_t ready = stats_of(pool).cached_bytes;
	size_t count = ready / 1024;

	if (!ok(count > 0 && count <= 128 && ready % 1024 == 0,
		"a thread keeps some ready"))
		bail("it keeps %" PRIu64 " bytes", ready);
	for (size_t i = 0; i < count; i++)
		ptr[i] = new_block(pool, 1000, NULL);
	is_uint(stats_of(pool).cached_bytes, 0, "blocks come out of them");
	for (size_t i = 0; i < count; i++)
		must(gpumem_free(ptr[i], NULL));
	is_uint(stats_of(pool).cached_bytes, ready, "and go back to them");
	must(gpumem_free(first, NULL));
	is_uint(trim_all(pool, NULL, 0), 0, "a trim takes them");
	must(gpumem_pool_destroy(pool, 0));
}

static void *takes_all(void *pool)
{
	must(gpumem_free(new_block(pool, 300 * MIB, NULL), NULL));
	return NULL;
}

/* A huge block that a thread caches is as good as free: to the thread for
 * any size, to others, to a trim, and to what statistics call free. */
static void cached_huge(void)
{
	gpumem_pool *pool = new_pool(0);
	uint64_t reserved, calls;
	struct gpumem_stats s;
	pthread_t thread;
	char *huge = new_block(pool, 300 * MIB, NULL), *a, *b;

	reserved = stats_of(pool).reserved.current;
	must(gpumem_free(huge, NULL));
	s = stats_of(pool);
	is_uint(s.cached_bytes, 300 * MIB, "freed: 300 MiB are cached");
	is_uint(s.active.current, 0, "nothing is active");
	ok(s.largest_free_bytes >= 300 * MIB, "it is the largest free one");
	is_uint(s.cache_bound_bytes, 0, "and no peak is uncertain by it");
	calls = s.driver_calls;
	for (int i = 0; i < 100; i++) {
		a = new_block(pool, 300 * MIB, NULL);
		must(gpumem_free(a, NULL));
		if (a != huge)
			break;
	}
	is_ptr(a, huge, "the same again and again");
	is_uint(stats_of(pool).driver_calls, calls, "without the driver");
	a = new_block(pool, 100 * MIB, NULL);
	b = new_block(pool, 200 * MIB, NULL);
	is_uint(stats_of(pool).reserved.peak, reserved,
		"in two parts it is used without more memory");
	must(gpumem_free(a, NULL));
	must(gpumem_free(b, NULL));
	is_uint(stats_of(pool).cached_bytes, 200 * MIB, "the last is cached");
	if (pthread_create(&thread, NULL, takes_all, pool))
		bail("no thread");
	pthread_join(thread, NULL);
	is_uint(stats_of(pool).reserved.peak, reserved,
		"another thread has all of it");
	must(gpumem_free(new_block(pool, 300 * MIB, NULL), NULL));
	is_uint(trim_all(pool, NULL, 0), 0, "a trim takes it");
	must(gpumem_pool_destroy(pool, 0));
}

/* The best fit is found among all that is free, what is ready too. */
static void huge_fits(void)
{
	gpumem_pool *pool = new_pool(0);
	char *large = new_block(pool, 90 * MIB, NULL);
	char *fence = new_block(pool, 20 * KIB, NULL);
	char *close = new_block(pool, 40 * MIB, NULL);
	char *other = new_block(pool, 20 * KIB, NULL);

	must(gpumem_free(large, NULL));
	must(gpumem_pool_trim(pool, UINT64_MAX, NULL));
	must(gpumem_free(close, NULL));
	is_uint(stats_of(pool).cached_bytes, 40 * MIB, "40 MiB are ready");
	is_ptr(new_block(pool, 40 * MIB - 512 * KIB, NULL), close,
	       "for nearly as much, they are better than 90 MiB");
	must(gpumem_free(fence, NULL));
	must(gpumem_free(other, NULL));
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

/* ---- what the bookkeeping costs ---- */

/* Bytes for a block, and for each 2 MiB of memory. */
struct cost {
	size_t block, page;
};

static const struct cost small_cost = {64, 1024}, large_cost = {66, 1040};

static void host_cost(size_t bytes, size_t count, const struct cost *cost)
{
	gpumem_pool *pool = new_pool(0);
	void *first = new_block(pool, bytes, NULL);
	uint64_t base = stats_of(pool).host_bytes, more, most;
	struct gpumem_stats s;

	for (size_t i = 1; i < count; i++)
		(void)new_block(pool, bytes, NULL);
	s = stats_of(pool);
	is_uint(s.blocks.current, count, "%zu blocks of %zu bytes", count,
		bytes);
	more = s.host_bytes - base;
	most = cost->block * (count - 1) +
	       cost->page * (s.reserved.current / (2 * MIB));
	ok(more <= most, "at most %zu bytes for a block and %zu for 2 MiB",
	   cost->block, cost->page);
	diag("%.1f bytes of host memory for each, %" PRIu64 " segments; base "
	     "%" PRIu64 " KiB",
	     (double)more / (double)count, s.segments.current, base / KIB);
	ok(base <= 128 * KIB, "and not much to begin with");
	must(gpumem_free(first, NULL));
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

int main(void)
{
	open_device(120);
	vm = has_vm();
	visit_agrees();
	if (vm) {
		known_cases();
		all_holes();
	} else {
		skip("segments are as large as the pool likes", 23);
	}
	cached_small();
	cached_huge();
	if (vm)
		huge_fits();
	else
		skip("which segment a block comes from is the pool's choice",
		     2);
	host_cost(256, (size_t)scaled(100000, 10000), &small_cost);
	host_cost(3000, (size_t)scaled(100000, 10000), &small_cost);
	host_cost(100 * KIB, (size_t)scaled(10000, 1000), &large_cost);
	host_cost(2 * MIB, (size_t)scaled(10000, 1000), &large_cost);
	must(gpumem_device_close(device));
	return done_testing();
}
