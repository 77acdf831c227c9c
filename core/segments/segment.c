/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Growth without virtual memory: raw allocations ("segments"), each a span of
 * its own, given back whole when nothing in them is used. See space.h.
 */
#include "segments.h"
#include "base/error.h"
#include "extent/map.h"

#include <stdlib.h>

/* Extents begin at multiples of the unit, also where the driver's addresses do
 * not: room for that is taken too. */
static uint64_t round_up(uint64_t bytes, uint64_t to)
{
	return (bytes + to - 1) / to * to;
}

static uint64_t extra_bytes(const struct gm_heap *heap, size_t alignment)
{
	uint64_t extra = alignment > heap->unit ? alignment : 0;

	if (heap->driver.device->raw_alignment < heap->unit)
		extra += heap->unit;
	return extra;
}

uint64_t gm_segment_least(const struct gm_heap *heap, size_t bytes,
			  size_t alignment)
{
	return round_up(bytes + extra_bytes(heap, alignment),
			heap->driver.device->info.granularity_bytes);
}

/* What is left of a segment behind the blocks is little: this part of it. */
enum { REST_PART = 16 };

/* How much of a segment blocks of that size leave; alignment costs once. */
static uint64_t rest_of(uint64_t segment, uint64_t extra, size_t bytes)
{
	return (segment - extra) % bytes;
}

/* Room for several blocks like the one that is requested, since what comes once
 * comes again: as many as fill gm_budget_segment(). If more than a little is
 * left behind them, because the driver rounds up, one more is tried, up to
 * twice that size. Where little is never left it is the size that leaves least,
 * with gm_budget_segment() itself among them. A larger request has a segment of
 * its own. */
uint64_t gm_segment_good(const struct gm_heap *heap, size_t bytes,
			 size_t alignment)
{
	uint64_t part = gm_budget_segment(heap);
	uint64_t least = gm_segment_least(heap, bytes, alignment);
	uint64_t extra = extra_bytes(heap, alignment);
	uint64_t good =
		round_up(part, heap->driver.device->info.granularity_bytes);
	uint64_t rest;

	if (good < least)
		good = least;
	rest = rest_of(good, extra, bytes);
	for (uint64_t blocks = (part + bytes - 1) / bytes;
	     blocks * bytes <= 2 * part; blocks++) {
		uint64_t other =
			gm_segment_least(heap, blocks * bytes, alignment);
		uint64_t left = rest_of(other, extra, bytes);

		if ((double)left * (double)good <
		    (double)rest * (double)other) {
			good = other;
			rest = left;
		}
		if (left <= other / REST_PART)
			break;
	}
	/* Where that is less than the request take() refuses it. */
	return good < heap->max_alloc_bytes ? good : heap->max_alloc_bytes;
}

bool gm_segment_whole(const struct gm_span *span)
{
	const struct gm_extent *first = span->first;

	return gm_extent_is(first, GM_EXTENT_FREE) && !first->next &&
	       !first->arena->graph && !span->pinned;
}

bool gm_segment_completed(const struct gm_span *span)
{
	const struct gm_extent *first = span->first;

	return gm_segment_whole(span) &&
	       gm_arena_completed(first->arena, first->seqno);
}

/* The driver, without the mutex; what it is asked for is within the limit. */
static gpumem_status ask(struct gm_heap *heap, struct gm_attempt *attempt,
			 uint64_t bytes, uint64_t *address_out)
{
	const struct gm_flight flight = {.creating_bytes = bytes};
	gpumem_status status = gm_limit_check(heap, attempt, bytes);

	if (status != GPUMEM_OK)
		return status;
	heap->nodes.promised++; /* for its extent */
	gm_growth_let_go(heap, &flight);
	status = gm_driver_alloc(&heap->driver, bytes, address_out);
	gm_growth_take_up(heap, attempt);
	heap->nodes.promised--;
	return gm_budget_answer(attempt, status);
}

/* Takes `good` bytes from the driver, or `least` when that is too much. */
static gpumem_status take(struct gm_heap *heap, struct gm_attempt *attempt,
			  uint64_t good, uint64_t least, struct gm_span *span)
{
	uint64_t address;
	gpumem_status status;

	if (least > heap->max_alloc_bytes)
		return gm_fail(GPUMEM_NO_MEMORY,
			       "the device gives at most %llu bytes at a time",
			       (unsigned long long)heap->max_alloc_bytes);
	status = ask(heap, attempt, good, &address);
	if (status != GPUMEM_OK && good > least && status != GPUMEM_LOST) {
		good = least;
		status = ask(heap, attempt, good, &address);
	}
	if (status != GPUMEM_OK)
		return status;
	span->address = (uintptr_t)address;
	span->bytes = good;
	return GPUMEM_OK;
}

uint64_t gm_segment_slack(const struct gm_heap *heap,
			  const struct gm_span *span)
{
	uintptr_t unit = heap->unit;
	uintptr_t first = (span->address + unit - 1) & ~(unit - 1);

	return span->bytes -
	       ((span->address + span->bytes - first) & ~(unit - 1));
}

/* With one reserved node. */
static struct gm_extent *add(struct gm_heap *heap, struct gm_arena *arena,
			     struct gm_span *span)
{
	struct gm_extent *extent = gm_nodes_take(&heap->nodes);
	uintptr_t unit = heap->unit;

	extent->address = (span->address + unit - 1) & ~(unit - 1);
	extent->bytes =
		(span->address + span->bytes - extent->address) & ~(unit - 1);
	span->first = extent;
	gm_span_link(&heap->spans, span);
	gm_segment_record(heap, span);
	gm_ranges_tell(heap, GPUMEM_RANGE_MAPPED, span->address, span->bytes);
	return gm_arena_insert(arena, extent);
}

static void unlink_span(struct gm_heap *heap, struct gm_span *span)
{
	gm_segment_record_end(heap, span);
	gm_index_remove(&span->first->arena->index, span->first);
	gm_nodes_give(&heap->nodes, span->first);
	gm_span_unlink(&heap->spans, span);
}

static struct gm_span *find_unused(const struct gm_heap *heap,
				   const struct gm_release *leave)
{
	struct gm_span *span = heap->spans.first;
	unsigned skip = leave->skip;

	for (; span; span = span->next)
		if (gm_segment_completed(span) &&
		    span->first->seqno <= leave->newest && skip-- == 0)
			return span;
	return NULL;
}

/* Once the driver has it, it may give the same addresses to another thread: the
 * heap has forgotten them by then. What the driver does not take comes back as
 * memory that nobody has used. */
gpumem_status gm_segment_release(struct gm_heap *heap,
				 const struct gm_release *leave,
				 uint64_t *bytes_out)
{
	struct gm_span *span = find_unused(heap, leave);
	struct gm_space *space = heap->space;
	gpumem_status status;

	*bytes_out = 0;
	if (!span)
		return GPUMEM_OK;
	gm_ranges_tell(heap, GPUMEM_RANGE_UNMAPPING, span->address,
		       span->bytes);
	unlink_span(heap, span);
	heap->nodes.promised++; /* should it come back */
	space->releasing_bytes += span->bytes;
	pthread_mutex_unlock(&heap->mutex);
	status = gm_driver_free(&heap->driver, span->address, span->bytes);
	gm_gate_give_way(heap->driver.device->gate);
	pthread_mutex_lock(&heap->mutex);
	space->releasing_bytes -= span->bytes;
	space->releases++;
	heap->nodes.promised--;
	if (status != GPUMEM_OK) {
		(void)add(heap, heap->order->arenas, span);
		return status;
	}
	*bytes_out = span->bytes;
	gm_budget_unreserve(heap, span->bytes, 1);
	free(span);
	return GPUMEM_OK;
}

static bool give_back(struct gm_heap *heap, const struct gm_span *span)
{
	gpumem_status status;

	gm_ranges_tell(heap, GPUMEM_RANGE_UNMAPPING, span->address,
		       span->bytes);
	status = gm_driver_free(&heap->driver, span->address, span->bytes);
	if (status != GPUMEM_OK)
		gm_ranges_tell(heap, GPUMEM_RANGE_MAPPED, span->address,
			       span->bytes);
	return status == GPUMEM_OK;
}

/* Before the heap grows: with the mutex held all the time, since what was found
 * out so far must stay true. What cannot be given back now is no reason to
 * fail. False: nothing went. */
static bool make_room(struct gm_heap *heap, uint64_t keep_bytes)
{
	struct gm_span *span = heap->spans.first, *next;
	bool some = false;

	for (; span && heap->counters.reserved.current > keep_bytes;
	     span = next) {
		next = span->next;
		if (!gm_segment_completed(span) || !give_back(heap, span))
			continue;
		unlink_span(heap, span);
		gm_budget_unreserve(heap, span->bytes, 1);
		free(span);
		some = true;
	}
	return some;
}

/* Whatever is given back may be waited for by the driver's own free. */
static bool may_give_back(struct gm_heap *heap,
			  const struct gm_attempt *attempt)
{
	return !(attempt->no_wait &&
		 gm_device_has(heap->driver.device, GPUMEM_CAP_FREE_WAITS)) &&
	       !gm_capture_forbids(heap, attempt);
}

/* Would so much more be, whatever the driver rounds it up to? */
static bool is_waste(const struct gm_heap *heap, uint64_t bytes)
{
	return heap->counters.reserved.current + bytes >
	       gm_budget_target(heap, bytes);
}

bool gm_segment_may_exchange(struct gm_heap *heap,
			     const struct gm_attempt *attempt,
			     const struct gm_extent *spared, uint64_t bytes)
{
	if (spared->prev || spared->next || !is_waste(heap, bytes))
		return true;
	if (!gm_budget_may_exchange(heap,
				    gm_segment_good(heap, bytes, heap->unit)))
		return false;
	gm_arena_poll(spared->arena, attempt, true);
	return (gm_arena_completed(spared->arena, spared->seqno) ||
		attempt->spares_busy) &&
	       may_give_back(heap, attempt);
}

gpumem_status gm_segment_grow(struct gm_heap *heap, struct gm_attempt *attempt,
			      struct gm_arena *arena, size_t bytes,
			      size_t alignment, struct gm_extent **extent_out)
{
	uint64_t least = gm_segment_least(heap, bytes, alignment);
	uint64_t good = gm_segment_good(heap, bytes, alignment);
	uint64_t target = gm_budget_target(heap, bytes);
	struct gm_span *span;
	gpumem_status status;

	attempt->made_of = GPUMEM_SERVED_DRIVER;
	if (is_waste(heap, bytes))
		gm_budget_exchange(heap, good);
	if (heap->counters.reserved.current + good > target &&
	    may_give_back(heap, attempt)) {
		gm_arena_poll(arena, attempt, true);
		if (make_room(heap, target > good ? target - good : 0))
			attempt->made_of = GPUMEM_SERVED_EXCHANGED;
	}
	status = gm_nodes_reserve(&heap->nodes, 1);
	if (status != GPUMEM_OK)
		return status;
	span = calloc(1, sizeof(*span));
	if (!span)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a segment's bookkeeping");
	status = take(heap, attempt, good, least, span);
	if (status != GPUMEM_OK)
		goto free_span;
	status = gm_map_ensure(span->address, span->bytes);
	if (status != GPUMEM_OK)
		goto free_memory;
	gm_budget_reserve(heap, span->bytes, 1);
	*extent_out = add(heap, arena, span);
	return GPUMEM_OK;

free_memory:
	(void)gm_driver_free(&heap->driver, span->address, span->bytes);
free_span:
	free(span);
	return status;
}
