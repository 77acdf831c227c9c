/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What one thread did in its caches of one heap, of all streams, since it was
 * last folded into the heap's counters (counters.h). One of these for all
 * streams: so the highest points of a thread that uses several are not added up
 * as if they had come at one time. Changed by the thread that has locked a
 * cache of the thread and heap, or claims them (local.h).
 *
 *     now == high - left  the difference of current
 *     high  the highest that it was: 0 <= high <= published, 0 <= left
 *     above == sum of published over all threads of the heap
 *
 * It is counted down how much is left until it is higher than ever, since that
 * is one number to change and to look at.
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
	int64_t left, high;
	uint64_t total;
	int64_t published;
};

struct gm_above {
	_Atomic int64_t requested, allocated, blocks;
};

struct gm_counts {
	struct gm_delta requested, allocated, blocks;
};

static inline int64_t gm_delta_now(const struct gm_delta *delta)
{
	return delta->high - delta->left;
}

/* What is left is below 0. */
static inline void gm_delta_rise(struct gm_delta *delta, _Atomic int64_t *above,
				 int64_t step)
{
	/* Read anew: so the hot path need not have what is left at hand. */
	atomic_signal_fence(memory_order_seq_cst);
	delta->high -= delta->left;
	delta->left = 0;
	if (delta->high > delta->published) {
		step += delta->high - delta->published;
		delta->published += step;
		atomic_fetch_add(above, step);
	}
}

/* True: gm_delta_rise() is due. */
static inline bool gm_delta_up(struct gm_delta *delta, uint64_t n)
{
	delta->total += n;
	delta->left -= (int64_t)n;
	return __builtin_expect(delta->left < 0, false);
}

static inline void gm_delta_add(struct gm_delta *delta, uint64_t n,
				_Atomic int64_t *above, int64_t step)
{
	if (gm_delta_up(delta, n))
		gm_delta_rise(delta, above, step);
}

static inline void gm_delta_sub(struct gm_delta *delta, uint64_t n)
{
	delta->left += (int64_t)n;
}

/* `sum` gets what `delta` has, as if both had been highest at one time. */
static inline void gm_delta_take(struct gm_delta *sum, struct gm_delta *delta,
				 _Atomic int64_t *above)
{
	sum->left += delta->left;
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
	return counts->requested.total || gm_delta_now(&counts->requested);
}

#endif
