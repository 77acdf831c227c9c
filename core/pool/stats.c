/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The counters, as the public struct of statistics. No driver call, and no walk
 * over live blocks. */
#include "pool.h"
#include "sleep/sleep.h"

/* Of all that free_bytes has: a part that is left out here would be shown as
 * fragmentation. */
static uint64_t largest_free(const struct gm_heap *heap)
{
	const struct gm_arena *arena = gm_arena_first(heap);
	uint64_t largest = gm_locals_largest_bytes(heap);

	for (; arena; arena = gm_arena_after(heap, arena)) {
		const struct gm_extent *extent =
			gm_index_largest(&arena->index);

		if (extent && extent->bytes > largest)
			largest = extent->bytes;
	}
	return largest;
}

static void add_calls(struct gm_driver *driver, struct gpumem_stats *stats)
{
	for (unsigned i = 0; i < GPUMEM_CALL_COUNT; i++) {
		stats->driver_calls += atomic_load(&driver->calls[i].count);
		stats->driver_ns += atomic_load(&driver->calls[i].ns);
	}
}

/* A statistic that the list lacks would be copied, reset and shown by nobody.
 */
#define BYTES_GAUGE sizeof(struct gpumem_gauge)
#define BYTES_COUNTER sizeof(uint64_t)
#define BYTES_VALUE sizeof(uint64_t)
#define BYTES_RATIO sizeof(double)
#define BYTES(name, type, unit) +BYTES_##type
_Static_assert(sizeof(size_t) GPUMEM_STATS_LIST(BYTES) ==
		       sizeof(struct gpumem_stats),
	       "GPUMEM_STATS_LIST names every statistic");

static struct gpumem_gauge copy_gauge(const struct gm_gauge *gauge)
{
	return (struct gpumem_gauge){.current = gauge->current,
				     .peak = gauge->peak,
				     .total = gauge->total};
}

#define COPY_GAUGE(name) stats->name = copy_gauge(&counters->name);
#define COPY_COUNTER(name) stats->name = counters->name;
#define COPY_VALUE(name)
#define COPY_RATIO(name)
#define COPY(name, type, unit) COPY_##type(name)

/* The peak is at most `most`, and as far above the true one as this says. */
static void bound_peak(struct gpumem_gauge *gauge, uint64_t most,
		       const struct gm_gauge *from, uint64_t *bound)
{
	if (gauge->peak > most)
		gauge->peak = most;
	if (gauge->peak - from->reached > *bound)
		*bound = gauge->peak - from->reached;
}

static void copy_counters(const struct gm_counters *counters,
			  struct gpumem_stats *stats)
{
	uint64_t *bound = &stats->cache_bound_bytes;

	GPUMEM_STATS_LIST(COPY)
	/* The law holds for peaks as well. */
	bound_peak(&stats->active, stats->reserved.peak + stats->sleeping.peak,
		   &counters->active, bound);
	bound_peak(&stats->allocated, stats->active.peak, &counters->allocated,
		   bound);
	bound_peak(&stats->requested, stats->allocated.peak,
		   &counters->requested, bound);
}

/* What is not free extents, and not cached, is in slabs. */
static void copy_parts(const struct gm_heap *heap, struct gpumem_stats *stats)
{
	const struct gm_parts parts = gm_space_parts(heap);

	stats->unreleasable_bytes =
		stats->free_bytes - parts.whole_bytes - stats->cached_bytes;
	stats->page_part_bytes = parts.page_part_bytes;
	stats->handle_part_bytes = parts.handle_part_bytes;
	stats->graph_bytes = parts.graph_bytes;
	stats->slab_part_bytes = stats->unreleasable_bytes -
				 parts.page_part_bytes -
				 parts.handle_part_bytes - parts.graph_bytes;
}

void gm_pool_stats_stopped(struct gpumem_pool *pool,
			   struct gpumem_stats *stats_out)
{
	struct gm_heap *heap = &pool->heap;

	*stats_out = (struct gpumem_stats){.size = sizeof(*stats_out)};
	copy_counters(&heap->counters, stats_out);
	stats_out->pending_bytes = heap->order->pending.bytes;
	stats_out->quarantined_bytes = heap->order->pending.held_bytes;
	stats_out->free_bytes = stats_out->reserved.current +
				stats_out->sleeping.current -
				stats_out->active.current;
	stats_out->largest_free_bytes = largest_free(heap);
	stats_out->cached_bytes = gm_locals_cached_bytes(heap);
	copy_parts(heap, stats_out);
	stats_out->stale_bytes = heap->space->stale.bytes;
	stats_out->host_bytes = gm_heap_host_bytes(heap) + sizeof(*pool);
	stats_out->sleep_host_bytes = gm_sleep_host_bytes(heap);
	stats_out->soft_limit_bytes = heap->space->budget.soft_limit_bytes;
	stats_out->limit_bytes = heap->space->budget.limit_bytes;
	add_calls(&heap->driver, stats_out);
	if (stats_out->free_bytes)
		stats_out->fragmentation =
			1 - (double)stats_out->largest_free_bytes /
				    (double)stats_out->free_bytes;
}

void gm_pool_stats(struct gpumem_pool *pool, struct gpumem_stats *stats_out)
{
	gm_heap_stop(&pool->heap);
	gm_pool_stats_stopped(pool, stats_out);
	gm_heap_go(&pool->heap);
}

void gm_pool_calls(struct gpumem_pool *pool, unsigned call,
		   struct gpumem_call_stats *stats_out)
{
	struct gm_driver *driver = &pool->heap.driver;

	*stats_out = (struct gpumem_call_stats){
		.size = sizeof(*stats_out),
		.count = atomic_load(&driver->calls[call].count),
		.failed = atomic_load(&driver->calls[call].failed),
		.ns = atomic_load(&driver->calls[call].ns)};
}

#define RESET_GAUGE(name) gm_gauge_reset(&counters->name, totals);
#define RESET_COUNTER(name)                                                    \
	if (totals)                                                            \
		counters->name = 0;
#define RESET_VALUE(name)
#define RESET_RATIO(name)
#define RESET(name, type, unit) RESET_##type(name)

void gm_pool_reset_stats(struct gpumem_pool *pool, bool totals)
{
	struct gm_counters *counters = &pool->heap.counters;

	gm_heap_stop(&pool->heap);
	if (totals)
		gm_counters_forget_total(counters);
	GPUMEM_STATS_LIST(RESET)
	if (pool->heap.tags)
		gm_tags_reset(pool->heap.tags, totals);
	if (totals)
		gm_driver_reset_counts(&pool->heap.driver);
	gm_heap_go(&pool->heap);
}

void gm_pool_visit(struct gpumem_device *device,
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
