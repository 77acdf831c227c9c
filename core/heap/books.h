/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A heap's counters, and the only functions that change them. Guarded by the
 * heap's mutex.
 *
 *     requested <= allocated <= active <= reserved
 *     active == allocated + pending
 *     every gauge: current <= peak
 *
 * What the caches of threads did since they were last folded in (local.h) is
 * not in here yet: a thread's frees may be in before another's allocations, and
 * then `current` is below 0. So levels are compared as signed numbers.
 */
#ifndef GM_HEAP_BOOKS_H
#define GM_HEAP_BOOKS_H

#include <gpumem/gpumem.h>

struct gm_books {
	struct gpumem_gauge requested, allocated, active, reserved;
	struct gpumem_gauge blocks, segments;
	uint64_t allocs; /* successful allocations, for hits */
	uint64_t misses, retries, ooms, trims, moved_bytes;
	uint64_t highest_active; /* of all time: what waste is measured by */
};

/* The peak is at least `more` above the current level. */
static inline void gm_gauge_raise(struct gpumem_gauge *gauge, int64_t more)
{
	int64_t level = (int64_t)gauge->current + more;

	if (level > (int64_t)gauge->peak)
		gauge->peak = (uint64_t)level;
}

static inline void gm_gauge_add(struct gpumem_gauge *gauge, uint64_t n)
{
	gauge->current += n;
	gauge->total += n;
	gm_gauge_raise(gauge, 0);
}

static inline void gm_gauge_sub(struct gpumem_gauge *gauge, uint64_t n)
{
	gauge->current -= n;
}

/* What one cache of a thread did to one gauge since it was folded in: `now` is
 * the difference of current, `high` the highest that `now` was. */
struct gm_delta {
	int64_t now, high;
	uint64_t total;
};

static inline void gm_delta_add(struct gm_delta *delta, uint64_t n)
{
	delta->now += (int64_t)n;
	delta->total += n;
	if (delta->now > delta->high)
		delta->high = delta->now;
}

static inline void gm_delta_sub(struct gm_delta *delta, uint64_t n)
{
	delta->now -= (int64_t)n;
}

/* Adds delta and empties it. */
static inline void gm_gauge_fold(struct gpumem_gauge *gauge,
				 struct gm_delta *delta)
{
	gm_gauge_raise(gauge, delta->high);
	gauge->current += (uint64_t)delta->now;
	gauge->total += delta->total;
	*delta = (struct gm_delta){0};
}

/* A block of `bytes` becomes live. */
static inline void gm_books_alloc(struct gm_books *books, uint64_t requested,
				  uint64_t bytes)
{
	books->allocs++;
	gm_gauge_add(&books->requested, requested);
	gm_gauge_add(&books->allocated, bytes);
	gm_gauge_add(&books->active, bytes);
	gm_gauge_add(&books->blocks, 1);
	if (books->active.peak > books->highest_active)
		books->highest_active = books->active.peak;
}

/* A live block is freed; `active` follows unless it is pending. */
static inline void gm_books_free(struct gm_books *books, uint64_t requested,
				 uint64_t bytes, bool pending)
{
	gm_gauge_sub(&books->requested, requested);
	gm_gauge_sub(&books->allocated, bytes);
	gm_gauge_sub(&books->blocks, 1);
	if (!pending)
		gm_gauge_sub(&books->active, bytes);
}

static inline void gm_gauge_reset(struct gpumem_gauge *gauge, bool total)
{
	gauge->peak = gauge->current;
	if (total)
		gauge->total = 0;
}

#endif
