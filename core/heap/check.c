/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The invariants of the heap's headers as a walk: every equation that stands
 * beside a struct is computed again from the ground. For tests and for
 * gpumem_pool_check(); it changes nothing.
 */
#include "heap.h"
#include "extent/check.h"
#include "pages/pages.h"

typedef unsigned long long ull;

static gpumem_status check_hole(const struct gm_heap *heap,
				const struct gm_extent *extent)
{
	const struct gm_extent *next = gm_extent_next(&heap->nodes, extent);

	EXPECT(extent->address % heap->page_bytes == 0 &&
		       extent->bytes % heap->page_bytes == 0,
	       "the hole at %#zx is no whole pages", extent->address);
	EXPECT(!next || !gm_extent_is(next, GM_EXTENT_HOLE),
	       "two holes meet at %#zx", gm_extent_end(extent));
	return GPUMEM_OK;
}

/* The next extent goes on where this one ends. */
static gpumem_status check_links(const struct gm_nodes *nodes,
				 const struct gm_extent *extent)
{
	const struct gm_extent *next;

	EXPECT(extent->bytes, "an extent at %#zx is empty", extent->address);
	EXPECT(extent->next < nodes->fresh && extent->prev < nodes->fresh,
	       "the extent at %#zx has links to nodes that were never taken",
	       extent->address);
	next = gm_extent_next(nodes, extent);
	EXPECT(!next || gm_extent_prev(nodes, next) == extent,
	       "the extents at %#zx are not linked both ways", extent->address);
	EXPECT(!next || next->address == gm_extent_end(extent),
	       "a gap follows the extent at %#zx", extent->address);
	return GPUMEM_OK;
}

static gpumem_status check_free(const struct gm_heap *heap,
				const struct gm_extent *extent,
				struct gm_tally *tally)
{
	const struct gm_extent *next = gm_extent_next(&heap->nodes, extent);

	EXPECT(!next || !gm_extent_is(next, GM_EXTENT_FREE) ||
		       next->arena != extent->arena,
	       "free extents at %#zx were not merged", extent->address);
	EXPECT(extent->seqno <= extent->arena->seqno,
	       "the extent at %#zx was freed in the future", extent->address);
	EXPECT(!gm_extent_heap(extent),
	       "the free extent at %#zx has a heap where its number stands",
	       extent->address);
	tally->free_bytes += extent->bytes;
	tally->free_count++;
	return heap->space->model->check_free(heap, extent, tally);
}

/* Freed where a sleep took memory. */
static gpumem_status check_asleep(const struct gm_heap *heap,
				  const struct gm_extent *extent,
				  struct gm_tally *tally)
{
	EXPECT(!extent->arena || extent->arena->graph,
	       "what is free and asleep at %#zx is a stream's",
	       extent->address);
	EXPECT(!gm_extent_heap(extent),
	       "the extent at %#zx sleeps, and has a heap where its number "
	       "stands",
	       extent->address);
	tally->parked_bytes +=
		extent->bytes - gm_pages_gone_bytes(&heap->spans,
						    extent->address,
						    extent->bytes);
	return GPUMEM_OK;
}

static gpumem_status check_extent(const struct gm_heap *heap,
				  const struct gm_extent *extent,
				  struct gm_tally *tally)
{
	gpumem_status status = check_links(&heap->nodes, extent);

	if (status != GPUMEM_OK)
		return status;
	tally->extents++;
	switch (gm_extent_state(extent)) {
	case GM_EXTENT_HOLE:
		tally->unreleasable_bytes += extent->bytes;
		tally->hole_count++;
		return check_hole(heap, extent);
	case GM_EXTENT_FREE:
		return check_free(heap, extent, tally);
	case GM_EXTENT_LARGE:
		EXPECT(gm_map_get(extent->address) == (uintptr_t)extent,
		       "the map does not lead to the block at %#zx",
		       extent->address);
		EXPECT(extent->requested <= extent->bytes,
		       "the block at %#zx is too small", extent->address);
		tally->requested += extent->requested;
		tally->allocated += extent->bytes;
		tally->blocks++;
		tally->sleeping += gm_pages_gone_bytes(
			&heap->spans, extent->address, extent->bytes);
		return gm_check_more(heap, gm_extent_more(extent),
				     extent->requested, tally);
	case GM_EXTENT_CACHED:
		EXPECT(gm_map_get(extent->address) == (uintptr_t)extent,
		       "the map does not lead to the ready block at %#zx",
		       extent->address);
		EXPECT(!gm_extent_more(extent),
		       "the ready block at %#zx has more", extent->address);
		tally->ready_bytes += extent->bytes;
		return GPUMEM_OK;
	case GM_EXTENT_PENDING:
		tally->pending += extent->bytes;
		return GPUMEM_OK;
	case GM_EXTENT_RUN:
		return gm_check_slab(heap, extent, tally);
	case GM_EXTENT_ASLEEP:
		return check_asleep(heap, extent, tally);
	case GM_EXTENT_RELEASING:
		tally->releasing_bytes += extent->bytes;
		return gm_check_borders(heap, extent);
	case GM_EXTENT_STALE:
	case GM_EXTENT_RETIRING:
		tally->stale_bytes += extent->bytes;
		tally->stale_count++;
		return gm_check_borders(heap, extent);
	case GM_EXTENT_FILLING:
		if (!heap->space->growth.on)
			break;
		tally->filling_bytes += gm_pages_unmapped_bytes(heap, extent);
		return GPUMEM_OK;
	}
	return gm_fail(GPUMEM_CORRUPT, "the extent at %#zx has state %d",
		       extent->address, (int)gm_extent_state(extent));
}

/* Nothing more is recorded for it, so what it did is over or has its event. */
static gpumem_status check_dropped(const struct gm_arena *arena)
{
	unsigned newest =
		(arena->fence_first + arena->fence_count + GM_FENCES - 1) %
		GM_FENCES;

	EXPECT(!arena->dropped || arena->completed == arena->seqno ||
		       !gm_device_has(arena->heap->driver.device,
				      GPUMEM_CAP_STREAMS) ||
		       (arena->fence_count &&
			arena->fence[newest].seqno == arena->seqno),
	       "no event covers the work of the stream %p, which is gone",
	       arena->stream);
	return GPUMEM_OK;
}

static gpumem_status check_indexes(const struct gm_heap *heap,
				   const struct gm_tally *tally)
{
	const struct gm_arena *arena = gm_arena_first(heap);
	uint64_t bytes = 0, count = 0;

	for (; arena; arena = gm_arena_after(heap, arena)) {
		gpumem_status status = gm_check_index(&arena->index, arena);

		if (status == GPUMEM_OK)
			status = check_dropped(arena);
		if (status != GPUMEM_OK)
			return status;
		bytes += arena->index.bytes;
		count += arena->index.count;
		EXPECT(arena->graph || arena->stocked || !arena->index.count,
		       "a stream has %llu free bytes that others do not find",
		       (ull)arena->index.bytes);
		EXPECT(arena->graph || arena->dropped ||
			       gm_arenas_of_fate(heap->order, arena->stream,
						 arena->fate) == arena,
		       "the stream %p is not found", arena->stream);
		EXPECT(arena->completed <= arena->seqno &&
			       arena->seqno <= heap->seqno,
		       "a stream completed %llu of %llu frees",
		       (ull)arena->completed, (ull)arena->seqno);
	}
	EXPECT(bytes == tally->free_bytes && count == tally->free_count,
	       "%llu free bytes in %llu extents, but the indexes have %llu in "
	       "%llu",
	       (ull)tally->free_bytes, (ull)tally->free_count, (ull)bytes,
	       (ull)count);
	return GPUMEM_OK;
}

static gpumem_status check_counters(const struct gm_heap *heap,
				    const struct gm_tally *tally)
{
	const struct gm_counters *counters = &heap->counters;

	EXPECT(tally->requested == counters->requested.current &&
		       tally->allocated == counters->allocated.current &&
		       tally->blocks == counters->blocks.current,
	       "%llu blocks, %llu requested, %llu allocated; the counters say "
	       "%llu, %llu, %llu",
	       (ull)tally->blocks, (ull)tally->requested, (ull)tally->allocated,
	       (ull)counters->blocks.current, (ull)counters->requested.current,
	       (ull)counters->allocated.current);
	EXPECT(tally->pending == heap->order->pending.bytes &&
		       counters->active.current ==
			       counters->allocated.current + tally->pending,
	       "%llu bytes pending and %llu allocated, but %llu active",
	       (ull)tally->pending, (ull)counters->allocated.current,
	       (ull)counters->active.current);
	EXPECT(counters->requested.current <= counters->allocated.current &&
		       counters->allocated.current <=
			       counters->active.current &&
		       counters->active.current <=
			       counters->reserved.current +
				       counters->sleeping.current,
	       "requested %llu, allocated %llu, active %llu, reserved %llu and "
	       "sleeping %llu are out of order",
	       (ull)counters->requested.current,
	       (ull)counters->allocated.current, (ull)counters->active.current,
	       (ull)counters->reserved.current,
	       (ull)counters->sleeping.current);
	EXPECT(tally->sleeping == counters->sleeping.current &&
		       tally->parked_bytes == heap->space->away.parked_bytes,
	       "%llu bytes sleep and %llu are parked, the counters say %llu "
	       "and %llu",
	       (ull)tally->sleeping, (ull)tally->parked_bytes,
	       (ull)counters->sleeping.current,
	       (ull)heap->space->away.parked_bytes);
	EXPECT(gm_counters_served(counters) ==
		       counters->hits + counters->misses,
	       "%llu allocations were served, and there were %llu",
	       (ull)gm_counters_served(counters),
	       (ull)(counters->hits + counters->misses));
	EXPECT(!heap->space->budget.limit_bytes ||
		       counters->reserved.current <=
			       heap->space->budget.limit_bytes,
	       "%llu bytes are reserved, more than the limit",
	       (ull)counters->reserved.current);
	return GPUMEM_OK;
}

/* *bytes_out: of the cached large blocks. */
static gpumem_status check_ready(const struct gm_local *local,
				 uint64_t *bytes_out)
{
	const struct gm_cached *ready = &local->cached;
	size_t sum[2] = {0, 0};

	for (unsigned i = 0; i <= GM_CACHED_HUGE; i++)
		for (uint32_t k = 0; k < ready->set[i].count; k++) {
			size_t bytes = ready->set[i].extent[k]->bytes;

			EXPECT(gm_cached_set_number(bytes) == i,
			       "a ready block of %zu bytes is in set %u", bytes,
			       i);
			sum[i == GM_CACHED_HUGE] += bytes;
		}
	EXPECT(ready->last == gm_cached_set_number(ready->last_bytes),
	       "the last set is not that of %zu bytes", ready->last_bytes);
	EXPECT(sum[0] == local->cached.bytes && sum[0] <= GM_CACHED_BYTES,
	       "a cache holds %zu bytes and says %zu", sum[0],
	       local->cached.bytes);
	EXPECT(sum[1] == local->cached.huge_bytes,
	       "a cache holds %zu huge bytes and says %zu", sum[1],
	       local->cached.huge_bytes);
	*bytes_out = sum[0] + sum[1];
	return GPUMEM_OK;
}

/* What is out of slabs and indexes, and not live, is in caches and depots. */
static gpumem_status check_locals(const struct gm_heap *heap,
				  const struct gm_tally *tally)
{
	const struct gm_local *local = heap->caches->locals;
	const struct gm_arena *arena = gm_arena_first(heap);
	uint64_t slots = 0, bytes = 0, ready = 0;

	for (; arena; arena = gm_arena_after(heap, arena))
		for (unsigned i = 0; i < GM_CLASS_COUNT; i++)
			slots += gm_slabs_depot_count(arena, i);
	for (; local; local = local->next) {
		gpumem_status status = check_ready(local, &ready);

		if (status != GPUMEM_OK)
			return status;
		bytes += ready;
		for (unsigned i = 0; i < GM_CLASS_COUNT; i++)
			slots += local->bin[i].count;
	}
	EXPECT(tally->cached_slots == slots && tally->ready_bytes == bytes,
	       "%llu slots and %llu bytes are out, %llu and %llu in caches",
	       (ull)tally->cached_slots, (ull)tally->ready_bytes, (ull)slots,
	       (ull)bytes);
	return GPUMEM_OK;
}

gpumem_status gm_heap_check(struct gm_heap *heap)
{
	const struct gm_extent *extent = gm_heap_first(heap);
	struct gm_tally tally = {0};
	gpumem_status status = GPUMEM_OK;

	gm_check_tags_begin(heap);
	for (; extent && status == GPUMEM_OK;
	     extent = gm_heap_next(heap, extent))
		status = check_extent(heap, extent, &tally);
	if (status == GPUMEM_OK)
		status = heap->space->model->check(heap, &tally);
	if (status == GPUMEM_OK)
		status = gm_check_slabs(heap, &tally);
	if (status == GPUMEM_OK)
		status = gm_metadata_check(&heap->caches->metadata);
	if (status == GPUMEM_OK)
		status = check_indexes(heap, &tally);
	if (status == GPUMEM_OK)
		status = gm_check_nodes(&heap->nodes, tally.extents);
	if (status == GPUMEM_OK)
		status = check_counters(heap, &tally);
	if (status == GPUMEM_OK)
		status = gm_check_tags(heap);
	if (status == GPUMEM_OK)
		status = gm_check_uses(heap, &tally);
	if (status == GPUMEM_OK)
		status = gm_check_fates(heap);
	if (status == GPUMEM_OK)
		status = check_locals(heap, &tally);
	if (status == GPUMEM_OK)
		status = gm_check_parts(heap, &tally,
					gm_locals_cached_bytes(heap));
	return status;
}
