/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Limits, what other pools have to spare, and streams that go. */
#include "pool.h"
#include "base/error.h"

static bool is_sibling(const struct gpumem_pool *pool,
		       const struct gpumem_pool *other)
{
	return other != pool &&
	       other->heap.driver.kind == pool->heap.driver.kind;
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

		if (is_sibling(pool, other))
			(void)gm_heap_trim(&other->heap, 0, &released);
	}
	pthread_mutex_unlock(&device->mutex);
}

/* The oldest work only: its owner may go on to add some. Where there is none,
 * what was at work when it was last trimmed may be done now. */
static bool wait_and_trim(struct gm_heap *heap, bool *waited_out)
{
	uint64_t released = 0;
	bool waited;

	pthread_mutex_lock(&heap->mutex);
	waited = gm_pending_wait(heap) || gm_arenas_wait(heap);
	pthread_mutex_unlock(&heap->mutex);
	(void)gm_heap_trim(heap, 0, &released);
	*waited_out |= waited;
	return waited || released;
}

/* A wait may be long, so the device's mutex is not held: calls that must not
 * wait take it too. A visitor keeps the pool on the list meanwhile. */
bool gm_pool_wait_for_siblings(struct gpumem_pool *pool, bool *waited_out)
{
	struct gpumem_device *device = pool->device;
	struct gm_device_link *link;
	bool any = false;

	*waited_out = false;
	pthread_mutex_lock(&device->mutex);
	for (link = device->pools.next; link != &device->pools;
	     link = link->next) {
		struct gpumem_pool *other = gm_pool_of_link(link);

		if (!is_sibling(pool, other))
			continue;
		other->visitors++;
		pthread_mutex_unlock(&device->mutex);
		any |= wait_and_trim(&other->heap, waited_out);
		pthread_mutex_lock(&device->mutex);
		if (!--other->visitors)
			pthread_cond_broadcast(&device->unvisited);
	}
	pthread_mutex_unlock(&device->mutex);
	return any;
}

static uint64_t reserved_of(struct gpumem_pool *pool)
{
	uint64_t bytes;

	pthread_mutex_lock(&pool->heap.mutex);
	bytes = pool->heap.counters.reserved.current;
	pthread_mutex_unlock(&pool->heap.mutex);
	return bytes;
}

gpumem_status gm_device_trim(struct gpumem_device *device, uint64_t keep_bytes,
			     uint64_t *released_out)
{
	struct gm_device_link *head = &device->pools, *link;
	uint64_t total = 0, released;
	struct gm_first first = {0};

	*released_out = 0;
	pthread_mutex_lock(&device->mutex);
	for (link = head->next; link != head; link = link->next)
		total += reserved_of(gm_pool_of_link(link));
	for (link = head->next; link != head && total > keep_bytes;
	     link = link->next) {
		struct gpumem_pool *pool = gm_pool_of_link(link);
		uint64_t own = reserved_of(pool), over = total - keep_bytes;
		uint64_t keep = own > over ? own - over : 0;

		gm_first_keep(&first,
			      gm_heap_trim(&pool->heap, keep, &released));
		*released_out += released;
		total -= released < total ? released : total;
	}
	pthread_mutex_unlock(&device->mutex);
	return gm_first_end(&first);
}

gpumem_status gm_pools_trim(uint64_t *released_out)
{
	struct gpumem_device *device = NULL;
	struct gm_first first = {0};
	uint64_t released;

	*released_out = 0;
	while ((device = gm_device_next(device))) {
		gm_first_keep(&first, gm_device_trim(device, 0, &released));
		*released_out += released;
	}
	return gm_first_end(&first);
}

/* Its own, of each fate, and those in which graphs have memory of it. */
static gpumem_status drop_arenas(struct gm_heap *heap, gpumem_stream stream)
{
	gpumem_status status = GPUMEM_OK;
	struct gm_arena *arena;

	while (status == GPUMEM_OK &&
	       (arena = gm_arenas_any(heap->order, stream))) {
		status = gm_heap_drop(arena);
		if (status == GPUMEM_OK)
			gm_locals_drop(heap, arena);
	}
	arena = heap->order->private_arenas;
	for (; arena && status == GPUMEM_OK; arena = arena->next)
		if (arena->stream == stream && !arena->dropped)
			status = gm_heap_drop(arena);
	return status;
}

gpumem_status gm_pool_drop_stream(struct gpumem_pool *pool,
				  gpumem_stream stream)
{
	struct gm_heap *heap = &pool->heap;
	struct gm_arena *arena;
	uint64_t capture = 0;
	gpumem_status status;

	gm_heap_stop(&pool->heap);
	gm_locals_flush(heap);
	arena = gm_arena_find(heap, stream);
	status = gm_driver_capture_id(&heap->driver, stream, &capture);
	if (status == GPUMEM_OK && capture)
		status = gm_fail(GPUMEM_CAPTURING,
				 "a stream that is being captured cannot go");
	if (status == GPUMEM_OK && arena && arena->graph)
		status = gm_fail(GPUMEM_BUSY,
				 "blocks of that stream go to a graph");
	if (status == GPUMEM_OK &&
	    gm_device_has(pool->device, GPUMEM_CAP_STREAMS))
		status = gm_pending_drop(heap, stream);
	if (status == GPUMEM_OK)
		status = gm_uses_drop(heap, stream);
	if (status == GPUMEM_OK)
		status = drop_arenas(heap, stream);
	if (status == GPUMEM_OK && arena)
		GM_RECORD(heap->record, GPUMEM_RECORD_DROP, (uintptr_t)stream);
	gm_heap_go(&pool->heap);
	return status;
}

gpumem_status gm_pool_drop_everywhere(struct gpumem_device *device,
				      gpumem_stream stream)
{
	struct gm_device_link *link;
	gpumem_status status = GPUMEM_OK;

	pthread_mutex_lock(&device->mutex);
	for (link = device->pools.next;
	     link != &device->pools && status == GPUMEM_OK; link = link->next)
		status = gm_pool_drop_stream(gm_pool_of_link(link), stream);
	pthread_mutex_unlock(&device->mutex);
	return status;
}

gpumem_status gm_pool_set_limit(struct gpumem_pool *pool, uint64_t limit_bytes)
{
	struct gm_heap *heap = &pool->heap;
	gpumem_status status = gm_limits_judge(heap, 0, limit_bytes);
	uint64_t released, reserved;

	if (status == GPUMEM_OK && limit_bytes)
		status = gm_heap_trim(heap, limit_bytes, &released);
	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&heap->mutex);
	reserved = heap->counters.reserved.current +
		   heap->space->growth.flight.creating_bytes;
	if (limit_bytes && reserved > limit_bytes) {
		status = gm_fail(GPUMEM_BUSY,
				 "%llu bytes are in use, more than the new "
				 "limit of %llu",
				 (unsigned long long)reserved,
				 (unsigned long long)limit_bytes);
	} else {
		heap->space->budget.limit_bytes = limit_bytes;
	}
	pthread_mutex_unlock(&heap->mutex);
	return status;
}

void gm_pool_set_soft_limit(struct gpumem_pool *pool, uint64_t soft_bytes)
{
	struct gm_heap *heap = &pool->heap;

	pthread_mutex_lock(&heap->mutex);
	heap->space->budget.soft_limit_bytes = soft_bytes;
	pthread_mutex_unlock(&heap->mutex);
}
