/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Free memory of a stream that is still at work on it, for another stream that
 * is made to wait for that work. What the receiver queues from then on comes
 * behind the work, and so does every event recorded there: the memory is as if
 * it had been freed on the receiver now, with a new sequence number of its. See
 * arena.h.
 */
#include "order.h"

/* A graph's is not lent; what is completed is had without this. */
static bool is_busy(const struct gm_arena *arena,
		    const struct gm_arena *receiver)
{
	return arena != receiver && arena->index.count &&
	       arena->completed != arena->seqno;
}

/* The receiver's stream begins nothing more before all that was freed on the
 * other one is over. The last fence of a dropped stream is there already. */
static bool wait_for(const struct gm_arena *receiver, struct gm_arena *from)
{
	void *event = gm_arena_event(from);

	return event && gm_stream_wait(receiver->heap->driver.device,
				       receiver->stream, event) == GPUMEM_OK;
}

/* Two nodes have been reserved. */
static void take_fit(struct gm_arena *receiver, struct gm_extent *extent,
		     const struct gm_behind *want)
{
	gm_arena_release(receiver,
			 gm_arena_carve(extent, want->bytes, want->alignment));
}

/* Whole extents, those with the most pages first. */
static void take_pages(struct gm_arena *receiver, struct gm_arena *from,
		       size_t bytes)
{
	struct gm_extent *extent;
	size_t pages = bytes / receiver->heap->page_bytes + 1, had;

	while (pages && (extent = gm_index_most_pages(&from->index))) {
		had = gm_index_pages(&from->index, extent);
		pages -= had < pages ? had : pages;
		gm_index_remove(&from->index, extent);
		gm_arena_release(receiver, extent);
	}
}

/* The one that the pages are taken from: it has the most. */
static struct gm_arena *with_pages(const struct gm_arena *receiver)
{
	struct gm_arena *arena = gm_arena_stocked(receiver->heap), *most = NULL;

	for (; arena; arena = gm_arena_stocked_after(arena))
		if (is_busy(arena, receiver) && arena->index.whole_pages &&
		    (!most ||
		     arena->index.whole_pages > most->index.whole_pages))
			most = arena;
	return most;
}

static struct gm_extent *fitting(const struct gm_arena *receiver,
				 const struct gm_behind *want)
{
	struct gm_arena *arena = gm_arena_stocked(receiver->heap);
	struct gm_extent *extent = NULL;

	for (; arena && !extent; arena = gm_arena_stocked_after(arena))
		if (is_busy(arena, receiver))
			extent = gm_arena_fit(arena, want->bytes,
					      want->alignment);
	return extent;
}

bool gm_arenas_transfer_behind(struct gm_arena *receiver,
			       const struct gm_behind *want)
{
	struct gm_heap *heap = receiver->heap;
	struct gm_extent *extent = fitting(receiver, want);
	struct gm_arena *from =
		extent ? extent->arena
		       : (want->pages ? with_pages(receiver) : NULL);

	if (!from || receiver->graph || receiver->dropped ||
	    gm_heap_any_capturing(heap) ||
	    gm_nodes_reserve(&heap->nodes, 2) != GPUMEM_OK ||
	    !wait_for(receiver, from))
		return false;
	receiver->idle = false;
	if (extent)
		take_fit(receiver, extent, want);
	else
		take_pages(receiver, from, want->bytes);
	return true;
}
