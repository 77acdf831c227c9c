/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The host waits for what streams are at work on: for a fence, in need, and for
 * all of a stream, so that segments go back. See arena.h. */
#include "order.h"

static struct gm_arena *busy_arena(struct gm_heap *heap)
{
	struct gm_arena *arena = heap->order->arenas;

	for (; arena; arena = arena->next) {
		gm_arena_poll(arena, NULL, true);
		if (arena->fence_count)
			return arena;
	}
	return NULL;
}

/* For an event of the arena, with the mutex released meanwhile; true: more is
 * completed, or the arena is gone. */
static bool wait_for(struct gm_arena *arena, void *event, uint64_t ns)
{
	struct gm_heap *heap = arena->heap;
	uint64_t completed = arena->completed;
	const struct gm_arena *found;

	pthread_mutex_unlock(&heap->mutex);
	/* An error shows below: nothing is completed then. */
	if (ns == UINT64_MAX)
		(void)gm_driver_event_sync(&heap->driver, event);
	else
		(void)gm_driver_event_wait(&heap->driver, event, ns);
	pthread_mutex_lock(&heap->mutex);
	for (found = heap->order->arenas; found && found != arena;
	     found = found->next)
		;
	if (found)
		gm_arena_poll(arena, NULL, false);
	return !found || arena->completed != completed;
}

bool gm_arenas_wait(struct gm_heap *heap)
{
	struct gm_arena *busy;

	if (gm_capture_forbids(heap, NULL) || !(busy = busy_arena(heap)))
		return false;
	return wait_for(busy, busy->fence[busy->fence_first].event, UINT64_MAX);
}

bool gm_arena_drain(struct gm_arena *arena, uint64_t ns)
{
	const struct gm_fence *fence;

	gm_arena_poll(arena, NULL, true);
	if (arena->completed == arena->seqno)
		return true;
	fence = gm_arena_fence(arena, arena->seqno);
	return fence && wait_for(arena, fence->event, ns);
}
