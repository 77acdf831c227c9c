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

/* Fills the set and replaces every block some times, so that the peer has
 * settled. NULL: out of memory. */
struct live *live_new(const struct bench_target *target,
		      const struct live_spec *spec);
/* As bench_case.run and end. */
double live_run(void *live, uint64_t iterations);
void live_free(void *live);

#endif
