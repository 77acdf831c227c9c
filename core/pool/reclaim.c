/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Giving memory back: trim, limits, streams that go. */
#include "pool.h"
#include "device/loss.h"
#include "cache/local.h"
#include "base/error.h"

/* Everything unused goes from the caches down to free extents. */
static void drain(struct gm_heap *heap)
{
	struct gm_arena *arena;

	gm_locals_flush(heap);
	gm_pending_poll(heap);
	for (arena = heap->order->arenas; arena; arena = arena->next)
		gm_slabs_purge(arena);
}

/* A page may be free in two parts that belong to two streams. */
static void join_streams(struct gm_heap *heap)
{
	struct gm_arena *heir = heap->order->arenas;

	while (heir && heir->dropped)
		heir = heir->next;
	/* With no host memory for one, what they share stays for now. */
	if (heir || !gm_arena_of(heap, NULL, &heir))
		gm_heap_adopt(heap, heir);
}

gpumem_status gm_pool_trim(struct gpumem_pool *pool, uint64_t keep_bytes,
			   uint64_t *released_out)
{
	struct gm_heap *heap = &pool->heap;
	gpumem_status status;
	uint64_t before;

	*released_out = 0;
	if (atomic_load(&pool->device->lost))
		return gm_fail_lost(pool->device,
				    "the device is lost, and what it held");
	/* Who comes second waits for what the first one gives back. */
	pthread_mutex_lock(&pool->trim_mutex);
	gm_pool_stop(pool);
	before = heap->space->budget.returned_bytes;
	heap->books.trims++;
	heap->space->budget.toll_handles = 0;
	drain(heap);
	gm_locals_go(heap);
	join_streams(heap);
	status = gm_space_trim(heap, keep_bytes);
	*released_out = heap->space->budget.returned_bytes - before;
	pthread_mutex_unlock(&heap->mutex);
	pthread_mutex_unlock(&pool->trim_mutex);
	return status;
}

void gm_pool_trim_siblings(struct gpumem_pool *pool)
{
	struct gpumem_device *device = pool->device;
	struct gm_device_link *link;
	uint64_t released;

	pthread_mutex_lock(&device->mutex);
	for (link = device->pools.next; link != &device->pools;
	     link = link->next) {
		struct gpumem_pool *other = gm_pool_of_link(link);

		if (other != pool &&
		    other->heap.driver.kind == pool->heap.driver.kind)
			(void)gm_pool_trim(other, 0, &released);
	}
	pthread_mutex_unlock(&device->mutex);
}

gpumem_status gm_pool_drop_stream(struct gpumem_pool *pool,
				  gpumem_stream stream)
{
	struct gm_heap *heap = &pool->heap;
	struct gm_arena *arena;
	uint64_t capture = 0;
	gpumem_status status;

	gm_pool_stop(pool);
	gm_locals_flush(heap);
	arena = gm_arena_find(heap, stream);
	status = gm_driver_capture_id(&heap->driver, stream, &capture);
	if (!status && capture)
		status = gm_fail(GPUMEM_CAPTURING,
				 "a stream that is being captured cannot go");
	if (!status && arena && arena->graph)
		status = gm_fail(GPUMEM_BUSY,
				 "blocks of that stream go to a graph");
	if (!status && gm_device_has(pool->device, GPUMEM_CAP_STREAMS))
		status = gm_pending_drop(heap, stream);
	if (!status)
		status = gm_uses_drop(heap, stream);
	if (!status && arena)
		status = gm_heap_drop(arena);
	if (!status && arena)
		gm_locals_drop(heap, arena);
	gm_pool_go(pool);
	return status;
}

gpumem_status gm_pool_drop_everywhere(struct gpumem_device *device,
				      gpumem_stream stream)
{
	struct gm_device_link *link;
	gpumem_status status = GPUMEM_OK;

	pthread_mutex_lock(&device->mutex);
	for (link = device->pools.next; link != &device->pools && !status;
	     link = link->next)
		status = gm_pool_drop_stream(gm_pool_of_link(link), stream);
	pthread_mutex_unlock(&device->mutex);
	return status;
}

gpumem_status gm_pool_set_limit(struct gpumem_pool *pool, uint64_t soft_bytes,
				uint64_t limit_bytes)
{
	struct gm_heap *heap = &pool->heap;
	gpumem_status status = gm_limits_judge(heap, soft_bytes, limit_bytes);
	uint64_t released, reserved;

	if (!status && limit_bytes)
		status = gm_pool_trim(pool, limit_bytes, &released);
	if (status)
		return status;
	pthread_mutex_lock(&heap->mutex);
	reserved = heap->books.reserved.current;
	if (limit_bytes && reserved > limit_bytes) {
		status = gm_fail(GPUMEM_BUSY,
				 "%llu bytes are in use, more than the new "
				 "limit of %llu",
				 (unsigned long long)reserved,
				 (unsigned long long)limit_bytes);
	} else {
		heap->space->budget.limit_bytes = limit_bytes;
		heap->space->budget.soft_limit_bytes = soft_bytes;
	}
	pthread_mutex_unlock(&heap->mutex);
	return status;
}
