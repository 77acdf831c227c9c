/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The lower part of the ladder: everything that can be had without asking
 * anybody's help, cheapest source first. Under the heap's mutex.
 */
#include "pool.h"
#include "cache/hot.h"
#include "extent/map.h"
#include "base/error.h"

/* What an allocation may need: two cuts, and one for a merge that growing does
 * before. */
enum { NODES_NEEDED = 4 };

static void purge_slabs(struct gm_heap *heap)
{
	struct gm_arena *arena = heap->order->arenas;

	for (; arena; arena = arena->next)
		gm_slabs_purge(arena);
}

/* What can be had before other threads lose what they have ready: with many of
 * them each would take it from the next for ever. Or NULL. */
static struct gm_extent *find_quietly(struct gm_heap *heap,
				      struct gm_arena *arena, size_t bytes,
				      size_t alignment)
{
	struct gm_extent *extent;

	gm_locals_flush_own(heap);
	gm_slabs_purge(arena);
	if ((extent = gm_arena_fit(arena, bytes, alignment)))
		return extent;
	if ((!arena->graph &&
	     gm_arenas_borrow(heap, arena, bytes, alignment)) ||
	    (gm_budget_has_slack(heap, bytes) &&
	     !gm_space_grow(heap, arena, bytes, alignment)))
		return gm_arena_fit(arena, bytes, alignment);
	return NULL;
}

/* Free memory of at least `bytes` in `arena`, found or made. */
static gpumem_status find(struct gm_heap *heap, struct gm_arena *arena,
			  size_t bytes, size_t alignment,
			  struct gm_extent **extent_out)
{
	gpumem_status status;

	/* the stream's own free blocks */
	if ((*extent_out = gm_arena_fit(arena, bytes, alignment)))
		return GPUMEM_OK;
	/* pending ones that are done */
	if (gm_pending_poll(heap) &&
	    (*extent_out = gm_arena_fit(arena, bytes, alignment)))
		return GPUMEM_OK;
	if (gm_locals_others(heap) &&
	    (*extent_out = find_quietly(heap, arena, bytes, alignment)))
		return GPUMEM_OK;
	/* the caches of threads */
	gm_locals_stop(heap);
	gm_locals_flush(heap);
	gm_locals_go(heap);
	purge_slabs(heap);
	if ((*extent_out = gm_arena_fit(arena, bytes, alignment)))
		return GPUMEM_OK;
	/* other streams' free blocks: not for good, to a graph */
	if (!arena->graph)
		gm_heap_adopt(heap, arena);
	if ((*extent_out = gm_arena_fit(arena, bytes, alignment)))
		return GPUMEM_OK;
	/* pages from holes, or from the driver */
	status = gm_space_grow(heap, arena, bytes, alignment);
	if (!status)
		*extent_out = gm_arena_fit(arena, bytes, alignment);
	return status;
}

/* An extent of exactly `bytes`, out of the free ones. */
static gpumem_status take(struct gm_heap *heap, struct gm_arena *arena,
			  size_t bytes, size_t alignment,
			  struct gm_extent **extent_out)
{
	struct gm_extent *extent;
	gpumem_status status;

	gm_locals_flush_huge(heap);
	status = find(heap, arena, bytes, alignment, &extent);
	if (!status)
		status = gm_nodes_reserve(&heap->nodes, NODES_NEEDED);
	if (!status)
		*extent_out = gm_arena_carve(extent, bytes, alignment);
	return status;
}

static gpumem_status try_large(struct gm_heap *heap, struct gm_arena *arena,
			       const struct gm_request *request, void **ptr_out)
{
	size_t bytes = (request->bytes + heap->unit - 1) & ~(heap->unit - 1);
	size_t alignment = request->alignment;
	struct gm_extent *extent;
	gpumem_status status;

	/* The map of addresses knows one large block per granule. */
	if (bytes <= GM_SMALL_MAX)
		bytes = GM_SMALL_MAX + heap->unit;
	if (alignment < heap->unit)
		alignment = heap->unit;
	status = take(heap, arena, bytes, alignment, &extent);
	if (status)
		return status;
	gm_extent_set(extent, GM_EXTENT_LARGE);
	extent->arena = arena;
	extent->requested = request->bytes;
	extent->heap = heap;
	extent->shared = false;
	gm_map_set(extent->address, (uintptr_t)extent);
	gm_books_alloc(&heap->books, request->bytes, extent->bytes);
	*ptr_out = (void *)extent->address;
	return GPUMEM_OK;
}

/* Ready slots of the class: from slabs, from slabs after pending blocks came
 * back, or from a new slab. */
static gpumem_status refill(struct gm_heap *heap, struct gm_local *local,
			    unsigned class_index)
{
	const struct gm_class *class = &heap->classes.of[class_index];
	struct gm_extent *extent;
	gpumem_status status;

	if (local->bin[class_index].count ||
	    gm_local_refill(local, class_index))
		return GPUMEM_OK;
	if (gm_pending_poll(heap) && gm_local_refill(local, class_index))
		return GPUMEM_OK;
	status = take(heap, local->arena, class->run_bytes, GM_RUN_UNIT,
		      &extent);
	if (status)
		return status;
	status = gm_slab_create(local->arena, class_index, extent);
	if (status) {
		gm_arena_insert(local->arena, extent);
		return status;
	}
	(void)gm_local_refill(local, class_index);
	return GPUMEM_OK;
}

static gpumem_status try_small(struct gm_heap *heap, struct gm_arena *arena,
			       const struct gm_request *request, void **ptr_out)
{
	unsigned index = gm_class_aligned(&heap->classes, request->bytes,
					  request->alignment);
	struct gm_local *local;
	gpumem_status status = gm_local_of(heap, arena, &local);

	if (!status)
		status = refill(heap, local, index);
	if (status)
		return status;
	*ptr_out = gm_local_pop(local, index, heap->classes.of[index].bytes,
				request->bytes);
	return GPUMEM_OK;
}

gpumem_status gm_pool_try(struct gpumem_pool *pool,
			  const struct gm_request *request, void **ptr_out)
{
	struct gm_heap *heap = &pool->heap;
	struct gm_arena *arena;
	gpumem_status status;

	gm_locals_fold_own(heap);
	status = gm_arena_of(heap, request->stream, &arena);
	if (status)
		return status;
	if (request->bytes <= GM_SMALL_MAX &&
	    request->alignment <= GM_SMALL_MAX)
		return try_small(heap, arena, request, ptr_out);
	return try_large(heap, arena, request, ptr_out);
}
