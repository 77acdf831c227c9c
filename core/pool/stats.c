/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The books, as the public struct of statistics. No driver call, and no walk
 * over live blocks. */
#include "pool.h"

static uint64_t largest_free(const struct gm_heap *heap)
{
	const struct gm_arena *arena = heap->order->arenas;
	uint64_t largest = gm_locals_huge_bytes(heap);

	for (; arena; arena = arena->next) {
		const struct gm_extent *extent =
			gm_index_largest(&arena->index);

		if (extent && extent->bytes > largest)
			largest = extent->bytes;
	}
	return largest;
}

static void copy_calls(struct gm_driver *driver, struct gpumem_stats *stats)
{
	for (unsigned i = 0; i < GPUMEM_CALL_COUNT; i++) {
		stats->calls[i].count = atomic_load(&driver->calls[i].count);
		stats->calls[i].failed = atomic_load(&driver->calls[i].failed);
		stats->calls[i].ns = atomic_load(&driver->calls[i].ns);
		stats->driver_calls += stats->calls[i].count;
		stats->driver_ns += stats->calls[i].ns;
	}
}

/* The peak is at most `most`, and as far above the true one as this says. */
static struct gpumem_gauge copy_gauge(const struct gm_gauge *gauge,
				      uint64_t most, uint64_t *bound)
{
	uint64_t peak = gauge->peak < most ? gauge->peak : most;

	if (peak - gauge->reached > *bound)
		*bound = peak - gauge->reached;
	return (struct gpumem_gauge){
		.current = gauge->current, .peak = peak, .total = gauge->total};
}

/* The law holds for peaks as well. */
static void copy_gauges(const struct gm_books *books,
			struct gpumem_stats *stats)
{
	uint64_t *bound = &stats->cache_bound_bytes, none = 0;

	stats->segments = copy_gauge(&books->segments, UINT64_MAX, &none);
	stats->blocks = copy_gauge(&books->blocks, UINT64_MAX, &none);
	stats->reserved = copy_gauge(&books->reserved, UINT64_MAX, &none);
	stats->active = copy_gauge(&books->active, stats->reserved.peak, bound);
	stats->allocated =
		copy_gauge(&books->allocated, stats->active.peak, bound);
	stats->requested =
		copy_gauge(&books->requested, stats->allocated.peak, bound);
}

static void copy_books(struct gm_heap *heap, struct gpumem_stats *stats)
{
	const struct gm_books *books = &heap->books;

	copy_gauges(books, stats);
	stats->hits = books->allocs - books->misses;
	stats->misses = books->misses;
	stats->retries = books->retries;
	stats->ooms = books->ooms;
	stats->trims = books->trims;
	stats->moved_bytes = books->moved_bytes;
	stats->decayed_bytes = heap->policy->decay.bytes;
	stats->pending_bytes = heap->order->pending.bytes;
	stats->quarantined_bytes = heap->order->pending.held_bytes;
	stats->free_bytes = books->reserved.current - books->active.current;
}

void gm_pool_stats(struct gpumem_pool *pool, struct gpumem_stats *stats_out)
{
	struct gm_heap *heap = &pool->heap;

	*stats_out = (struct gpumem_stats){.size = sizeof(*stats_out)};
	gm_heap_stop(&pool->heap);
	copy_books(heap, stats_out);
	stats_out->largest_free_bytes = largest_free(heap);
	stats_out->cached_bytes = gm_locals_cached_bytes(heap);
	stats_out->hole_bytes = stats_out->free_bytes -
				gm_space_whole_bytes(heap) -
				stats_out->cached_bytes;
	stats_out->host_bytes = gm_heap_host_bytes(heap) + sizeof(*pool);
	stats_out->soft_limit_bytes = heap->space->budget.soft_limit_bytes;
	stats_out->limit_bytes = heap->space->budget.limit_bytes;
	copy_calls(&heap->driver, stats_out);
	gm_heap_go(&pool->heap);
	if (stats_out->free_bytes)
		stats_out->fragmentation =
			1 - (double)stats_out->largest_free_bytes /
				    (double)stats_out->free_bytes;
}

void gm_pool_reset_stats(struct gpumem_pool *pool, bool totals)
{
	struct gm_books *books = &pool->heap.books;

	gm_heap_stop(&pool->heap);
	gm_gauge_reset(&books->requested, totals);
	gm_gauge_reset(&books->allocated, totals);
	gm_gauge_reset(&books->active, totals);
	gm_gauge_reset(&books->reserved, totals);
	gm_gauge_reset(&books->blocks, totals);
	gm_gauge_reset(&books->segments, totals);
	if (totals) {
		books->allocs = books->misses = books->retries = 0;
		books->ooms = books->trims = books->moved_bytes = 0;
		pool->heap.policy->decay.bytes = 0;
		gm_driver_reset_counts(&pool->heap.driver);
	}
	gm_heap_go(&pool->heap);
}

void gm_pool_each(struct gpumem_device *device,
		  bool (*fn)(struct gpumem_pool *pool, const char *name,
			     void *user),
		  void *user)
{
	struct gm_device_link *link;

	pthread_mutex_lock(&device->mutex);
	for (link = device->pools.next; link != &device->pools;
	     link = link->next) {
		struct gpumem_pool *pool = gm_pool_of_link(link);

		if (!fn(pool, pool->name, user))
			break;
	}
	pthread_mutex_unlock(&device->mutex);
}

/* Between the driver's answer and ours others may have moved: what would come
 * out negative is nothing. */
void gm_pool_complete_memory(const struct gpumem_device *device,
			     struct gpumem_memory *memory)
{
	uint64_t known;

	memory->reserved_bytes = atomic_load(&device->reserved_bytes);
	known = memory->free_bytes + memory->reserved_bytes;
	memory->outside_bytes =
		memory->total_bytes > known ? memory->total_bytes - known : 0;
}
