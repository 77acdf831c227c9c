/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The walks: visit every block, and check everything. */
#include "pool.h"
#include "extent/map.h"

/* What is known of a live block besides. */
static void describe_tracked(const struct gm_policy *policy,
			     struct gpumem_block *block)
{
	const struct gm_track_entry *entry =
		gm_track_find(&policy->track, (uintptr_t)block->ptr);

	if (!entry)
		return;
	block->serial = entry->serial;
	block->age_ns = gm_track_now() - entry->time_ns;
	block->thread = entry->thread;
	if (!entry->stack)
		return;
	block->frames = entry->stack->frame;
	block->frame_count = entry->stack->count;
}

void gm_pool_describe(struct gpumem_pool *pool, const struct gm_extent *extent,
		      struct gpumem_block *block)
{
	*block = (struct gpumem_block){
		.size = sizeof(*block),
		.ptr = (void *)extent->address,
		.bytes = extent->bytes,
		.stream = extent->arena ? extent->arena->stream : NULL,
		.pool = pool,
		.kind = pool->heap.driver.kind,
	};
	switch (gm_extent_state(extent)) {
	case GM_EXTENT_LARGE:
		block->state = GPUMEM_BLOCK_LIVE;
		block->requested_bytes = extent->requested;
		block->tag = gm_extent_more(extent) & GM_MORE_TAG;
		describe_tracked(pool->heap.policy, block);
		break;
	case GM_EXTENT_PENDING:
		block->state = GPUMEM_BLOCK_PENDING;
		break;
	case GM_EXTENT_HOLE:
	case GM_EXTENT_FILLING:
	case GM_EXTENT_STALE:
	case GM_EXTENT_RETIRING:
	case GM_EXTENT_ASLEEP:
		block->state = GPUMEM_BLOCK_HOLE;
		break;
	case GM_EXTENT_FREE:
	case GM_EXTENT_RELEASING:
	case GM_EXTENT_CACHED:
	case GM_EXTENT_RUN:
		block->state = GPUMEM_BLOCK_FREE;
		break;
	}
}

void gm_pool_describe_slot(struct gpumem_pool *pool, const struct gm_slab *slab,
			   uint32_t slot, struct gpumem_block *block)
{
	uint32_t mark = atomic_load(gm_slab_mark(slab, slot));

	gm_pool_describe(pool, slab->extent, block);
	block->ptr =
		(void *)(slab->address + (uintptr_t)slot * slab->class.bytes);
	block->bytes = slab->class.bytes;
	if (mark == GM_MARK_PENDING) {
		block->state = GPUMEM_BLOCK_PENDING;
	} else if (mark) {
		block->state = GPUMEM_BLOCK_LIVE;
		block->requested_bytes = gm_mark_bytes(mark);
		block->tag = gm_slab_more(slab, slot) & GM_MORE_TAG;
		describe_tracked(pool->heap.policy, block);
	}
}

typedef bool (*visit_fn)(const struct gpumem_block *block, void *user);

/* The slots, and what is left at the end of the run. */
static bool visit_run(struct gpumem_pool *pool, const struct gm_extent *run,
		      visit_fn fn, void *user)
{
	const struct gm_slab *slab = gm_slab_of_entry(gm_map_get(run->address));
	struct gpumem_block block;
	size_t used = (size_t)slab->class.slots * slab->class.bytes;

	for (uint32_t i = 0; i < slab->class.slots; i++) {
		gm_pool_describe_slot(pool, slab, i, &block);
		if (!fn(&block, user))
			return false;
	}
	if (used == run->bytes)
		return true;
	gm_pool_describe(pool, run, &block);
	block.ptr = (void *)(run->address + used);
	block.bytes = run->bytes - used;
	return fn(&block, user);
}

void gm_block_visit_stopped(struct gpumem_pool *pool, visit_fn fn, void *user)
{
	const struct gm_extent *extent = gm_heap_first(&pool->heap);
	bool go_on = true;

	for (; extent && go_on; extent = gm_heap_next(&pool->heap, extent)) {
		struct gpumem_block block;

		if (gm_extent_is(extent, GM_EXTENT_RUN)) {
			go_on = visit_run(pool, extent, fn, user);
			continue;
		}
		gm_pool_describe(pool, extent, &block);
		go_on = fn(&block, user);
	}
}

gpumem_status gm_block_visit(struct gpumem_pool *pool, visit_fn fn, void *user)
{
	gm_heap_stop(&pool->heap);
	gm_block_visit_stopped(pool, fn, user);
	gm_heap_go(&pool->heap);
	return GPUMEM_OK;
}

gpumem_status gm_pool_check(struct gpumem_pool *pool)
{
	gpumem_status status;

	gm_heap_stop(&pool->heap);
	status = gm_heap_check(&pool->heap);
	gm_heap_go(&pool->heap);
	return status;
}
