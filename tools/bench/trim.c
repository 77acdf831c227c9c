/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Giving unused memory back: what one call costs, how well the cache works
 * afterwards, and how long others are held up by it. See bench.h.
 */
#include "bench.h"

#include "common/human.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct trim {
	struct bench_target target;
	uint64_t block_bytes, count;
	void **blocks;
	uint64_t ns, own_ns; /* of all trims, and without the driver's calls */
	uint64_t trims, bytes; /* and what they gave back */
	_Atomic bool stop;
};

static void end(void *state)
{
	struct trim *trim = state;

	free(trim->blocks);
	free(trim);
}

static void *begin(struct bench *bench, const struct bench_case *what,
		   const struct bench_target *target)
{
	struct trim *trim = calloc(1, sizeof(*trim));

	(void)bench;
	if (!trim)
		return NULL;
	trim->target = *target;
	trim->block_bytes = what->arg[0];
	trim->count = what->arg[1] / what->arg[0];
	trim->blocks = calloc(trim->count, sizeof(*trim->blocks));
	if (trim->blocks)
		return trim;
	end(trim);
	return NULL;
}

/* Everything becomes cached. */
static bool fill_cache(struct trim *trim)
{
	bool ok = true;

	for (uint64_t i = 0; i < trim->count; i++) {
		trim->blocks[i] =
			bench_get(&trim->target, trim->block_bytes, NULL);
		ok = ok && trim->blocks[i];
	}
	for (uint64_t i = 0; i < trim->count; i++)
		ok = (!trim->blocks[i] ||
		      bench_put(&trim->target, trim->blocks[i], NULL)) &&
		     ok;
	return ok;
}

static uint64_t driver_ns(const struct trim *trim)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);

	if (!trim->target.pool ||
	    gpumem_pool_stats(trim->target.pool, &stats) != GPUMEM_OK)
		return 0;
	return stats.driver_ns;
}

/* One trim, timed. */
static bool give_back(struct trim *trim)
{
	uint64_t released = 0, driver = driver_ns(trim), start = clock_ns(), ns;

	if (!trim->target.pool)
		trim->target.peer->trim();
	else if (gpumem_pool_trim(trim->target.pool, 0, &released) != GPUMEM_OK)
		return false;
	ns = clock_ns() - start;
	driver = driver_ns(trim) - driver;
	trim->ns += ns;
	trim->own_ns += ns > driver ? ns - driver : 0;
	trim->bytes += released;
	trim->trims++;
	return true;
}

static double run_call(void *state, uint64_t iterations)
{
	struct trim *trim = state;
	uint64_t before = trim->ns;

	for (uint64_t i = 0; i < iterations; i++)
		if (!fill_cache(trim) || !give_back(trim))
			return -1.0;
	return (double)(trim->ns - before) / (double)iterations;
}

static void call_extras(void *state, const struct gpumem_stats *stats,
			struct bench_row *row)
{
	const struct trim *trim = state;

	(void)stats;
	bench_add_extra(row, "MiB a call",
			(double)trim->bytes / (double)trim->trims / 0x1p20);
	bench_add_extra(row, "own work %",
			(double)trim->own_ns * 100.0 /
				(double)(trim->ns - trim->own_ns));
}

/* The pair after a trim, when all has been got once again. */
static double run_after(void *state, uint64_t iterations)
{
	struct trim *trim = state;
	uint64_t start;

	if (!fill_cache(trim) || !give_back(trim) || !fill_cache(trim))
		return -1.0;
	start = clock_ns();
	for (uint64_t i = 0; i < iterations; i++) {
		void *ptr = bench_get(&trim->target, trim->block_bytes, NULL);

		if (!ptr || !bench_put(&trim->target, ptr, NULL))
			return -1.0;
	}
	return (double)(clock_ns() - start) / (double)iterations;
}

/* Fills and trims until it is told to stop. */
static void *keep_trimming(void *arg)
{
	struct trim *trim = arg;
	bool ok = true;

	while (ok && !atomic_load(&trim->stop))
		ok = fill_cache(trim) && give_back(trim);
	return ok ? trim : NULL;
}

/* The longest pair among all iterations while another thread trims. */
static double run_stall(void *state, uint64_t iterations)
{
	struct trim *trim = state;
	uint64_t longest = 0, before = clock_ns();
	pthread_t thread;
	void *result;
	bool ok = true;

	atomic_store(&trim->stop, false);
	if (pthread_create(&thread, NULL, keep_trimming, trim))
		return -1.0;
	for (uint64_t i = 0; i < iterations && ok; i++) {
		void *ptr = bench_get(&trim->target, 4096, NULL);
		uint64_t now;

		ok = ptr && bench_put(&trim->target, ptr, NULL);
		now = clock_ns();
		if (now - before > longest)
			longest = now - before;
		before = now;
	}
	atomic_store(&trim->stop, true);
	pthread_join(thread, &result);
	return ok && result ? (double)longest : -1.0;
}

/* How much this device can be asked for: not more than half of what is free. */
static uint64_t bounded(struct bench *bench, uint64_t bytes)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);

	if (gpumem_device_memory(bench->device, &memory) == GPUMEM_OK &&
	    memory.free_bytes / 2 < bytes)
		return memory.free_bytes / 2;
	return bytes;
}

static bool measure_calls(struct bench *bench, uint64_t block_bytes)
{
	uint64_t bytes = bounded(bench, (uint64_t)10 << 30);
	char name[80], size[HUMAN_BYTES], block[HUMAN_BYTES];
	struct bench_case what = {
		.bench = "trim",
		.name = name,
		.unit = "call",
		.fixed = 1,
		.arg = {block_bytes, bytes},
		.begin = begin,
		.run = run_call,
		.end = end,
		.extras = call_extras,
	};

	snprintf(name, sizeof(name), "%s in blocks of %s",
		 human_bytes(size, bytes), human_bytes(block, block_bytes));
	return bench_measure(bench, &what);
}

bool bench_trim(struct bench *bench)
{
	uint64_t bytes = bounded(bench, (uint64_t)64 << 20);
	struct bench_case after = {
		.bench = "trim",
		.name = "pair of 64 KiB afterwards",
		.unit = "pair",
		.arg = {65536, bytes},
		.begin = begin,
		.run = run_after,
		.end = end,
	};
	struct bench_case stall = {
		.bench = "trim",
		.name = "longest pair during trims",
		.unit = "longest pair",
		.fixed = bench->config->iterations ? bench->config->iterations
						   : 1000000,
		.arg = {65536, bytes},
		.begin = begin,
		.run = run_stall,
		.end = end,
	};

	return measure_calls(bench, 4 << 20) && measure_calls(bench, 65536) &&
	       bench_measure(bench, &after) && bench_measure(bench, &stall);
}
