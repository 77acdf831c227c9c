/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The hot pair: the same block allocated and freed again and again by one
 * thread on one stream. See bench.h.
 */
#include "bench.h"

#include "common/human.h"

#include <stdlib.h>

struct pair {
	struct bench_target target;
	size_t bytes;
};

static void *begin(struct bench *bench, const struct bench_case *what,
		   const struct bench_target *target)
{
	struct pair *pair = malloc(sizeof(*pair));

	(void)bench;
	if (pair)
		*pair = (struct pair){*target, (size_t)what->arg[0]};
	return pair;
}

static double run(void *state, uint64_t iterations)
{
	const struct pair *pair = state;
	uint64_t start = clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		void *ptr = bench_get(&pair->target, pair->bytes, NULL);

		if (!ptr || !bench_put(&pair->target, ptr, NULL))
			return -1.0;
	}
	return (double)(clock_ns() - start) / (double)iterations;
}

bool bench_pair(struct bench *bench)
{
	static const uint64_t sizes[] = {
		256,	 1024,	  4096,		 16384,		 65536,
		1 << 18, 1 << 20, 4 * (1 << 20), 20 * (1 << 20), 1 << 26,
		1 << 28,
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		char name[HUMAN_BYTES];
		struct bench_case what = {
			.bench = "pair",
			.name = human_bytes(name, sizes[i]),
			.series = "hot pair",
			.axis = "bytes",
			.at = sizes[i],
			.unit = "pair",
			.arg = {sizes[i]},
			.begin = begin,
			.run = run,
			.end = free,
		};

		if (!bench_measure(bench, &what))
			return false;
	}
	return true;
}
