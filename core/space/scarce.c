/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* How much is left of what a heap may reserve, and what counts then. See
 * budget.h. */
#include "space.h"

/* The least of what bounds it: the limit, the memory that there is, and what
 * the driver had when it had no more. */
static uint64_t bound_of(const struct gm_heap *heap,
			 const struct gm_attempt *attempt)
{
	const struct gm_budget *budget = &heap->space->budget;
	uint64_t most = gm_limit_bytes(heap, attempt);

	if (heap->capacity_bytes < most)
		most = heap->capacity_bytes;
	if (budget->refused_bytes && budget->refused_bytes < most)
		most = budget->refused_bytes;
	return most;
}

/* With `bytes` more, is more reserved than all but a part of that? */
static bool is_beyond(const struct gm_heap *heap,
		      const struct gm_attempt *attempt, uint64_t bytes,
		      unsigned but_part)
{
	uint64_t most = bound_of(heap, attempt);

	return heap->counters.reserved.current + bytes > most - most / but_part;
}

/* Which part is left when it is no longer ample, when it is tight, and when it
 * is short. */
enum { AMPLE_PART = 2, TIGHT_PART = 8, SHORT_PART = 32 };

bool gm_budget_is_ample(const struct gm_heap *heap,
			const struct gm_attempt *attempt, uint64_t bytes)
{
	return !is_beyond(heap, attempt, bytes, AMPLE_PART);
}

bool gm_budget_is_tight(const struct gm_heap *heap,
			const struct gm_attempt *attempt, uint64_t bytes)
{
	return is_beyond(heap, attempt, bytes, TIGHT_PART);
}

/* What is free and cannot be moved: parts of pages. What caches keep counts as
 * such, and so does what streams have free that are not looked at. */
static uint64_t unmovable_bytes(const struct gm_heap *heap)
{
	const struct gm_arena *arena = gm_arena_stocked(heap);
	uint64_t others = heap->counters.active.current;

	for (unsigned i = 0; arena && i < GM_ARENA_LOOKS; i++) {
		others += arena->index.whole_pages * heap->page_bytes;
		arena = gm_arena_stocked_after(arena);
	}
	return (int64_t)others < (int64_t)heap->counters.reserved.current
		       ? heap->counters.reserved.current - others
		       : 0;
}

/* The peak is known once so many times as much has been allocated since it
 * rose: some recorded programs reach it after half of what they do. If it came
 * again this part of the memory would have to be left. */
enum { PEAK_TIMES = 64, SPARE_PART = 64 };

/* Would the peak fit beside what cannot move if it came again? */
static bool peak_fits(const struct gm_heap *heap,
		      const struct gm_attempt *attempt, uint64_t bytes)
{
	const struct gm_counters *counters = &heap->counters;
	uint64_t since = gm_counters_since_highest(counters);
	uint64_t most = bound_of(heap, attempt);

	return since / PEAK_TIMES >= counters->highest_allocated &&
	       gm_budget_high(heap, bytes) + unmovable_bytes(heap) <=
		       most - most / SPARE_PART;
}

bool gm_budget_is_short(const struct gm_heap *heap,
			const struct gm_attempt *attempt, uint64_t bytes)
{
	return heap->space->budget.met_limit &&
	       is_beyond(heap, attempt, bytes, SHORT_PART) &&
	       !peak_fits(heap, attempt, bytes);
}

/* Has one stream all that is free? */
static bool is_alone(const struct gm_heap *heap)
{
	const struct gm_arena *first = gm_arena_stocked(heap);

	return !heap->order->pending.count &&
	       !(first && gm_arena_stocked_after(first));
}

/* Some of what cannot move will be filled by small blocks, or is in caches, so
 * it may be this much of the waste. */
static const double fragmented = 1.5;

bool gm_budget_is_fragmented(const struct gm_heap *heap, uint64_t bytes)
{
	uint64_t high = gm_budget_high(heap, bytes);
	uint64_t target = gm_budget_target(heap, bytes);

	return heap->counters.reserved.current + bytes > target &&
	       is_alone(heap) &&
	       (double)unmovable_bytes(heap) >
		       fragmented * (double)(target - high);
}
