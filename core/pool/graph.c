/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of captured graphs. A graph uses the addresses that its capture saw
 * each time that it is launched, also those of blocks that were freed before
 * the capture ended. So what is allocated for it comes out of arenas of its
 * own, one per stream, that nothing leaves until the graph goes: no other
 * stream takes from them, no page is moved out of them or given back. Then each
 * arena's memory goes back to its stream (order/private.c).
 */
#include "pool.h"
#include "base/error.h"

#include <stdlib.h>

struct gpumem_graph {
	struct gpumem_pool *pool;
	struct gpumem_graph *next; /* of the pool; under the heap's mutex */
};

gpumem_status gm_graph_create(struct gpumem_pool *pool,
			      struct gpumem_graph **graph_out)
{
	struct gpumem_graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a graph's bookkeeping");
	graph->pool = pool;
	pthread_mutex_lock(&pool->heap.mutex);
	graph->next = pool->graphs;
	pool->graphs = graph;
	pthread_mutex_unlock(&pool->heap.mutex);
	*graph_out = graph;
	return GPUMEM_OK;
}

/* No thread keeps blocks of one arena ready when the stream gets another. */
static void switch_to(struct gm_heap *heap, gpumem_stream stream,
		      struct gm_arena *arena, bool routed)
{
	const struct gm_arena *before = gm_arena_find(heap, stream);

	if (before)
		gm_locals_drop(heap, before);
	arena->routed = routed;
}

static gpumem_status begin(struct gpumem_graph *graph, gpumem_stream stream)
{
	struct gm_heap *heap = &graph->pool->heap;
	struct gm_arena *arena = gm_arena_find(heap, stream);
	gpumem_status status;

	if (arena && arena->graph)
		return gm_fail(GPUMEM_BUSY,
			       "the blocks of that stream go to a graph "
			       "already");
	status = gm_arena_named(heap, stream, graph, &arena);
	if (status == GPUMEM_OK)
		switch_to(heap, stream, arena, true);
	return status;
}

gpumem_status gm_graph_begin(struct gpumem_graph *graph, gpumem_stream stream)
{
	gpumem_status status;

	gm_heap_stop(&graph->pool->heap);
	gm_locals_flush(&graph->pool->heap);
	status = begin(graph, stream);
	gm_heap_go(&graph->pool->heap);
	return status;
}

gpumem_status gm_graph_end(struct gpumem_graph *graph, gpumem_stream stream)
{
	struct gm_heap *heap = &graph->pool->heap;
	gpumem_status status = GPUMEM_OK;
	struct gm_arena *arena;

	gm_heap_stop(&graph->pool->heap);
	gm_locals_flush(heap);
	arena = gm_arenas_of_graph(heap->order, graph, stream);
	if (arena && arena->routed)
		switch_to(heap, stream, arena, false);
	else
		status = gm_fail(GPUMEM_INVALID,
				 "the blocks of that stream do not go to this "
				 "graph");
	gm_heap_go(&graph->pool->heap);
	return status;
}

static void unlink_graph(struct gpumem_graph *graph)
{
	struct gpumem_graph **link = &graph->pool->graphs;

	while (*link != graph)
		link = &(*link)->next;
	*link = graph->next;
}

static bool is_routed(const struct gpumem_graph *graph)
{
	const struct gm_arena *arena = graph->pool->heap.order->private_arenas;

	for (; arena; arena = arena->next)
		if (arena->graph == graph && arena->routed)
			return true;
	return false;
}

static bool has_away(const struct gpumem_graph *graph)
{
	const struct gm_heap *heap = &graph->pool->heap;
	const struct gm_extent *extent =
		heap->space->away.pages ? gm_heap_first(heap) : NULL;

	for (; extent; extent = gm_heap_next(heap, extent))
		if (extent->arena && extent->arena->graph == graph &&
		    gm_pages_touch_away(&heap->spans, extent->address,
					extent->bytes))
			return true;
	return false;
}

/* What has gone home when one of its streams refuses stays there: no graph uses
 * the memory any more. */
static gpumem_status release(struct gpumem_graph *graph, gpumem_stream stream)
{
	struct gm_heap *heap = &graph->pool->heap;
	struct gm_arena *arena = heap->order->private_arenas, *next;

	for (; arena; arena = next) {
		gpumem_status status;

		next = arena->next;
		if (arena->graph != graph)
			continue;
		status = gm_heap_return(arena, stream);
		if (status != GPUMEM_OK)
			return status;
	}
	return GPUMEM_OK;
}

gpumem_status gm_graph_destroy(struct gpumem_graph *graph, gpumem_stream stream)
{
	struct gpumem_pool *pool = graph->pool;
	gpumem_status status;

	gm_heap_stop(&pool->heap);
	gm_locals_flush(&pool->heap);
	if (is_routed(graph))
		status = gm_fail(GPUMEM_BUSY,
				 "blocks of a stream still go to this graph");
	else if (gm_heap_capturing(&pool->heap, stream))
		status = gm_fail(GPUMEM_CAPTURING,
				 "a stream that is being captured cannot tell "
				 "when the graph's work is over");
	else if (has_away(graph))
		status = gm_fail(GPUMEM_BUSY, "memory of this graph is asleep: "
					      "gpumem_pool_wake() it first");
	else
		status = release(graph, stream);
	if (status == GPUMEM_OK)
		unlink_graph(graph);
	gm_heap_go(&pool->heap);
	if (status == GPUMEM_OK)
		free(graph);
	return status;
}

void gm_graphs_forget(struct gpumem_pool *pool)
{
	while (pool->graphs) {
		struct gpumem_graph *graph = pool->graphs;

		pool->graphs = graph->next;
		free(graph);
	}
}
