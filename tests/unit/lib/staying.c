/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Small blocks that stay between large ones that do not: how much the pool
 * takes, what a trim leaves, and that a limit of 1.3 times what is live is
 * enough. Without virtual memory a small block in what a large one leaves of
 * its segment would keep all of it. Where single blocks go is
 * heap/decide_segments.c's.
 */
#include "fixture.h"

/* Turn t allocates so many large blocks, the one of size t % sizes, then so
 * many small ones; frees the large ones; and of the small ones all but the
 * newest. */
static const struct program {
	const char *name;
	size_t large_bytes, step_bytes, small_bytes;
	unsigned sizes, larges, smalls, stay;
} programs[] = {
	{"results of batches", 130 * MIB, MIB, 2 * MIB, 7, 2, 1, 16},
	{"four large ones, of two sizes", 60 * MIB, 5 * MIB, MIB, 2, 4, 2, 40},
	{"sizes that differ much", 40 * MIB, 13 * MIB, 700 * KIB, 5, 1, 3, 30},
	{"small ones that share slabs", 64 * MIB, 3 * MIB, 6 * KIB, 9, 3, 50,
	 900},
	{"many large ones", 16 * MIB, MIB / 2, 300 * KIB, 12, 15, 4, 64},
};

enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]), LARGES = 15 };

static void *small[4096];
static unsigned oldest, newest;

/* False: there was no memory. */
static bool get(gpumem_pool *pool, size_t bytes, void **ptr)
{
	*ptr = NULL;
	return gpumem_alloc(pool, bytes, NULL, ptr) == GPUMEM_OK;
}

static bool turn(gpumem_pool *pool, const struct program *program, unsigned t)
{
	size_t bytes =
		program->large_bytes + t % program->sizes * program->step_bytes;
	void *large[LARGES];
	bool had = true;

	for (unsigned i = 0; i < program->larges; i++)
		had &= get(pool, bytes, &large[i]);
	for (unsigned i = 0; i < program->smalls; i++)
		had &= get(pool, program->small_bytes, &small[newest++]);
	for (unsigned i = 0; i < program->larges; i++)
		must(gpumem_free(large[i], NULL));
	while (newest - oldest > program->stay)
		must(gpumem_free(small[oldest++], NULL));
	return had;
}

/* How many turns there were memory for. */
static unsigned run(gpumem_pool *pool, const struct program *program)
{
	unsigned turns = 0;

	oldest = newest = 0;
	for (unsigned t = 0; t < 60; t++)
		turns += turn(pool, program, t);
	return turns;
}

static void end(gpumem_pool *pool)
{
	while (oldest < newest)
		must(gpumem_free(small[oldest++], NULL));
	must(gpumem_pool_destroy(pool, 0));
}

static void takes_little(const struct program *program)
{
	gpumem_pool *pool = new_pool(0);
	struct gpumem_stats stats;
	uint64_t peak;

	is_uint(run(pool, program), 60, "%s: there is memory", program->name);
	stats = stats_of(pool);
	peak = stats.requested.peak;
	ok((double)stats.reserved.peak <= 1.25 * (double)peak,
	   "%s: at most 1.25 of %llu bytes: %llu", program->name, (ull)peak,
	   (ull)stats.reserved.peak);
	must(gpumem_stream_sync(device, NULL));
	must(gpumem_pool_trim(pool, 0, NULL));
	stats = stats_of(pool);
	ok((double)stats.reserved.current <=
		   (double)stats.requested.current + 0.1 * (double)peak,
	   "%s: of %llu bytes that stay a trim leaves %llu", program->name,
	   (ull)stats.requested.current, (ull)stats.reserved.current);
	end(pool);
	pool = new_pool(peak + peak * 3 / 10);
	is_uint(run(pool, program), 60, "%s: also in 1.3 of it", program->name);
	end(pool);
}

int main(void)
{
	must(gpumem_option_set("host.capacity", "4GiB"));
	open_device(120);
	for (unsigned i = 0; i < PROGRAMS; i++)
		takes_little(&programs[i]);
	must(gpumem_device_close(device));
	return done_testing();
}
