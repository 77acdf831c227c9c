/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a block is made of: a slot of a slab, or an extent of its own. Where the
 * memory comes from is ladder.h's business. Under the mutex.
 */
#include "lookup.h"
#include "cache/hot.h"
#include "extent/map.h"

static gpumem_status take_large(struct gm_heap *heap, struct gm_arena *arena,
				struct gm_attempt *attempt,
				const struct gm_request *request,
				void **ptr_out)
{
	const struct gm_want want = {
		.bytes = gm_heap_large_bytes(heap, request->bytes),
		.alignment = request->alignment > heap->unit
				     ? request->alignment
				     : heap->unit,
		.flags = request->flags};
	struct gm_extent *extent;
	gpumem_status status;

	status = gm_ladder_take(arena, attempt, &want, &extent);
	if (status != GPUMEM_OK || !extent)
		return status;
	gm_extent_set(extent, GM_EXTENT_LARGE);
	gm_extent_move(extent, arena);
	extent->requested = request->bytes;
	gm_extent_set_heap(extent, heap);
	gm_extent_clear_more(extent);
	gm_map_set(extent->address, (uintptr_t)extent);
	gm_counters_alloc(&heap->counters, request->bytes, extent->bytes);
	if (request->holds_out)
		*request->holds_out = extent->bytes;
	*ptr_out = (void *)extent->address;
	return GPUMEM_OK;
}

/* A slab in an extent that was found. While the mutex was released the arena
 * may have become another's than the stream's, and the thread's cache nobody's:
 * *local is what it has now; NULL: begin anew. */
static gpumem_status make_slab(struct gm_arena *arena, unsigned class_index,
			       struct gm_extent *extent,
			       struct gm_local **local)
{
	bool same = gm_arena_find(arena->heap, arena->stream) == arena;
	gpumem_status status = GPUMEM_OK;

	*local = NULL;
	if (same)
		status = gm_local_of(arena->heap, arena, local);
	if (same && status == GPUMEM_OK)
		status = gm_slab_create(arena, class_index, extent);
	if (!same || status != GPUMEM_OK)
		(void)gm_arena_insert(arena, extent);
	return status;
}

/* Ready slots of the class: from slabs, from slabs after pending blocks came
 * back, or the stream waits for what uses them, or from a new slab. *local
 * NULL: begin anew. */
static gpumem_status refill(struct gm_heap *heap, struct gm_attempt *attempt,
			    struct gm_local **local, unsigned class_index,
			    const struct gm_request *request)
{
	const struct gm_want want = gm_heap_want(heap, request);
	struct gm_arena *arena = (*local)->arena;
	struct gm_extent *extent;
	gpumem_status status;

	attempt->served = GPUMEM_SERVED_CACHE;
	if ((*local)->bin[class_index].count)
		return GPUMEM_OK;
	attempt->served = GPUMEM_SERVED_OWN;
	if (gm_local_refill(*local, class_index))
		return GPUMEM_OK;
	attempt->served = GPUMEM_SERVED_PENDING;
	if (gm_pending_poll_some(heap) && gm_local_refill(*local, class_index))
		return GPUMEM_OK;
	attempt->served = GPUMEM_SERVED_BEHIND;
	if (gm_heap_get_behind_early(arena, attempt, &want) &&
	    gm_local_refill(*local, class_index))
		return GPUMEM_OK;
	*local = NULL;
	status = gm_ladder_take(arena, attempt, &want, &extent);
	if (status == GPUMEM_OK && extent)
		status = make_slab(arena, class_index, extent, local);
	if (*local)
		(void)gm_local_refill(*local, class_index);
	return status;
}

static gpumem_status take_small(struct gm_heap *heap, struct gm_arena *arena,
				struct gm_attempt *attempt,
				const struct gm_request *request,
				void **ptr_out)
{
	unsigned index = gm_class_aligned(&heap->classes, request->bytes,
					  request->alignment);
	struct gm_local *local;
	gpumem_status status = gm_local_of(heap, arena, &local);

	if (status == GPUMEM_OK)
		status = refill(heap, attempt, &local, index, request);
	if (status != GPUMEM_OK || !local)
		return status;
	*ptr_out = gm_local_pop(local, &heap->classes.of[index], index,
				request->bytes, 0);
	return GPUMEM_OK;
}

/* A slot of any size class that is large enough. */
static void *take_any_slot(struct gm_local *local,
			   const struct gm_request *request)
{
	const struct gm_classes *classes = &local->arena->heap->classes;
	size_t bytes = request->bytes;

	while (bytes <= GM_SMALL_MAX) {
		unsigned index =
			gm_class_aligned(classes, bytes, request->alignment);
		const struct gm_class *class = &classes->of[index];

		if (local->bin[index].count || gm_local_refill(local, index)) {
			if (request->holds_out)
				*request->holds_out = class->bytes;
			return gm_local_pop(local, class, index, request->bytes,
					    0);
		}
		bytes = class->bytes + 1;
	}
	return NULL;
}

/* For a small request for which no run fits: a larger slot or a large block. */
static gpumem_status take_larger(struct gm_heap *heap, struct gm_arena *arena,
				 struct gm_attempt *attempt,
				 const struct gm_request *request,
				 void **ptr_out)
{
	struct gm_local *local;
	gpumem_status status = gm_local_of(heap, arena, &local);

	if (status != GPUMEM_OK)
		return status;
	*ptr_out = take_any_slot(local, request);
	if (*ptr_out)
		return GPUMEM_OK;
	return take_large(heap, arena, attempt, request, ptr_out);
}

/* What is large has the pages of its fate. A graph's memory is the graph's. */
gpumem_status gm_heap_arena(struct gm_heap *heap,
			    const struct gm_request *request,
			    struct gm_arena **arena_out)
{
	gpumem_status status = gm_arena_of(heap, request->stream, arena_out);
	uint32_t fate = gm_tag_fate(request->tag);

	if (status != GPUMEM_OK || !fate || gm_request_is_small(request) ||
	    (*arena_out)->graph || !gm_space_has_pages(heap))
		return status;
	return gm_arena_of_fate(*arena_out, fate, arena_out);
}

/* A block of the arena. *ptr_out stays NULL: begin anew. */
typedef gpumem_status (*take_fn)(struct gm_heap *heap, struct gm_arena *arena,
				 struct gm_attempt *attempt,
				 const struct gm_request *request,
				 void **ptr_out);

gpumem_status gm_heap_take(struct gm_heap *heap, struct gm_attempt *attempt,
			   const struct gm_request *request, void **ptr_out)
{
	take_fn take = gm_request_is_small(request) ? take_small : take_large;
	struct gm_arena *arena;
	gpumem_status status;
	void *ptr = NULL;
	bool more;

	do {
		gm_locals_fold_own(heap, request->bytes);
		status = gm_heap_arena(heap, request, &arena);
		if (status != GPUMEM_OK)
			return status;
		status = take(heap, arena, attempt, request, &ptr);
		more = take != take_larger && request->larger &&
		       (status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT);
		if (more)
			take = take_larger;
	} while (more || (status == GPUMEM_OK && !ptr));
	if (status == GPUMEM_OK)
		*ptr_out = ptr;
	return status;
}
