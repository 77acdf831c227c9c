/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A pool's life; see pool.h. */
#include "pool.h"
#include "base/error.h"
#include "base/option.h"
#include "share/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void link_pool(struct gpumem_pool *pool)
{
	struct gm_device_link *head = &pool->device->pools;

	pthread_mutex_lock(&pool->device->mutex);
	pool->link.next = head;
	pool->link.prev = head->prev;
	head->prev->next = &pool->link;
	head->prev = &pool->link;
	pthread_mutex_unlock(&pool->device->mutex);
}

static void unlink_pool(struct gpumem_pool *pool)
{
	pthread_mutex_lock(&pool->device->mutex);
	while (pool->visitors)
		pthread_cond_wait(&pool->device->unvisited,
				  &pool->device->mutex);
	pool->link.prev->next = pool->link.next;
	pool->link.next->prev = pool->link.prev;
	if (pool->device->default_pool == pool)
		pool->device->default_pool = NULL;
	pthread_mutex_unlock(&pool->device->mutex);
}

/* A pool that does not hold its device open: the default one. */
static void free_pool(struct gpumem_pool *pool)
{
	pthread_mutex_destroy(&pool->pressure_mutex);
	gm_pool_drop_peers(pool);
	free(pool->pressure);
	free(pool);
}

static gpumem_status init_heap(struct gpumem_pool *pool,
			       const struct gpumem_pool_config *config)
{
	const uint64_t total = pool->device->info.total_bytes;
	const struct gm_heap_config heap_config = {
		.limit_bytes =
			config->limit_bytes
				? config->limit_bytes
				: gm_option_memory(GM_MEMORY_limit, total),
		.soft_limit_bytes =
			config->soft_limit_bytes
				? config->soft_limit_bytes
				: gm_option_memory(GM_MEMORY_soft_limit, total),
		.page_bytes = config->page_bytes
				      ? config->page_bytes
				      : gm_option_bytes(GM_BYTES_page),
		.kind = config->kind,
		.peers = pool->peer_handles,
		.peer_count = pool->peer_count,
		.share = config->shareable,
		.helpers = &gm_pool_helpers,
	};

	return gm_heap_init(&pool->heap, pool->device, &heap_config);
}

static _Atomic uint64_t pools_made;

static gpumem_status create(struct gpumem_device *device,
			    const struct gpumem_pool_config *config,
			    const struct gm_pool_reports *reports,
			    struct gpumem_pool **pool_out)
{
	struct gpumem_pool *pool = calloc(1, sizeof(*pool));
	struct gpumem_pool_config limited = *config;
	gpumem_status status;

	gm_pools_record_by_option();
	if (reports)
		reports->begin();
	if (!pool)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a pool");
	pthread_mutex_init(&pool->pressure_mutex, NULL);
	pool->device = device;
	pool->reports = reports;
	pool->number = atomic_fetch_add(&pools_made, 1);
	status = gm_limits_of_config(device, &limited);
	if (status == GPUMEM_OK)
		status = gm_share_by_option(&limited);
	if (status == GPUMEM_OK)
		status = gm_pool_set_peers(pool, &limited);
	if (status != GPUMEM_OK)
		goto free_pool;
	status = init_heap(pool, &limited);
	if (status != GPUMEM_OK)
		goto free_pool;
	status = gm_pool_enable_peers(pool);
	if (status == GPUMEM_OK)
		status = gm_background_start(&pool->heap);
	if (status == GPUMEM_OK && reports)
		reports->made(pool);
	if (status != GPUMEM_OK)
		goto end_heap;
	snprintf(pool->name, sizeof(pool->name), "%s",
		 config->name ? config->name : "pool");
	link_pool(pool);
	gm_pools_add(pool);
	*pool_out = pool;
	return GPUMEM_OK;

end_heap:
	(void)gm_heap_fini(&pool->heap);
free_pool:
	free_pool(pool);
	return status;
}

gpumem_status gm_pool_create(struct gpumem_device *device,
			     const struct gpumem_pool_config *config,
			     const struct gm_pool_reports *reports,
			     struct gpumem_pool **pool_out)
{
	gpumem_status status;

	/* From the first moment on: a close meanwhile is not the last. */
	gm_device_hold(device, GM_HOLD_POOL);
	status = create(device, config, reports, pool_out);
	if (status != GPUMEM_OK)
		gm_device_drop(device, GM_HOLD_POOL);
	return status;
}

/* Until no stream can be using anything of the pool. */
static void wait_for_all(struct gpumem_pool *pool)
{
	struct gm_heap *heap = &pool->heap;
	struct gm_arena *arena;

	pthread_mutex_lock(&heap->mutex);
	while (gm_pending_wait(heap))
		;
	for (arena = gm_arena_first(heap); arena;
	     arena = gm_arena_after(heap, arena))
		gm_arena_wait(arena);
	pthread_mutex_unlock(&heap->mutex);
}

/* Whatever is captured may not be disturbed, not even by force. */
static gpumem_status refuse_if_captured(struct gpumem_pool *pool)
{
	const struct gm_heap *heap = &pool->heap;
	const struct gm_arena *arena = gm_arena_first(heap);

	for (; arena; arena = gm_arena_after(heap, arena)) {
		uint64_t id = 0;

		if (arena->dropped ||
		    gm_driver_capture_id(&pool->heap.driver, arena->stream,
					 &id) != GPUMEM_OK ||
		    !id)
			continue;
		return gm_fail(
			GPUMEM_BUSY,
			"a stream that pool \"%s\" on %s serves is being "
			"captured",
			pool->name, pool->device->info.name);
	}
	return GPUMEM_OK;
}

static gpumem_status refuse_if_used(struct gpumem_pool *pool, bool force)
{
	uint64_t blocks, bytes;
	gpumem_status status;
	bool graphs, grows, sleeps;
	char live[640] = "", pin[GPUMEM_RANGE_NAME_BYTES] = "";

	gm_heap_stop(&pool->heap);
	status = refuse_if_captured(pool);
	graphs = pool->graphs != NULL;
	grows = !gm_growth_none(&pool->heap);
	sleeps = pool->heap.space->away.busy;
	if (pool->heap.space->ranges.pin_count)
		strcpy(pin, pool->heap.space->ranges.pins[0].name);
	blocks = pool->heap.counters.blocks.current;
	bytes = pool->heap.counters.allocated.current;
	if (blocks && !force)
		gm_pool_tell_live(pool, live, sizeof(live));
	gm_heap_go(&pool->heap);
	if (status != GPUMEM_OK)
		return status;
	if (grows)
		return gm_fail(GPUMEM_BUSY,
			       "another thread is allocating from pool \"%s\" "
			       "on %s",
			       pool->name, pool->device->info.name);
	if (sleeps)
		return gm_fail(
			GPUMEM_BUSY,
			"another thread puts pool \"%s\" on %s to sleep, "
			"or wakes it",
			pool->name, pool->device->info.name);
	if ((!blocks && !graphs && !*pin) || force)
		return GPUMEM_OK;
	if (graphs)
		return gm_fail(GPUMEM_BUSY,
			       "pool \"%s\" on %s holds memory of graphs",
			       pool->name, pool->device->info.name);
	if (!blocks)
		return gm_fail(
			GPUMEM_BUSY,
			"memory of pool \"%s\" on %s is pinned by \"%s\"",
			pool->name, pool->device->info.name, pin);
	if (pool->reports)
		pool->reports->tell_live(pool, live, sizeof(live));
	return gm_fail(GPUMEM_BUSY,
		       "pool \"%s\" on %s has %llu live block%s (%llu bytes)%s",
		       pool->name, pool->device->info.name,
		       (unsigned long long)blocks, blocks == 1 ? "" : "s",
		       (unsigned long long)bytes, live);
}

static gpumem_status dispose(struct gpumem_pool *pool)
{
	gpumem_status status;

	gm_background_stop(&pool->heap);
	gm_pools_remove(pool);
	gm_pools_record_idle();
	unlink_pool(pool);
	wait_for_all(pool);
	gm_pool_sleep_end(pool);
	status = gm_heap_fini(&pool->heap);
	gm_graphs_forget(pool);
	free_pool(pool);
	return status;
}

gpumem_status gm_pool_destroy(struct gpumem_pool *pool, bool force)
{
	struct gpumem_device *device = pool->device;
	struct gm_first first = {0};
	bool is_default, lost;
	gpumem_status status = refuse_if_used(pool, force);

	if (status == GPUMEM_OK)
		status = gm_pool_end_views(pool, &first);
	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&device->mutex);
	is_default = device->default_pool == pool;
	pthread_mutex_unlock(&device->mutex);
	gm_first_keep(&first, dispose(pool));
	lost = atomic_load(&device->lost); /* there was nothing to give back */
	if (!is_default)
		gm_device_drop(device, GM_HOLD_POOL);
	return lost ? GPUMEM_OK : gm_first_end(&first);
}

gpumem_status gm_pool_default(struct gpumem_device *device,
			      const struct gm_pool_reports *reports,
			      struct gpumem_pool **pool_out)
{
	const struct gpumem_pool_config config = {.name = "default"};
	struct gpumem_pool *pool, *winner;
	gpumem_status status;

	pthread_mutex_lock(&device->mutex);
	winner = device->default_pool;
	pthread_mutex_unlock(&device->mutex);
	if (!winner) {
		status = create(device, &config, reports, &pool);
		if (status != GPUMEM_OK)
			return status;
		pthread_mutex_lock(&device->mutex);
		winner = device->default_pool;
		if (!winner)
			winner = device->default_pool = pool;
		pthread_mutex_unlock(&device->mutex);
		if (winner != pool)
			(void)dispose(pool);
	}
	*pool_out = winner;
	return GPUMEM_OK;
}

gpumem_status gm_pool_device_close(struct gpumem_device *device)
{
	struct gpumem_pool *default_pool;
	gpumem_status status;

	if (gm_device_release_other(device))
		return GPUMEM_OK;
	status = gm_pool_refuse_held(device);
	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&device->mutex);
	default_pool = device->default_pool;
	pthread_mutex_unlock(&device->mutex);
	if (default_pool) {
		status = gm_pool_destroy(default_pool, false);
		if (status != GPUMEM_OK)
			return status;
	}
	(void)gm_device_release(device);
	return GPUMEM_OK;
}
