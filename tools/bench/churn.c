/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Many small blocks that come and go: 4000 live ones of 256 B to 64 KiB. An
 * operation is one allocation or one free. See bench.h and live.h.
 */
#include "live.h"

static void *begin(struct bench *bench, const struct bench_case *what,
		   const struct bench_target *target)
{
	struct live_spec spec = {
		.count = 4000,
		.least = 256,
		.most = 65536,
		.uniform = bench->config->uniform,
		.warm = bench->config->warm,
	};

	(void)what;
	return live_new(target, &spec);
}

/* A replacement is two operations. */
static double run(void *state, uint64_t iterations)
{
	uint64_t pairs = (iterations + 1) / 2;
	double ns = live_run(state, pairs);

	return ns < 0.0 ? ns : ns * (double)pairs / (double)iterations;
}

bool bench_churn(struct bench *bench)
{
	struct bench_case what = {
		.bench = "churn",
		.name = "256 B to 64 KiB, 4000 live",
		.unit = "op",
		.begin = begin,
		.run = run,
		.end = live_free,
		.extras = live_extras,
	};

	return bench_measure(bench, &what);
}
