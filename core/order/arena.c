/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Free memory by stream: what is free, and what joins it. See arena.h; where a
 * block is cut from it: fit.c. */
#include "order.h"
#include "base/error.h"

#include <stdlib.h>

struct gm_arena *gm_arena_find(struct gm_heap *heap, gpumem_stream stream)
{
	struct gm_arena *arena = heap->order->private_arenas;

	while (arena && (arena->stream != stream || !arena->routed))
		arena = arena->next;
	return arena ? arena : gm_arenas_of_stream(heap->order, stream);
}

struct gm_arena *gm_arena_find_fate(struct gm_heap *heap, gpumem_stream stream,
				    uint32_t fate)
{
	struct gm_arena *arena = gm_arena_find(heap, stream);

	return arena && fate && !arena->graph
		       ? gm_arenas_of_fate(heap->order, stream, fate)
		       : arena;
}

bool gm_arena_serves(const struct gm_arena *arena, gpumem_stream stream)
{
	return gm_arena_find(arena->heap, stream) == arena;
}

static gpumem_status create(struct gm_heap *heap, gpumem_stream stream,
			    struct gpumem_graph *graph, uint32_t fate,
			    struct gm_arena **arena_out)
{
	struct gm_arena *arena = calloc(1, sizeof(*arena));

	if (!arena)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a stream's bookkeeping");
	arena->heap = heap;
	arena->stream = stream;
	arena->graph = graph;
	arena->fate = fate;
	heap->order->apart |= fate != 0;
	arena->fence_frees = GM_FENCE_FREES;
	arena->idle = true;
	gm_index_init(&arena->index, &heap->nodes, heap->spans.page_bytes);
	gm_arenas_add(arena);
	*arena_out = arena;
	return GPUMEM_OK;
}

gpumem_status gm_arena_create(struct gm_heap *heap, gpumem_stream stream,
			      struct gpumem_graph *graph,
			      struct gm_arena **arena_out)
{
	return create(heap, stream, graph, 0, arena_out);
}

gpumem_status gm_arena_of_fate(struct gm_arena *arena, uint32_t fate,
			       struct gm_arena **arena_out)
{
	struct gm_heap *heap = arena->heap;
	gpumem_stream stream = arena->stream;

	*arena_out = gm_arenas_of_fate(heap->order, stream, fate);
	return *arena_out ? GPUMEM_OK
			  : create(heap, stream, NULL, fate, arena_out);
}

bool gm_arenas_mix(const struct gm_arena *a, const struct gm_arena *b)
{
	return a->fate == b->fate || a->heap->order->mixed;
}

struct gm_arena *gm_arena_receiver(struct gm_arena *receiver,
				   const struct gm_arena *of)
{
	if (!gm_arenas_mix(receiver, of) &&
	    gm_arena_of_fate(receiver, of->fate, &receiver) != GPUMEM_OK)
		return NULL;
	return receiver;
}

/* What else the driver may say is no reason to refuse a stream. */
static gpumem_status check_stream(struct gm_heap *heap, gpumem_stream stream)
{
	uint64_t id;

	if (stream &&
	    gm_driver_capture_id(&heap->driver, stream, &id) == GPUMEM_INVALID)
		return GPUMEM_INVALID;
	return GPUMEM_OK;
}

gpumem_status gm_arena_named(struct gm_heap *heap, gpumem_stream stream,
			     struct gpumem_graph *graph,
			     struct gm_arena **arena_out)
{
	gpumem_status status;

	*arena_out = graph ? gm_arenas_of_graph(heap->order, graph, stream)
			   : gm_arenas_of_stream(heap->order, stream);
	if (*arena_out)
		return GPUMEM_OK;
	status = check_stream(heap, stream);
	return status == GPUMEM_OK
		       ? gm_arena_create(heap, stream, graph, arena_out)
		       : status;
}

gpumem_status gm_arena_of(struct gm_heap *heap, gpumem_stream stream,
			  struct gm_arena **arena_out)
{
	*arena_out = gm_arena_find(heap, stream);
	return *arena_out ? GPUMEM_OK
			  : gm_arena_named(heap, stream, NULL, arena_out);
}

static bool joins(const struct gm_extent *a, const struct gm_extent *b)
{
	return b && gm_extent_is(b, GM_EXTENT_FREE) && b->arena == a->arena;
}

/* Pages that begin or end in a part that has joined the extent. */
static void settle_ends(struct gm_arena *arena, const struct gm_extent *extent,
			uintptr_t part, size_t bytes)
{
	struct gm_spans *spans = &arena->heap->spans;
	uintptr_t end = part + bytes;

	if (extent->bytes == bytes)
		return;
	if (part & (spans->page_bytes - 1))
		gm_pages_settle(spans, extent, part, 1);
	if (end & (spans->page_bytes - 1))
		gm_pages_settle(spans, extent, end - 1, 1);
}

struct gm_extent *gm_arena_insert(struct gm_arena *arena,
				  struct gm_extent *extent)
{
	struct gm_nodes *nodes = &arena->heap->nodes;
	struct gm_extent *next = gm_extent_next(nodes, extent);
	struct gm_extent *prev = gm_extent_prev(nodes, extent);
	uintptr_t part = extent->address;
	size_t bytes = extent->bytes;
	uint64_t seqno = extent->seqno;

	gm_extent_set(extent, GM_EXTENT_FREE);
	gm_extent_move(extent, arena);
	if (joins(extent, next)) {
		if (next->seqno > seqno)
			seqno = next->seqno;
		gm_index_remove(&arena->index, next);
		gm_extent_join(nodes, extent);
	}
	if (joins(extent, prev)) {
		extent = prev;
		if (extent->seqno > seqno)
			seqno = extent->seqno;
		gm_index_remove(&arena->index, extent);
		gm_extent_join(nodes, extent);
	}
	gm_extent_set_seqno(extent, seqno);
	settle_ends(arena, extent, part, bytes);
	gm_index_insert(&arena->index, extent);
	gm_arenas_stock(arena);
	return extent;
}

/* As if the arena had freed it just now; for a dropped stream, when that was
 * dropped. A block of such a stream may have grown since over memory that
 * another one freed later: that is completed, so its number is lowered. */
void gm_arena_renumber(struct gm_arena *arena, struct gm_extent *extent)
{
	struct gm_spans *spans = &arena->heap->spans;

	gm_extent_set_seqno(extent, arena->seqno);
	gm_pages_touch(spans, extent);
	if (arena->dropped)
		gm_pages_settle(spans, extent, extent->address, extent->bytes);
}

/* What lies beside a free extent joins it, so that the memory of several
 * streams falls into no more pieces than that of one. For a stream that is busy
 * only what it comes after: others would wait for it. */
static struct gm_extent *absorb_neighbours(struct gm_arena *arena,
					   struct gm_extent *extent)
{
	const struct gm_nodes *nodes = &arena->heap->nodes;
	unsigned among = arena->idle ? GM_TERMS_DONE : GM_TERMS_AFTER;
	struct gm_extent *beside;

	while (gm_transfer_terms(arena, beside = gm_extent_next(nodes, extent),
				 among) ||
	       gm_transfer_terms(arena, beside = gm_extent_prev(nodes, extent),
				 among)) {
		gm_index_remove(&beside->arena->index, beside);
		gm_transfer_number(arena, beside, (enum gm_terms)among);
		extent = gm_arena_insert(arena, beside);
	}
	return extent;
}

struct gm_extent *gm_arena_release(struct gm_arena *arena,
				   struct gm_extent *extent)
{
	struct gm_heap *heap = arena->heap;

	/* The last fence of a dropped stream stands for all that it did. */
	if (!arena->dropped)
		arena->seqno = ++heap->seqno;
	gm_arena_renumber(arena, extent);
	extent = gm_arena_insert(arena, extent);
	if ((arena->idle || arena->follows) && !arena->dropped && !arena->graph)
		extent = absorb_neighbours(arena, extent);
	gm_arena_count_free(arena);
	return extent;
}
