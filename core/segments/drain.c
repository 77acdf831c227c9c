/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The host waits for work, so that unused segments go back rather than that
 * more is reserved than ever. A segment goes back whole, and a stream whose
 * host is ahead has none that it is done with, so what is free beside its
 * blocks would come to several times as much as they are. Such a wait is
 * seldom, since up to what was ever reserved nothing waits; and it ends, since
 * work may wait for the very thread that allocates. Under the mutex, which is
 * released meanwhile. See segments.h.
 */
#include "segments.h"
#include "base/clock.h"
#include "base/log.h"

/* Would the heap be larger than ever, by more than a little? */
static bool would_be_record(const struct gm_heap *heap, size_t bytes,
			    size_t alignment)
{
	return !gm_price_is_little(heap, bytes) &&
	       heap->counters.reserved.current +
			       gm_segment_good(heap, bytes, alignment) >
		       heap->space->budget.highest_reserved;
}

/* Whose work keeps a segment of which nothing is used, or NULL: it is in use,
 * or all is over. */
static struct gm_arena *keeper_of(const struct gm_heap *heap,
				  const struct gm_span *span)
{
	const struct gm_extent *extent = span->first;
	struct gm_arena *keeper = NULL;

	if (span->pinned)
		return NULL;
	for (; extent; extent = gm_extent_next(&heap->nodes, extent)) {
		if (!gm_extent_is(extent, GM_EXTENT_FREE) ||
		    extent->arena->graph)
			return NULL;
		if (!gm_arena_completed(extent->arena, extent->seqno))
			keeper = extent->arena;
	}
	return keeper;
}

/* The work of a stream that is being captured is not waited for. */
static bool may_wait_for(struct gm_arena *arena,
			 const struct gm_attempt *attempt)
{
	return arena->dropped || !gm_arena_capturing(arena, attempt);
}

/* Whose work keeps an unused segment, or NULL. */
static struct gm_arena *keeper(const struct gm_heap *heap,
			       const struct gm_attempt *attempt)
{
	const struct gm_span *span = heap->spans.first;
	struct gm_arena *arena;

	for (; span; span = span->next) {
		arena = keeper_of(heap, span);
		if (arena && may_wait_for(arena, attempt))
			return arena;
	}
	return NULL;
}

/* It took too long, or failed, and may never end: that is not tried again. */
static void give_up(struct gm_heap *heap)
{
	gm_log(GPUMEM_LOG_INFO,
	       "%s: work was not over after %llu ms (option "
	       "`segment_wait_ms`): the pool does not wait for unused "
	       "segments any more, and takes new ones",
	       heap->driver.device->info.name,
	       (unsigned long long)(heap->space->budget.segment_wait_ns /
				    1000000));
	heap->space->budget.segment_wait_ns = 0;
}

/* Other threads may leave more such segments meanwhile: there are no more waits
 * than streams that have something free now. */
static void drain(struct gm_heap *heap)
{
	uint64_t now_ns = gm_clock_ns();
	uint64_t deadline_ns = now_ns + heap->space->budget.segment_wait_ns;
	size_t looks = gm_arenas_looks(heap, SIZE_MAX);
	struct gm_arena *arena;

	while (looks-- && now_ns < deadline_ns &&
	       (arena = keeper(heap, NULL))) {
		if (!gm_arena_drain(arena, deadline_ns - now_ns)) {
			give_up(heap);
			break;
		}
		now_ns = gm_clock_ns();
	}
}

bool gm_segments_drain(struct gm_heap *heap, struct gm_attempt *attempt,
		       size_t bytes, size_t alignment)
{
	uint64_t begin_ns;

	if (attempt->drained || !attempt->spares_busy ||
	    !would_be_record(heap, bytes, alignment) ||
	    gm_capture_forbids(heap, attempt) || !keeper(heap, attempt))
		return false;
	begin_ns = gm_waiting_begin(heap);
	drain(heap);
	gm_waiting_end(heap, begin_ns);
	attempt->drained = true;
	attempt->after = GPUMEM_SERVED_WAITED;
	return true;
}
