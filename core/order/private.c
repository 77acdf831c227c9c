/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How the memory of a graph comes back: to the stream that it was allocated on,
 * as if it were freed there now, behind the graph's last launch; or, where that
 * stream is gone, to whoever comes first once both are over. See arena.h.
 */
#include "order.h"
#include "base/error.h"

static void renumber_all(struct gm_arena *arena)
{
	struct gm_extent *extent;
	uint32_t list = gm_index_take_all(&arena->index);

	while ((extent = gm_node(arena->index.nodes, list))) {
		list = extent->left;
		gm_arena_renumber(arena, extent);
		gm_index_insert(&arena->index, extent);
	}
}

/* `stream` comes after what the arena's own did before it was dropped, so that
 * one event stands for both. */
static gpumem_status wait_for_own(struct gm_arena *arena, gpumem_stream stream)
{
	const struct gm_fence *last;

	if (!arena->fence_count)
		return GPUMEM_OK;
	last = gm_arena_fence(arena, arena->seqno);
	return gm_stream_wait(arena->heap->driver.device, stream, last->event);
}

/* What is free must not be known by the number of an older event. */
gpumem_status gm_arena_publish(struct gm_arena *arena, gpumem_stream stream)
{
	gpumem_stream before = arena->stream;
	gpumem_status status = wait_for_own(arena, stream);

	if (status != GPUMEM_OK)
		return status;
	arena->stream = stream;
	status = gm_arena_drop(arena);
	if (status != GPUMEM_OK) {
		arena->stream = before;
		return status;
	}
	gm_arenas_publish(arena);
	renumber_all(arena);
	return GPUMEM_OK;
}

gpumem_status gm_arena_come_after(struct gm_arena *arena, gpumem_stream stream)
{
	struct gm_heap *heap = arena->heap;
	gpumem_status status;
	void *event;

	if (stream == arena->stream ||
	    !gm_device_has(heap->driver.device, GPUMEM_CAP_STREAMS))
		return GPUMEM_OK;
	if (gm_arena_capturing(arena, NULL))
		return gm_fail(GPUMEM_CAPTURING,
			       "a stream that the graph's blocks belong to is "
			       "being captured, and cannot wait for the "
			       "graph's work");
	status = gm_events_record(heap, stream, &event);
	if (status != GPUMEM_OK)
		return status;
	status = gm_stream_wait(heap->driver.device, arena->stream, event);
	/* It may be recorded anew: the wait is for what it stands for now. */
	gm_events_give(heap, event);
	arena->idle = false;
	return status;
}

void gm_arena_return(struct gm_arena *receiver, struct gm_arena *from)
{
	struct gm_extent *extent;
	uint32_t list = gm_index_take_all(&from->index);

	while ((extent = gm_node(from->index.nodes, list))) {
		list = extent->left;
		(void)gm_arena_release(receiver, extent);
	}
	receiver->seqno = ++receiver->heap->seqno;
	gm_pending_renumber(from, receiver->seqno);
	from->completed = from->seqno;
	from->dropped = true;
	gm_arenas_publish(from);
}
