/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How much a heap may reserve: by its limits, and before it moves memory rather
 * than take more. See budget.h.
 */
#include "space.h"
#include "base/error.h"
#include "base/option.h"

uint64_t gm_budget_need(const struct gm_heap *heap, uint64_t bytes)
{
	return heap->space->model->need(heap, bytes);
}

gpumem_status gm_limits_judge(const struct gm_heap *heap, uint64_t soft_bytes,
			      uint64_t limit_bytes)
{
	uint64_t smallest = gm_budget_need(heap, 1);
	const struct gpumem_device *device = heap->driver.device;

	if (heap->driver.kind == GPUMEM_KIND_DEVICE &&
	    device->limit_bytes < smallest)
		return gm_fail(
			GPUMEM_INVALID,
			"a limit of %llu bytes for all pools of %s "
			"(option `device_limit`) is less than it takes "
			"for one block: the smallest is %llu bytes, or 0 "
			"for none",
			(unsigned long long)device->limit_bytes,
			device->info.name, (unsigned long long)smallest);
	if (!limit_bytes)
		return GPUMEM_OK;
	if (limit_bytes < smallest)
		return gm_fail(GPUMEM_INVALID,
			       "a limit of %llu bytes (limit_bytes, option "
			       "`limit`) is less than %s takes for one block: "
			       "the smallest is %llu bytes, or 0 for none",
			       (unsigned long long)limit_bytes,
			       device->info.name, (unsigned long long)smallest);
	if (soft_bytes > limit_bytes)
		return gm_fail(
			GPUMEM_INVALID,
			"a soft limit of %llu bytes (soft_limit_bytes, "
			"option `soft_limit`) is above the limit of %llu "
			"(limit_bytes, option `limit`), and would never "
			"be reached",
			(unsigned long long)soft_bytes,
			(unsigned long long)limit_bytes);
	return GPUMEM_OK;
}

uint64_t gm_limit_bytes(const struct gm_heap *heap,
			const struct gm_attempt *attempt)
{
	uint64_t limit = heap->space->budget.limit_bytes;

	if (heap->space->budget.soft_limit_bytes &&
	    !(attempt && attempt->beyond_soft) &&
	    (!limit || heap->space->budget.soft_limit_bytes < limit))
		limit = heap->space->budget.soft_limit_bytes;
	return limit ? limit : UINT64_MAX;
}

uint64_t gm_limit_hard(const struct gm_heap *heap)
{
	uint64_t limit = heap->space->budget.limit_bytes;

	return limit ? limit : UINT64_MAX;
}

uint64_t gm_limit_beside(const struct gm_heap *heap, uint64_t bytes,
			 uint64_t driver_bytes)
{
	uint64_t limit = gm_limit_hard(heap), sum;
	uint64_t reserved = heap->counters.reserved.current;
	uint64_t room = limit > reserved ? limit - reserved : 0;

	if (driver_bytes > room)
		driver_bytes = room;
	return __builtin_add_overflow(bytes, driver_bytes, &sum) ? UINT64_MAX
								 : sum;
}

uint64_t gm_limit_room(const struct gm_heap *heap,
		       const struct gm_attempt *attempt)
{
	uint64_t limit = gm_limit_bytes(heap, attempt),
		 reserved = heap->counters.reserved.current +
			    heap->space->growth.flight.creating_bytes;

	return limit > reserved ? limit - reserved : 0;
}

gpumem_status gm_limit_check(const struct gm_heap *heap,
			     const struct gm_attempt *attempt, uint64_t bytes)
{
	if (bytes <= gm_limit_room(heap, attempt))
		return GPUMEM_OK;
	return gm_fail(GPUMEM_LIMIT, "the limit of %llu bytes is reached",
		       (unsigned long long)gm_limit_bytes(heap, attempt));
}

/* Moving pages costs time, holding more of them memory. A program that makes
 * us move the same memory again and again pays time for ever, so it is given
 * memory by and by: a ski is rented until it could have been bought (Karlin,
 * Manasse, Rudolph and Sleator, Competitive Snoopy Caching, 1988). The
 * time is by the handle, however large: a turn is as many moves as all memory
 * has pages. So many are free as recorded programs take the first time that
 * they run, and a little more. */
static const double free_turns = 1.5, waste_per_turn = 0.08;

static double waste_of(const struct gm_heap *heap, double high)
{
	double migrated_bytes =
		(double)heap->space->budget.migrated_handles * heap->page_bytes;
	double turns = migrated_bytes / high - free_turns;
	double waste = heap->space->budget.waste;

	if (turns <= 0 || waste >= heap->space->budget.waste_max)
		return waste;
	waste += turns * waste_per_turn;
	return waste < heap->space->budget.waste_max
		       ? waste
		       : heap->space->budget.waste_max;
}

uint64_t gm_budget_high(const struct gm_heap *heap, uint64_t bytes)
{
	uint64_t high = heap->counters.allocated.current + bytes;

	/* It may be below 0: see counters.h. */
	if ((int64_t)high < (int64_t)heap->counters.highest_allocated)
		high = heap->counters.highest_allocated;
	return high;
}

uint64_t gm_budget_target(const struct gm_heap *heap, uint64_t bytes)
{
	uint64_t high = gm_budget_high(heap, bytes);

	return high + (uint64_t)((double)high * waste_of(heap, (double)high));
}

/* Streams that wait for each other cut each other's memory, and pages of which
 * one has a part the others cannot have. Under a limit, where that is what an
 * allocation fails for in the end, they keep apart for longer, unless somebody
 * has said how long. */
static const double apart_waste = 0.10;

void gm_budget_read_options(struct gm_heap *heap)
{
	struct gm_budget *budget = &heap->space->budget;
	char text[64];

	budget->waste = gm_option_fraction(heap->space->model->waste);
	budget->waste_max = gm_option_fraction(heap->space->model->waste_max);
	budget->stream_waste = gm_option_fraction(GM_PERCENT_stream_waste);
	budget->limited_stream_waste = budget->stream_waste;
	if (!gm_option_given(GM_PERCENT_stream_waste, text, sizeof(text)))
		budget->limited_stream_waste = apart_waste;
}

uint64_t gm_budget_stream_target(const struct gm_heap *heap,
				 const struct gm_attempt *attempt,
				 uint64_t bytes)
{
	const struct gm_budget *budget = &heap->space->budget;
	uint64_t high = gm_budget_high(heap, bytes);
	uint64_t target = gm_budget_target(heap, bytes);
	double waste = gm_limit_bytes(heap, attempt) < UINT64_MAX
			       ? budget->limited_stream_waste
			       : budget->stream_waste;
	double most = (double)high * (1 + waste);

	return (double)target < most ? (uint64_t)most : target;
}

gpumem_status gm_budget_answer(struct gm_attempt *attempt, gpumem_status status)
{
	if (status != GPUMEM_LIMIT)
		return status;
	attempt->device_limited = true;
	return GPUMEM_NO_MEMORY;
}

void gm_budget_refuse(struct gm_heap *heap)
{
	heap->space->budget.met_limit = true;
	heap->space->budget.refused_bytes = heap->counters.reserved.current;
}

void gm_budget_reserve(struct gm_heap *heap, uint64_t bytes, uint64_t segments)
{
	gm_gauge_add(&heap->counters.reserved, bytes);
	gm_gauge_add(&heap->counters.segments, segments);
	if (heap->counters.reserved.current > heap->space->budget.refused_bytes)
		heap->space->budget.refused_bytes = 0;
	if (heap->counters.reserved.current >
	    heap->space->budget.highest_reserved)
		heap->space->budget.highest_reserved =
			heap->counters.reserved.current;
	if (heap->driver.kind == GPUMEM_KIND_DEVICE)
		atomic_fetch_add(&heap->driver.device->reserved_bytes, bytes);
	if (bytes)
		GM_RECORD(heap->record, GPUMEM_RECORD_GROW, bytes,
			  heap->counters.reserved.current);
}

void gm_budget_unreserve(struct gm_heap *heap, uint64_t bytes,
			 uint64_t segments)
{
	heap->space->budget.returned_bytes += bytes;
	gm_gauge_sub(&heap->counters.reserved, bytes);
	gm_gauge_sub(&heap->counters.segments, segments);
	if (heap->driver.kind == GPUMEM_KIND_DEVICE)
		atomic_fetch_sub(&heap->driver.device->reserved_bytes, bytes);
	if (bytes)
		GM_RECORD(heap->record, GPUMEM_RECORD_SHRINK, bytes,
			  heap->counters.reserved.current);
}
