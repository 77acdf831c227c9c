/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Peaks where they may be inexact: several threads, or one on several streams,
 * whose caches had their highest points at different times, or at one time
 * that nobody looked at. Off by cache_bound_bytes at most, which counts all the
 * caches that there were since the last reset. Barriers, not time, say who does
 * what when. That a lone thread's are exact is in lib_stats.c.
 */
#include "lib_system.h"
#include <pthread.h>

enum { THREADS = 3, SMALL = 24, LARGE = 4 };

static gpumem_pool *pool;
static pthread_barrier_t barrier; /* with main */
static pthread_barrier_t among;	  /* without */

/* What a thread lets in and out of its cache: of a class of 4 KiB, and large
 * blocks of 7 MiB. */
struct load {
	void *small[SMALL], *large[LARGE];
};

static const uint64_t load_bytes =
	SMALL * (uint64_t)(4 * KIB) + LARGE * (uint64_t)(7 * MIB);

static void load(struct load *load, gpumem_stream stream)
{
	for (int i = 0; i < SMALL; i++)
		load->small[i] = block(pool, 4 * KIB, stream);
	for (int i = 0; i < LARGE; i++)
		load->large[i] = block(pool, 7 * MIB, stream);
}

static void unload(struct load *load, gpumem_stream stream)
{
	for (int i = 0; i < SMALL; i++)
		must(gpumem_free(load->small[i], stream));
	for (int i = 0; i < LARGE; i++)
		must(gpumem_free(load->large[i], stream));
}

/* The peaks may be off by the bound, whichever way. */
static void close_to(uint64_t truth, const char *what)
{
	struct gpumem_stats s = stats_of(pool);
	const struct {
		const char *name;
		uint64_t peak;
	} of[] = {{"requested", s.requested.peak},
		  {"allocated", s.allocated.peak},
		  {"active", s.active.peak}};

	for (size_t i = 0; i < 3; i++) {
		uint64_t off = of[i].peak > truth ? of[i].peak - truth
						  : truth - of[i].peak;

		ok(off <= s.cache_bound_bytes,
		   "%s: the peak of %s is off by no more than the bound", what,
		   of[i].name);
		diag("off by %s%" PRIu64 " KiB of %" PRIu64,
		     of[i].peak < truth ? "-" : "", off / KIB,
		     s.cache_bound_bytes / KIB);
	}
}

/* ---- two threads that peak one after the other ---- */

static void turn(int mine, void (*fn)(struct load *, gpumem_stream),
		 struct load *load)
{
	for (int i = 0; i < THREADS; i++) {
		if (i == mine)
			fn(load, NULL);
		pthread_barrier_wait(&barrier);
	}
}

static void up_and_down(struct load *at, gpumem_stream stream)
{
	load(at, stream);
	unload(at, stream);
}

/* Who needs more empties the others' caches: so first all have what they need,
 * then all let it go. */
static void fill_caches(struct load *mine)
{
	load(mine, NULL);
	pthread_barrier_wait(&among);
	unload(mine, NULL);
}

static void *one_by_one(void *number)
{
	struct load mine;

	fill_caches(&mine);
	pthread_barrier_wait(&barrier); /* main resets */
	pthread_barrier_wait(&barrier);
	turn((int)(intptr_t)number, up_and_down, &mine);
	pthread_barrier_wait(&barrier); /* main looks */
	return NULL;
}

static void start(pthread_t *thread, void *(*fn)(void *))
{
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	pthread_barrier_init(&among, NULL, THREADS);
	for (intptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, fn, (void *)i))
			bail("no thread");
}

static void join(const pthread_t *thread)
{
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&barrier);
	pthread_barrier_destroy(&among);
}

static void never_together(void)
{
	pthread_t thread[THREADS];
	uint64_t bound;

	pool = new_pool("one by one", 0);
	start(thread, one_by_one);
	pthread_barrier_wait(&barrier);
	must(gpumem_pool_reset_stats(pool, false));
	is_uint(stats_of(pool).active.peak, 0, "all is freed");
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_barrier_wait(&barrier);
	bound = stats_of(pool).cache_bound_bytes;
	ok(stats_of(pool).active.peak >= load_bytes,
	   "the highest point is not lost");
	close_to(load_bytes, "one by one");
	pthread_barrier_wait(&barrier);
	join(thread);
	is_uint(stats_of(pool).cache_bound_bytes, bound,
		"threads that ended count for the bound");
	close_to(load_bytes, "ended");
	must(gpumem_pool_reset_stats(pool, false));
	is_uint(stats_of(pool).cache_bound_bytes, 0,
		"until a reset: there is no cache now");
	is_uint(stats_of(pool).active.peak, 0, "and no peak");
	must(gpumem_pool_destroy(pool, false));
}

/* ---- all at once, and more on top, seen by nobody ---- */

static void *together(void *unused)
{
	struct load mine;

	(void)unused;
	fill_caches(&mine);
	pthread_barrier_wait(&barrier); /* main resets */
	pthread_barrier_wait(&barrier);
	load(&mine, NULL);
	pthread_barrier_wait(&barrier); /* main peaks */
	pthread_barrier_wait(&barrier);
	unload(&mine, NULL);
	pthread_barrier_wait(&barrier); /* main looks */
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void all_together(void)
{
	const uint64_t more = 500 * (uint64_t)MIB;
	pthread_t thread[THREADS];

	pool = new_pool("together", 0);
	start(thread, together);
	pthread_barrier_wait(&barrier);
	must(gpumem_pool_reset_stats(pool, false));
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	must(gpumem_free(block(pool, more, NULL), NULL));
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	ok(stats_of(pool).active.peak >= more, "what main did is not lost");
	close_to(more + THREADS * load_bytes, "together");
	pthread_barrier_wait(&barrier);
	join(thread);
	must(gpumem_pool_destroy(pool, false));
}

/* ---- one thread, two streams ---- */

static void two_streams(void)
{
	gpumem_stream stream[2];
	struct load mine, other;

	pool = new_pool("two streams", 0);
	for (int i = 0; i < 2; i++) {
		stream[i] = new_stream();
		load(i ? &other : &mine, stream[i]);
	}
	unload(&mine, stream[0]);
	unload(&other, stream[1]);
	must(gpumem_pool_reset_stats(pool, false));
	for (int i = 0; i < 2; i++)
		up_and_down(&mine, stream[i]);
	close_to(load_bytes, "two streams");
	for (int i = 0; i < 2; i++)
		must(gpumem_stream_destroy(device, stream[i]));
	must(gpumem_pool_destroy(pool, false));
}

/* ---- the bound itself ---- */

static void *one_cache(void *unused)
{
	(void)unused;
	must(gpumem_free(block(pool, 100, NULL), NULL));
	return NULL;
}

/* Each thread and stream adds the same. */
static void bound_grows(void)
{
	gpumem_stream stream = new_stream();
	uint64_t one;

	pool = new_pool("bound", 0);
	is_uint(stats_of(pool).cache_bound_bytes, 0, "no cache, no bound");
	(void)one_cache(NULL);
	one = stats_of(pool).cache_bound_bytes;
	ok(one > 32 * MIB, "a cache keeps up to 32 MiB of large blocks");
	must(gpumem_free(block(pool, 100, stream), stream));
	is_uint(stats_of(pool).cache_bound_bytes, 2 * one,
		"a second stream adds as much");
	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, one_cache, NULL))
			bail("no thread");
		pthread_join(thread, NULL);
	}
	is_uint(stats_of(pool).cache_bound_bytes, 3 * one,
		"of threads one after the other one counts");
	must(gpumem_pool_reset_stats(pool, false));
	is_uint(stats_of(pool).cache_bound_bytes, 2 * one, "two are left");
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_pool_reset_stats(pool, false));
	is_uint(stats_of(pool).cache_bound_bytes, one,
		"the stream's cache goes with it");
	must(gpumem_pool_destroy(pool, false));
}

int main(void)
{
	open_device(120);
	never_together();
	all_together();
	two_streams();
	bound_grows();
	must(gpumem_device_close(device));
	return done_testing();
}
