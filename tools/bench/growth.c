/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The cost of a pair against the number of live blocks: that of replacing a
 * random one, and that of a hot pair beside them. See bench.h and live.h.
 */
#include "live.h"

#include <stdio.h>

enum { REPLACE, HOT };

static void *begin(struct bench *bench, const struct bench_case *what,
		   const struct bench_target *target)
{
	struct live_spec spec = {
		.count = what->arg[0],
		.least = 256,
		.most = 1024,
		.uniform = bench->config->uniform,
		.warm = 4, /* more takes minutes with a million blocks */
	};

	return live_new(target, &spec);
}

static double run_hot(void *state, uint64_t iterations)
{
	const struct live *live = state;
	uint64_t start = clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		void *ptr = bench_get(&live->target, 4096, NULL);

		if (!ptr || !bench_put(&live->target, ptr, NULL))
			return -1.0;
	}
	return (double)(clock_ns() - start) / (double)iterations;
}

static void extras(void *state, const struct gpumem_stats *stats,
		   struct bench_row *row)
{
	(void)state;
	bench_add_extra(row, "host bytes a block",
			(double)stats->host_bytes /
				(double)stats->blocks.current);
}

static bool measure(struct bench *bench, int kind, const char *what_pair)
{
	int base = bench->row_count;

	for (uint64_t count = 100; count <= 1000000; count *= 10) {
		char name[48];
		struct bench_case what = {
			.bench = "growth",
			.name = name,
			.series = what_pair,
			.axis = "live",
			.at = count,
			.unit = "pair",
			.ratio = "vs 100 live",
			.base = base,
			.arg = {count},
			.begin = begin,
			.run = kind == HOT ? run_hot : live_run,
			.end = live_free,
			.extras = extras,
		};

		snprintf(name, sizeof(name), "%s, %llu live", what_pair,
			 (unsigned long long)count);
		if (!bench_measure(bench, &what))
			return false;
	}
	return true;
}

bool bench_growth(struct bench *bench)
{
	return measure(bench, REPLACE, "random of 256 B to 1 KiB") &&
	       measure(bench, HOT, "hot 4 KiB");
}
