/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The live block that holds an address. First the pool whose span has it, then
 * the nearest block below that the map of addresses knows, then from extent to
 * extent: a few steps, but up to one look per 64 KiB of a block that is large.
 */
#include "pool.h"
#include "extent/map.h"
#include "base/error.h"
#include "base/fork.h"

static const struct gm_span *span_of(const struct gm_heap *heap,
				     uintptr_t address)
{
	const struct gm_span *span = heap->spans.first;

	while (span && address - span->address >= span->bytes)
		span = span->next;
	return span;
}

/* What the map of addresses knows at or below an address, begins at or below
 * it, and lies in the span; or the span's first extent. The 16 KiB where a
 * segment ends may be known for a block of the next one. */
static const struct gm_extent *extent_below(const struct gm_span *span,
					    uintptr_t address)
{
	uintptr_t known = gm_map_find_below(address, span->address);

	while (known) {
		uintptr_t entry = gm_map_get(known);
		const struct gm_slab *slab = gm_slab_of_entry(entry);
		const struct gm_extent *extent =
			slab ? slab->extent : (const struct gm_extent *)entry;

		if (extent->address <= address)
			return extent;
		known = known > span->address
				? gm_map_find_below(known - 1, span->address)
				: 0;
	}
	return span->first;
}

static const struct gm_extent *extent_at(const struct gm_heap *heap,
					 const struct gm_span *span,
					 uintptr_t address)
{
	const struct gm_extent *extent = extent_below(span, address);

	while (extent && gm_extent_end(extent) <= address)
		extent = gm_extent_next(&heap->nodes, extent);
	return extent && extent->address <= address ? extent : NULL;
}

struct query {
	uintptr_t address;
	struct gpumem_block block;
	bool found;
};

static void describe(struct gpumem_pool *pool, struct query *query,
		     const struct gm_extent *extent)
{
	const struct gm_slab *slab;
	uint32_t slot;

	if (!gm_extent_is(extent, GM_EXTENT_RUN)) {
		gm_pool_describe(pool, extent, &query->block);
	} else {
		slab = gm_slab_of_entry(gm_map_get(extent->address));
		slot = gm_class_slot(&slab->class, (uint32_t)(query->address -
							      slab->address));
		if (slot >= slab->class.slots)
			return;
		gm_pool_describe_slot(pool, slab, slot, &query->block);
	}
	query->found = query->block.state == GPUMEM_BLOCK_LIVE;
}

static bool look(struct gpumem_pool *pool, void *user)
{
	struct query *query = user;
	const struct gm_extent *extent;
	const struct gm_span *span;

	pthread_mutex_lock(&pool->heap.mutex);
	span = span_of(&pool->heap, query->address);
	if (span) {
		extent = extent_at(&pool->heap, span, query->address);
		if (extent)
			describe(pool, query, extent);
	}
	pthread_mutex_unlock(&pool->heap.mutex);
	return !span;
}

gpumem_status gm_pool_query(const void *ptr, struct gpumem_block *block_out)
{
	struct query query = {.address = (uintptr_t)ptr};

	if (gm_forked())
		return gm_fail(GPUMEM_FORKED, "the process was forked; its "
					      "parent owns all blocks");
	gm_pools_visit(look, &query);
	if (!query.found)
		return gm_fail(GPUMEM_BAD_POINTER,
			       "%p lies in no live block of any pool", ptr);
	*block_out = query.block;
	return GPUMEM_OK;
}
