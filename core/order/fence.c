/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What of an arena the device has finished with: its fences. See arena.h. */
#include "order.h"

#include <stdlib.h>

static struct gm_fence *fence_at(struct gm_arena *arena, unsigned i)
{
	return &arena->fence[(arena->fence_first + i) % GM_FENCES];
}

/* An event for all frees so far; with a full ring the newest one is recorded
 * again, which delays it. */
static gpumem_status fence_newest(struct gm_arena *arena)
{
	struct gm_fence *fence;
	gpumem_status status;

	if (arena->fence_count == GM_FENCES) {
		fence = fence_at(arena, GM_FENCES - 1);
		status = gm_driver_event_record(&arena->heap->driver,
						fence->event, arena->stream);
	} else {
		fence = fence_at(arena, arena->fence_count);
		status = gm_events_record(arena->heap, arena->stream,
					  &fence->event);
		if (status == GPUMEM_OK)
			arena->fence_count++;
	}
	if (status != GPUMEM_OK)
		return status;
	fence->seqno = arena->seqno;
	gm_follow_record(arena, fence);
	return GPUMEM_OK;
}

static bool fenced(struct gm_arena *arena)
{
	return arena->fence_count &&
	       fence_at(arena, arena->fence_count - 1)->seqno == arena->seqno;
}

struct gm_fence *gm_arena_fence(struct gm_arena *arena, uint64_t seqno)
{
	for (unsigned i = 0; i < arena->fence_count; i++)
		if (fence_at(arena, i)->seqno >= seqno)
			return fence_at(arena, i);
	if (arena->dropped || fence_newest(arena) != GPUMEM_OK)
		return NULL;
	return fence_at(arena, arena->fence_count - 1);
}

static void give_oldest(struct gm_arena *arena)
{
	gm_events_give(arena->heap, fence_at(arena, 0)->event);
	arena->fence_first = (arena->fence_first + 1) % GM_FENCES;
	arena->fence_count--;
}

static void complete(struct gm_arena *arena, uint64_t seqno)
{
	if (arena->completed < seqno)
		arena->completed = seqno;
	arena->heap->order->completions++;
}

void gm_arena_complete(struct gm_arena *arena, uint64_t seqno)
{
	complete(arena, seqno);
	while (arena->fence_count && fence_at(arena, 0)->seqno <= seqno)
		give_oldest(arena);
}

/* The stream has nothing to do. */
static void complete_all(struct gm_arena *arena)
{
	gm_arena_complete(arena, arena->seqno);
	gm_follow_complete_all(arena);
}

/* NOT_READY: the stream is at work. */
static gpumem_status query_fences(struct gm_arena *arena)
{
	gpumem_status status = GPUMEM_OK;

	while (arena->fence_count) {
		const struct gm_fence *oldest = fence_at(arena, 0);

		status = gm_driver_event_query(&arena->heap->driver,
					       oldest->event);
		if (status != GPUMEM_OK)
			break;
		complete(arena, oldest->seqno);
		gm_follow_complete(arena, oldest);
		give_oldest(arena);
	}
	return status;
}

/* A stream with nothing to do needs no event, which would take its time to come
 * back even then. *open_out: its answer says that it is not being captured; one
 * that is says so, and nothing happens to it. */
static bool is_idle(struct gm_arena *arena, bool *open_out)
{
	gpumem_status status =
		gm_driver_stream_query(&arena->heap->driver, arena->stream);

	*open_out = status == GPUMEM_OK || status == GPUMEM_NOT_READY;
	if (*open_out)
		arena->asked = arena->heap->order->searches;
	return status == GPUMEM_OK;
}

static void count_idle(struct gm_order *order, bool idle)
{
	order->idle_in_row = idle ? order->idle_in_row + 1 : 0;
}

/* By chance a few are idle at one time in any program. */
enum { IDLE_IN_ROW = 64 };

bool gm_order_is_idle(const struct gm_heap *heap)
{
	return heap->order->idle_in_row >= IDLE_IN_ROW;
}

/* Of an event nobody asks whether a stream is being captured: ours were
 * recorded before. */
static void settle(struct gm_arena *arena, const struct gm_attempt *attempt,
		   bool fence)
{
	gpumem_status oldest;
	bool open = false;

	if (!gm_device_has(arena->heap->driver.device, GPUMEM_CAP_STREAMS)) {
		complete_all(arena);
		return;
	}
	oldest = query_fences(arena);
	if (oldest == GPUMEM_NOT_READY)
		count_idle(arena->heap->order, false);
	if (!fence || arena->dropped || arena->completed == arena->seqno)
		return;
	arena->unfenced = 0;
	arena->fence_frees = GM_FENCE_FREES;
	arena->idle = oldest != GPUMEM_NOT_READY && is_idle(arena, &open);
	count_idle(arena->heap->order, arena->idle);
	if (arena->idle) {
		complete_all(arena);
	} else if (!fenced(arena) && arena->fence_count < GM_FENCES &&
		   (open || !gm_arena_capturing(arena, attempt))) {
		/* What cannot be recorded now is tried the next time. */
		(void)fence_newest(arena);
	}
}

void gm_arena_poll(struct gm_arena *arena, const struct gm_attempt *attempt,
		   bool fence)
{
	uint64_t search = gm_attempt_search(attempt);

	/* What is private has nothing to settle, and its stream may be gone. */
	if (arena->completed == arena->seqno || arena->graph ||
	    (search && arena->busy == search))
		return;
	settle(arena, attempt, fence);
	if (arena->completed != arena->seqno)
		arena->busy = arena->heap->order->searches;
}

bool gm_arenas_poll(struct gm_heap *heap)
{
	struct gm_arena *arena = gm_arena_stocked(heap);

	if (gm_capture_forbids(heap, NULL))
		return false;
	for (; arena; arena = gm_arena_stocked_after(arena))
		if (arena->completed != arena->seqno)
			settle(arena, NULL, true);
	return true;
}

void gm_arena_count_free(struct gm_arena *arena)
{
	unsigned frees = arena->fence_frees;

	if (++arena->unfenced < frees)
		return;
	gm_arena_poll(arena, NULL, true);
	arena->unfenced = 0;
	arena->fence_frees =
		2 * frees < GM_FENCE_FREES_MAX ? 2 * frees : GM_FENCE_FREES_MAX;
}

gpumem_status gm_arena_drop(struct gm_arena *arena)
{
	struct gm_heap *heap = arena->heap;
	uint64_t before = arena->seqno;
	gpumem_status status = GPUMEM_OK;

	/* Slots that were freed have no sequence numbers: the fence is for them
	 * too. */
	arena->seqno = ++heap->seqno;
	if (gm_device_has(heap->driver.device, GPUMEM_CAP_STREAMS))
		status = fence_newest(arena);
	if (status != GPUMEM_OK) {
		arena->seqno = before;
		return status;
	}
	if (!arena->dropped)
		gm_arenas_drop(arena);
	return GPUMEM_OK;
}

/* Slots and cached blocks that were freed have no sequence numbers: one for all
 * of them. */
void gm_arena_wait(struct gm_arena *arena)
{
	if (!arena->dropped)
		arena->seqno = ++arena->heap->seqno;
	gm_arena_poll(arena, NULL, true);
	if (arena->completed == arena->seqno)
		return;
	if (!arena->dropped && !fenced(arena))
		(void)fence_newest(arena);
	/* What a driver in trouble does not tell cannot be waited for. */
	if (!arena->fence_count)
		return;
	if (gm_events_wait(arena->heap,
			   fence_at(arena, arena->fence_count - 1)->event) ==
	    GPUMEM_OK)
		gm_arena_poll(arena, NULL, false);
}

void gm_arena_fini(struct gm_arena *arena)
{
	while (arena->fence_count)
		give_oldest(arena);
	gm_arenas_remove(arena);
	gm_follow_fini(arena);
	free(arena);
}
