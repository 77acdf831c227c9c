/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Streams that go, and where their memory goes; see heap.h. */
#include "heap.h"

gpumem_status gm_heap_drop(struct gm_arena *arena)
{
	gpumem_status status = gm_arena_drop(arena);

	if (status == GPUMEM_OK)
		gm_slabs_orphan(arena);
	return status;
}

/* What is neither free nor a hole. */
static void move_blocks(struct gm_arena *receiver, const struct gm_arena *from)
{
	struct gm_extent *extent = gm_heap_first(receiver->heap);

	for (; extent; extent = gm_heap_next(receiver->heap, extent)) {
		if (extent->arena != from)
			continue;
		if (gm_extent_is(extent, GM_EXTENT_RUN))
			gm_slab_move(extent, receiver);
		/* The first may come back as free memory. */
		if (gm_extent_is(extent, GM_EXTENT_RELEASING) ||
		    gm_extent_is(extent, GM_EXTENT_STALE) ||
		    gm_extent_is(extent, GM_EXTENT_RETIRING))
			gm_transfer_number(receiver, extent, GM_TERMS_DONE);
		gm_extent_move(extent, receiver);
	}
}

/* Everything of `from`, whose last use is over, becomes `receiver`'s. */
static void inherit(struct gm_arena *receiver, const struct gm_attempt *attempt,
		    struct gm_arena *from)
{
	gm_slabs_purge(from);
	from->completed = from->seqno;
	gm_transfer_all_of(receiver, attempt, from);
	move_blocks(receiver, from);
}

/* With no host memory for the receiver, or its slabs, they stay for now. */
void gm_heap_reap(struct gm_arena *receiver, const struct gm_attempt *attempt,
		  size_t most)
{
	struct gm_heap *heap = receiver->heap;
	struct gm_arena *arena = heap->order->dropped, *next, *heir;

	/* The stream of a growth under way may go meanwhile. */
	if (!gm_growth_none(heap))
		return;
	for (; arena && most--; arena = next) {
		next = arena->next_dropped;
		gm_arena_poll(arena, attempt, false);
		if (arena->completed != arena->seqno)
			continue;
		heir = gm_arena_receiver(receiver, arena);
		if (!heir || gm_slabs_make(heir) != GPUMEM_OK)
			continue;
		/* Whose a block is, other threads look up without a lock. */
		gm_locals_stop(heap);
		inherit(heir, attempt, arena);
		gm_locals_go(heap);
		gm_slabs_fini(arena);
		gm_arena_fini(arena);
	}
}

void gm_heap_transfer(struct gm_arena *receiver,
		      const struct gm_attempt *attempt, bool everywhere)
{
	const struct gm_transfer transfer = {.receiver = receiver,
					     .attempt = attempt,
					     .asks = SIZE_MAX,
					     .everywhere = everywhere};

	gm_heap_reap(receiver, attempt, everywhere ? SIZE_MAX : GM_ARENA_LOOKS);
	gm_transfer_all(&transfer);
}

/* ---- the end of a graph ---- */

static gpumem_status home_of(struct gm_heap *heap, gpumem_stream stream,
			     struct gm_arena **home_out)
{
	gpumem_status status = gm_arena_named(heap, stream, NULL, home_out);

	return status == GPUMEM_OK ? gm_slabs_make(*home_out) : status;
}

/* Each block keeps the stream that it was allocated on, so that whatever that
 * stream does with it comes before it is anybody else's. */
static void go_home(struct gm_arena *home, struct gm_arena *arena)
{
	gm_slabs_purge(arena);
	gm_arena_return(home, arena);
	move_blocks(home, arena);
	/* Else gm_heap_reap() ends it. */
	if (gm_growth_none(home->heap)) {
		gm_slabs_fini(arena);
		gm_arena_fini(arena);
	}
}

gpumem_status gm_heap_return(struct gm_arena *arena, gpumem_stream stream)
{
	struct gm_arena *home = NULL;
	gpumem_status status = GPUMEM_OK;

	if (!arena->dropped)
		status = home_of(arena->heap, arena->stream, &home);
	if (home && status == GPUMEM_OK)
		status = gm_arena_come_after(home, stream);
	if (home && status == GPUMEM_OK) {
		go_home(home, arena);
		return GPUMEM_OK;
	}
	/* A stream that is none any more waits for nothing. */
	if (status != GPUMEM_OK && status != GPUMEM_INVALID)
		return status;
	status = gm_arena_publish(arena, stream);
	if (status == GPUMEM_OK)
		gm_slabs_orphan(arena);
	return status;
}
