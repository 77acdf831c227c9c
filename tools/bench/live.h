/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A set of live blocks of random sizes: an iteration frees one of them, chosen
 * at random, and puts a new one in its place. The random numbers are the same
 * for every peer and every run.
 */
#ifndef GPUMEM_TOOLS_BENCH_LIVE_H
#define GPUMEM_TOOLS_BENCH_LIVE_H

#include "bench.h"

struct live_spec {
	uint64_t count;	      /* of blocks */
	uint64_t least, most; /* bytes, both included */
	uint64_t warm;	      /* times that each is replaced first */
	bool uniform;	      /* else uniform in the logarithm */
};

/* A prepared stretch of random numbers; reading it costs next to nothing. */
struct live_step {
	uint32_t slot, bytes;
};

struct live {
	struct bench_target target;
	struct live_spec spec;
	void **blocks;
	struct live_step *steps;
	uint64_t at; /* the next step; it wraps */
};

/* Fills the set and replaces every block spec->warm times on average. NULL: out
 * of memory. */
struct live *live_new(const struct bench_target *target,
		      const struct live_spec *spec);
/* As bench_case.run and end. */
double live_run(void *live, uint64_t iterations);
void live_free(void *live);
/* As bench_case.extras: what the memory came to, and, so that one sees whether
 * the pool had settled, how often it took, gave back or moved memory in the
 * first and in the last round. */
void live_extras(void *live, const struct gpumem_stats *stats,
		 struct bench_row *row);

#endif
