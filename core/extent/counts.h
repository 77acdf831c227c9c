/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What one thread did in its caches of one heap, of all streams, since it was
 * last folded into the heap's counters (counters.h). One of these for all
 * streams: so the highest points of a thread that uses several are not added up
 * as if they had come at one time. Changed by the thread that has locked a
 * cache of the thread and heap, or claims them (local.h).
 *
 *     now <= high <= published, 0 <= high
 *     now  the difference of current; high: the highest that it was
 *     above == sum of published over all threads of the heap
 *
 * A thread publishes in steps, so that one that goes up writes to what all
 * share once in a while, and one that goes up and down does not.
 */
#ifndef GM_EXTENT_COUNTS_H
#define GM_EXTENT_COUNTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { GM_STEP_BYTES = 32 * 1024, GM_STEP_BLOCKS = 128 };

struct gm_delta {
	int64_t now, high;
	uint64_t total;
	int64_t published;
};

struct gm_above {
	_Atomic int64_t requested, allocated, blocks;
};

struct gm_counts {
	struct gm_delta requested, allocated, blocks;
};

static inline void gm_delta_add(struct gm_delta *delta, uint64_t n,
				_Atomic int64_t *above, int64_t step)
{
	int64_t now = delta->now + (int64_t)n;

	delta->now = now;
	delta->total += n;
	if (__builtin_expect(now > delta->high, false)) {
		delta->high = now;
		if (now > delta->published) {
			step += now - delta->published;
			delta->published += step;
			atomic_fetch_add(above, step);
		}
	}
}

static inline void gm_delta_sub(struct gm_delta *delta, uint64_t n)
{
	delta->now -= (int64_t)n;
}

/* `sum` gets what `delta` has, as if both had been highest at one time. */
static inline void gm_delta_take(struct gm_delta *sum, struct gm_delta *delta,
				 _Atomic int64_t *above)
{
	sum->now += delta->now;
	sum->high += delta->high;
	sum->total += delta->total;
	if (delta->published)
		atomic_fetch_sub(above, delta->published);
	*delta = (struct gm_delta){0};
}

static inline void gm_counts_take(struct gm_counts *sum,
				  struct gm_counts *counts,
				  struct gm_above *above)
{
	gm_delta_take(&sum->requested, &counts->requested, &above->requested);
	gm_delta_take(&sum->allocated, &counts->allocated, &above->allocated);
	gm_delta_take(&sum->blocks, &counts->blocks, &above->blocks);
}

/* Has anything been done? There is nothing that leaves `requested` alone. */
static inline bool gm_counts_any(const struct gm_counts *counts)
{
	return counts->requested.total || counts->requested.now;
}

#endif
