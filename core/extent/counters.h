/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The accounting of a heap: its counters, and the only functions that change
 * them. Guarded by the heap's mutex. What threads did in their caches since it
 * was last folded in (counts.h) is not in here yet: one thread's frees may be
 * in before another's allocations are, and then `current` is below 0. So levels
 * are compared as signed numbers. When all is folded in:
 *
 *     requested <= allocated <= active <= reserved
 *     active == allocated + pending
 *     the sum of all served_ == hits + misses
 *     every gauge: reached <= the true peak <= peak
 *
 * and at any time, with `above` for the sum over all threads of how high each
 * is at most above what it had folded in:
 *
 *     every level that there ever was <= max(peak, current + above)
 *
 * So `above` is added to each level that may become a peak, and before each
 * decrease. While one thread alone uses the heap nothing is hidden from it: its
 * own counts are folded in before it changes these, `above` is 0, and reached
 * == peak. Once it is `shared`, a level is known only when all are stopped, and
 * after that until something else is folded in: what threads do meanwhile in
 * their caches they do while the call that stopped them is under way, and so as
 * if it came later.
 */
#ifndef GM_EXTENT_COUNTERS_H
#define GM_EXTENT_COUNTERS_H

#include "counts.h"
#include <gpumem/gpumem.h>

struct gm_gauge {
	uint64_t current, peak, total;
	uint64_t reached; /* the highest that is known to have been */
};

/* What a pool counts, as GPUMEM_STATS_LIST names it. The rest of the list is
 * worked out from that. */
#define GM_COUNTERS_GAUGE(name) struct gm_gauge name;
#define GM_COUNTERS_COUNTER(name) uint64_t name;
#define GM_COUNTERS_VALUE(name)
#define GM_COUNTERS_RATIO(name)
#define GM_COUNTERS_FIELD(name, type, unit) GM_COUNTERS_##type(name)

struct gm_counters {
	GPUMEM_STATS_LIST(GM_COUNTERS_FIELD)
	uint64_t highest_allocated; /* of all time: what waste is measured by */
	/* allocated.total when it last rose, modulo 2^64: see
	 * gm_counters_since_highest() */
	uint64_t total_at_highest;
	/* What had been freed when the heap was trimmed last, modulo 2^64: see
	 * gm_counters_freed_since_trim() */
	uint64_t freed_at_trim;
	/* Has another thread than the one whose counts are not folded in used
	 * the heap meanwhile? */
	bool shared;
	bool known; /* all were stopped, and nothing has been folded in since */
	struct gm_above above;
};

static inline void gm_gauge_note(struct gm_gauge *gauge, int64_t level,
				 int64_t above, bool sure)
{
	if (level + above > (int64_t)gauge->peak)
		gauge->peak = (uint64_t)(level + above);
	if (sure && level > (int64_t)gauge->reached)
		gauge->reached = (uint64_t)level;
}

/* Of gauges that no cache changes. */
static inline void gm_gauge_add(struct gm_gauge *gauge, uint64_t n)
{
	gauge->current += n;
	gauge->total += n;
	gm_gauge_note(gauge, (int64_t)gauge->current, 0, true);
}

static inline void gm_gauge_sub(struct gm_gauge *gauge, uint64_t n)
{
	gauge->current -= n;
}

/* Of the others. */
static inline void gm_counters_raise(const struct gm_counters *counters,
				     struct gm_gauge *gauge, uint64_t n,
				     const _Atomic int64_t *above)
{
	gauge->current += n;
	gauge->total += n;
	gm_gauge_note(gauge, (int64_t)gauge->current, atomic_load(above),
		      !counters->shared || counters->known);
}

static inline void gm_counters_lower(struct gm_gauge *gauge, uint64_t n,
				     const _Atomic int64_t *above)
{
	gm_gauge_note(gauge, (int64_t)gauge->current, atomic_load(above),
		      false);
	gauge->current -= n;
}

static inline void gm_counters_note_highest(struct gm_counters *counters)
{
	if (counters->allocated.peak <= counters->highest_allocated)
		return;
	counters->highest_allocated = counters->allocated.peak;
	counters->total_at_highest = counters->allocated.total;
}

/* How much has been allocated since the highest rose; no reset changes that. */
static inline uint64_t
gm_counters_since_highest(const struct gm_counters *counters)
{
	return counters->allocated.total - counters->total_at_highest;
}

static inline uint64_t gm_counters_freed(const struct gm_counters *counters)
{
	return counters->allocated.total - counters->allocated.current;
}

static inline void gm_counters_note_trim(struct gm_counters *counters)
{
	counters->freed_at_trim = gm_counters_freed(counters);
}

/* How much has been freed since then; no reset changes that. It may be below 0,
 * see above. */
static inline int64_t
gm_counters_freed_since_trim(const struct gm_counters *counters)
{
	return (int64_t)(gm_counters_freed(counters) - counters->freed_at_trim);
}

static inline void gm_counters_fold_gauge(const struct gm_counters *counters,
					  struct gm_gauge *gauge,
					  const struct gm_delta *delta,
					  const _Atomic int64_t *above)
{
	gm_gauge_note(gauge, (int64_t)gauge->current + delta->high,
		      atomic_load(above), !counters->shared);
	gauge->current += (uint64_t)gm_delta_now(delta);
	gauge->total += delta->total;
}

/* Adds what a thread did, or several together, and their part of `above` is in
 * it no more. */
static inline void gm_counters_fold(struct gm_counters *counters,
				    const struct gm_counts *counts)
{
	const struct gm_above *above = &counters->above;

	counters->known = false;
	counters->hits += counts->blocks.total;
	counters->served_cache += counts->blocks.total;
	gm_counters_fold_gauge(counters, &counters->requested,
			       &counts->requested, &above->requested);
	gm_counters_fold_gauge(counters, &counters->allocated,
			       &counts->allocated, &above->allocated);
	gm_counters_fold_gauge(counters, &counters->active, &counts->allocated,
			       &above->allocated);
	gm_counters_fold_gauge(counters, &counters->blocks, &counts->blocks,
			       &above->blocks);
	gm_counters_note_highest(counters);
}

/* A block of `bytes` becomes live: a hit of the thread's cache, until somebody
 * says that it was none. */
static inline void gm_counters_alloc(struct gm_counters *counters,
				     uint64_t requested, uint64_t bytes)
{
	const struct gm_above *above = &counters->above;

	counters->hits++;
	counters->served_cache++;
	gm_counters_raise(counters, &counters->requested, requested,
			  &above->requested);
	gm_counters_raise(counters, &counters->allocated, bytes,
			  &above->allocated);
	gm_counters_raise(counters, &counters->active, bytes,
			  &above->allocated);
	gm_counters_raise(counters, &counters->blocks, 1, &above->blocks);
	gm_counters_note_highest(counters);
}

/* The last block needed the driver. */
static inline void gm_counters_miss(struct gm_counters *counters)
{
	counters->hits--;
	counters->misses++;
}

/* What the last block came from. */
static inline void gm_counters_serve(struct gm_counters *counters,
				     enum gpumem_served served)
{
#define GM_COUNTERS_SERVE(name, number, statistic, text)                       \
	case GPUMEM_SERVED_##name:                                             \
		counters->served_##statistic++;                                \
		break;
	counters->served_cache--;
	switch ((unsigned)served) {
		GPUMEM_SERVED_LIST(GM_COUNTERS_SERVE)
	}
#undef GM_COUNTERS_SERVE
}

/* By whatever: of all that succeeded. */
static inline uint64_t gm_counters_served(const struct gm_counters *counters)
{
#define GM_COUNTERS_SERVED(name, number, statistic, text)                      \
	+counters->served_##statistic
	return GPUMEM_SERVED_LIST(GM_COUNTERS_SERVED);
#undef GM_COUNTERS_SERVED
}

/* A live block is freed; `active` follows unless it is pending. */
static inline void gm_counters_free(struct gm_counters *counters,
				    uint64_t requested, uint64_t bytes,
				    bool pending)
{
	const struct gm_above *above = &counters->above;

	gm_counters_lower(&counters->requested, requested, &above->requested);
	gm_counters_lower(&counters->allocated, bytes, &above->allocated);
	gm_counters_lower(&counters->blocks, 1, &above->blocks);
	if (!pending)
		gm_counters_lower(&counters->active, bytes, &above->allocated);
}

/* A live block that holds `before` bytes holds `bytes` now. It is neither a hit
 * nor a miss. */
static inline void gm_counters_resize(struct gm_counters *counters,
				      uint64_t requested_before,
				      uint64_t requested, uint64_t before,
				      uint64_t bytes)
{
	const struct gm_above *above = &counters->above;

	if (requested > requested_before)
		gm_counters_raise(counters, &counters->requested,
				  requested - requested_before,
				  &above->requested);
	else
		gm_counters_lower(&counters->requested,
				  requested_before - requested,
				  &above->requested);
	if (bytes > before) {
		gm_counters_raise(counters, &counters->allocated,
				  bytes - before, &above->allocated);
		gm_counters_raise(counters, &counters->active, bytes - before,
				  &above->allocated);
	} else {
		gm_counters_lower(&counters->allocated, before - bytes,
				  &above->allocated);
		gm_counters_lower(&counters->active, before - bytes,
				  &above->allocated);
	}
	gm_counters_note_highest(counters);
}

/* A pending block is free. */
static inline void gm_counters_complete(struct gm_counters *counters,
					uint64_t bytes)
{
	gm_counters_lower(&counters->active, bytes, &counters->above.allocated);
}

/* All threads are stopped and folded in: the levels are what they say. Only
 * one thread (or none) may go on unless the heap is `shared` from now on. */
static inline void gm_counters_level(struct gm_counters *counters, bool shared)
{
	struct gm_gauge *const gauge[] = {&counters->requested,
					  &counters->allocated,
					  &counters->active, &counters->blocks};

	for (unsigned i = 0; i < 4; i++)
		gm_gauge_note(gauge[i], (int64_t)gauge[i]->current, 0, true);
	counters->shared = shared;
	counters->known = true;
}

/* Before the totals are reset. */
static inline void gm_counters_forget_total(struct gm_counters *counters)
{
	counters->total_at_highest -= counters->allocated.total;
	counters->freed_at_trim -= counters->allocated.total;
}

static inline void gm_gauge_reset(struct gm_gauge *gauge, bool total)
{
	gauge->peak = gauge->reached = gauge->current;
	if (total)
		gauge->total = 0;
}

#endif
