/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See price.h. */
#include "price.h"
#include "space.h"
#include "order/order.h"

#include <math.h>

/* A small heap would have its streams and its host wait for less than this, and
 * no program misses it. */
static const uint64_t slack_bytes = 16 << 20;

static uint64_t most_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

bool gm_price_is_little(const struct gm_heap *heap, uint64_t bytes)
{
	uint64_t pages = (bytes + heap->page_bytes - 1) / heap->page_bytes;

	return heap->counters.reserved.current + pages * heap->page_bytes <=
	       heap->counters.highest_allocated + slack_bytes;
}

double gm_price_new(const struct gm_heap *heap,
		    const struct gm_attempt *attempt, uint64_t bytes)
{
	uint64_t need = gm_budget_need(heap, bytes);
	uint64_t after = heap->counters.reserved.current + need;
	/* Where the price is 0, MOVE, WAIT and WAITS. */
	uint64_t bend[] = {gm_budget_high(heap, bytes),
			   gm_budget_target(heap, bytes),
			   gm_budget_stream_target(heap, attempt, bytes),
			   heap->counters.highest_allocated + slack_bytes};
	enum { BENDS = sizeof(bend) / sizeof(bend[0]) };
	unsigned i = 0;

	if (need > gm_limit_room(heap, attempt))
		return gm_price_is_little(heap, bytes) ? GM_PRICE_WAITS
						       : INFINITY;
	bend[BENDS - 1] = most_of(bend[BENDS - 1], bend[BENDS - 2]);
	while (i < BENDS && after > bend[i])
		i++;
	if (i == 0)
		return 0;
	if (i == BENDS)
		return BENDS; /* more than WAITS */
	return i - 1 +
	       (double)(after - bend[i - 1]) / (double)(bend[i] - bend[i - 1]);
}

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

double gm_price_part(const struct gm_heap *heap,
		     const struct gm_attempt *attempt, uint64_t bytes)
{
	uint64_t most = bound_of(heap, attempt);
	uint64_t after = heap->counters.reserved.current + bytes;

	return after < most ? (double)most / (double)(most - after) : INFINITY;
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

enum gm_care gm_price_care(const struct gm_heap *heap,
			   const struct gm_attempt *attempt, uint64_t bytes)
{
	uint64_t high = gm_budget_high(heap, bytes);
	uint64_t target = gm_budget_target(heap, bytes);

	if (heap->space->budget.met_limit &&
	    gm_price_part(heap, attempt, bytes) > GM_PRICE_TIGHT &&
	    !peak_fits(heap, attempt, bytes))
		return GM_CARE_LIMIT;
	return heap->counters.reserved.current + bytes > target &&
			       is_alone(heap) &&
			       (double)unmovable_bytes(heap) >
				       fragmented * (double)(target - high)
		       ? GM_CARE_MOVE
		       : GM_CARE_NONE;
}

/* A driver's price is by the handle, whatever its size: 1 GiB costs an H200 0.1
 * ms in one, 16 ms in 512 (to create and map). But a handle of which a part is
 * in use cannot move, and its rest is waste to all but small requests. So it is
 * a part of the request, which may be all that is like it; and of the heap,
 * about a seventh of the waste that is allowed. It is so many times smaller as
 * a part of a page costs, up to an eighth: what cannot move by the time that
 * half of the memory is left still cannot when there is little. */
enum { REQUEST_PART = 4, RESERVED_PART = 480 };

static size_t power_below(uint64_t pages)
{
	return pages ? (size_t)1 << (63 - __builtin_clzll(pages)) : 1;
}

/* By what a part of a page costs then. */
static uint64_t part_of(const struct gm_heap *heap,
			const struct gm_attempt *attempt, size_t pages)
{
	double price = gm_price_part(heap, attempt,
				     pages * (uint64_t)heap->page_bytes);

	return price < GM_PRICE_TIGHT ? (uint64_t)price
				      : (uint64_t)GM_PRICE_TIGHT;
}

size_t gm_price_handle_pages(const struct gm_heap *heap,
			     const struct gm_attempt *attempt, size_t pages)
{
	uint64_t reserved =
		heap->counters.reserved.current / heap->page_bytes + pages;
	uint64_t part = part_of(heap, attempt, pages);
	uint64_t most = heap->space->handle_pages;

	most = least_of(most, pages / (REQUEST_PART * part));
	return power_below(least_of(most, reserved / (RESERVED_PART * part)));
}

/* A program that loads a model asks for one block after the other, and frees
 * next to none: nothing of these will move, and the next ones take what is left
 * of a handle. So they are as large as the heap alone says, whatever is asked
 * for, until more than this part of what is allocated has been freed since a
 * trim, or memory was short. Larger than else; but near a limit even
 * a few blocks that are freed after all are missed (decision 98). */
enum { FREED_PART = 32, AHEAD_PART = 128, FATE_PART = 4 };

static bool only_grows(const struct gm_heap *heap)
{
	const struct gm_counters *counters = &heap->counters;

	return !heap->space->budget.met_limit &&
	       gm_counters_freed_since_trim(counters) * FREED_PART <=
		       (int64_t)counters->allocated.current;
}

/* In handles of so many pages. Of the waste that is allowed half stays for what
 * moves. */
static bool is_spared(const struct gm_heap *heap,
		      const struct gm_attempt *attempt, size_t pages,
		      size_t handle_pages, uint64_t bytes)
{
	uint64_t high = gm_budget_high(heap, bytes);
	uint64_t target = gm_budget_target(heap, bytes);
	uint64_t all = (pages + handle_pages - 1) / handle_pages *
		       (handle_pages * (uint64_t)heap->page_bytes);

	return heap->counters.reserved.current + all <=
		       high + (target - high) / 2 &&
	       all <= gm_limit_room(heap, attempt);
}

size_t gm_price_ahead_pages(const struct gm_arena *arena,
			    const struct gm_attempt *attempt, size_t pages,
			    uint64_t bytes)
{
	const struct gm_heap *heap = arena->heap;
	uint64_t reserved =
		heap->counters.reserved.current / heap->page_bytes + pages;
	uint64_t part =
		part_of(heap, attempt, pages) *
		(gm_limit_bytes(heap, attempt) < UINT64_MAX ? RESERVED_PART
							    : AHEAD_PART);
	uint64_t most = least_of(heap->space->handle_pages, reserved / part);

	if (arena->fate)
		most = least_of(most, arena->grown_bytes / heap->page_bytes /
					      FATE_PART);
	most = power_below(most);
	if (!only_grows(heap))
		return 0;
	while (most > 1 && !is_spared(heap, attempt, pages, most, bytes))
		most /= 2;
	return most > 1 ? most : 0;
}
