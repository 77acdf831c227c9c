/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Random sizes among many live blocks. See bench.h and live.h.
 */
#include "live.h"

static void *begin(struct bench *bench, const struct bench_case *what,
		   const struct bench_target *target)
{
	struct live_spec spec = {
		.count = what->arg[0],
		.least = what->arg[1],
		.most = what->arg[2],
		.uniform = bench->config->uniform,
		.warm = bench->config->warm,
	};

	return live_new(target, &spec);
}

bool bench_random(struct bench *bench)
{
	static const struct {
		const char *name;
		uint64_t arg[4];
	} cases[] = {
		{"512 B to 64 MiB, 1000 live", {1000, 512, 64 << 20}},
		{"512 B to 4 MiB, 10000 live", {10000, 512, 4 << 20}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bench_case what = {
			.bench = "random",
			.name = cases[i].name,
			.axis = "live",
			.at = cases[i].arg[0],
			.unit = "pair",
			.arg = {cases[i].arg[0], cases[i].arg[1],
				cases[i].arg[2]},
			.begin = begin,
			.run = live_run,
			.end = live_free,
			.extras = live_extras,
		};

		if (!bench_measure(bench, &what))
			return false;
	}
	return true;
}
