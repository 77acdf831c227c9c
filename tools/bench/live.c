/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See live.h.
 */
#include "live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STEPS ((uint64_t)1 << 18)

enum { AHEAD = 4, HUGE_BYTES = 2 << 20 };

/* xorshift64*, in [0, 1) */
static double next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (double)((*state * 0x2545f4914f6cdd1du) >> 11) * 0x1p-53;
}

static uint64_t random_bytes(const struct live_spec *spec, uint64_t *state)
{
	double least = (double)spec->least, most = (double)spec->most;
	double x = next_random(state);

	if (spec->uniform)
		return (uint64_t)(least + x * (most - least + 1.0));
	return (uint64_t)(least * exp(x * log((most + 1.0) / least)));
}

static bool fill(struct live *live)
{
	uint64_t state = 0x9e3779b97f4a7c15u;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t slot = (uint64_t)(next_random(&state) *
					   (double)live->spec.count);

		live->steps[i].slot = (uint32_t)slot;
		live->steps[i].bytes =
			(uint32_t)random_bytes(&live->spec, &state);
	}
	for (uint64_t i = 0; i < live->spec.count; i++) {
		uint64_t bytes = random_bytes(&live->spec, &state);

		live->blocks[i] = bench_get(&live->target, (size_t)bytes, NULL);
		if (!live->blocks[i])
			return false;
	}
	return live_run(live, live->spec.warm * live->spec.count) >= 0.0;
}

/* That the processor looks for our arrays is nothing of an allocator's: they
 * lie in huge pages, and are fetched ahead. */
static void *new_array(size_t bytes)
{
	void *array;

	bytes = (bytes + HUGE_BYTES - 1) & ~(size_t)(HUGE_BYTES - 1);
	array = aligned_alloc(HUGE_BYTES, bytes);
	if (!array)
		return NULL;
	(void)madvise(array, bytes, MADV_HUGEPAGE);
	return memset(array, 0, bytes);
}

struct live *live_new(const struct bench_target *target,
		      const struct live_spec *spec)
{
	struct live *live = malloc(sizeof(*live));

	if (!live)
		return NULL;
	*live = (struct live){.target = *target, .spec = *spec};
	live->blocks = new_array(spec->count * sizeof(*live->blocks));
	live->steps = new_array(STEPS * sizeof(*live->steps));
	if (live->blocks && live->steps && fill(live))
		return live;
	live_free(live);
	return NULL;
}

double live_run(void *state, uint64_t iterations)
{
	struct live *live = state;
	const struct live_step *steps = live->steps;
	void **blocks = live->blocks;
	uint64_t at = live->at, end = at + iterations;
	uint64_t start = clock_ns();

	for (; at < end; at++) {
		const struct live_step *step = &steps[at % STEPS];
		void **block = &blocks[step->slot];

		__builtin_prefetch(&blocks[steps[(at + AHEAD) % STEPS].slot],
				   1);
		if (!bench_put(&live->target, *block, NULL))
			return -1.0;
		*block = bench_get(&live->target, step->bytes, NULL);
		if (!*block)
			return -1.0;
	}
	live->at = end;
	return (double)(clock_ns() - start) / (double)iterations;
}

void live_free(void *state)
{
	struct live *live = state;

	for (uint64_t i = 0; live->blocks && i < live->spec.count; i++)
		if (live->blocks[i])
			(void)bench_put(&live->target, live->blocks[i], NULL);
	free(live->blocks);
	free(live->steps);
	free(live);
}

void live_extras(void *state, const struct gpumem_stats *stats,
		 struct bench_row *row)
{
	(void)state;
	bench_add_extra(row, "memory ratio",
			(double)stats->reserved.peak /
				(double)stats->requested.peak);
	bench_add_extra(row, "memory calls first", row->first_calls);
	bench_add_extra(row, "memory calls last", row->last_calls);
}
