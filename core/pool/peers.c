/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a pool is made of and for whom: its kind, and the devices that its
 * memory is opened to, which it holds open. At the beginning and the end of a
 * pool without a lock; peers that come later are added within a growth of the
 * heap, since no other thread maps anything then.
 */
#include "pool.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static gpumem_status check_kind(const struct gpumem_device *device,
				gpumem_kind kind)
{
	static const struct {
		const char *text;
		uint32_t cap; /* that it needs */
	} kinds[] = {
		[GPUMEM_KIND_DEVICE] = {"device memory", 0},
		[GPUMEM_KIND_PINNED] = {"pinned memory", GPUMEM_CAP_PINNED},
		[GPUMEM_KIND_MANAGED] = {"managed memory", GPUMEM_CAP_MANAGED},
	};

	if ((unsigned)kind >= sizeof(kinds) / sizeof(kinds[0]))
		return gm_fail(GPUMEM_INVALID, "there is no kind %d of memory",
			       (int)kind);
	if (kinds[kind].cap & ~device->info.caps)
		return gm_fail(GPUMEM_UNSUPPORTED, "%s has no %s",
			       device->info.name, kinds[kind].text);
	return GPUMEM_OK;
}

/* What is no device memory all devices of the backend can use anyway. */
static gpumem_status check_peer(struct gpumem_device *device,
				struct gpumem_device *peer, gpumem_kind kind)
{
	gpumem_status status;
	bool can = false;

	if (!peer)
		return gm_fail(GPUMEM_INVALID, "a peer is NULL");
	if (device->ops != peer->ops)
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "%s cannot be opened to %s: they are of two "
			       "backends",
			       device->info.name, peer->info.name);
	if (kind != GPUMEM_KIND_DEVICE)
		return GPUMEM_OK;
	status = gm_device_peer(device, peer, &can);
	if (status == GPUMEM_OK && !can)
		status = gm_fail(GPUMEM_UNSUPPORTED,
				 "%s cannot be opened to %s: there is no way "
				 "between them; copy what both need",
				 device->info.name, peer->info.name);
	return status;
}

/* The device itself needs no opening, and once is enough. */
static bool is_new(const struct gpumem_pool *pool,
		   const struct gpumem_device *peer)
{
	if (peer == pool->device)
		return false;
	for (size_t i = 0; i < pool->peer_count; i++)
		if (pool->peers[i] == peer)
			return false;
	return true;
}

/* The peer is held open. */
static void append(struct gpumem_pool *pool, struct gpumem_device *peer)
{
	pool->peer_handles[pool->peer_count] = peer->handle;
	pool->peers[pool->peer_count++] = peer;
}

/* Room for so many peers. */
static gpumem_status make_room(struct gpumem_pool *pool, size_t count)
{
	void *peers = calloc(count, sizeof(struct gpumem_device *));
	void *handles = calloc(count, sizeof(void *));

	if (!peers || !handles) {
		free(peers);
		free(handles);
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for %zu peers", count);
	}
	if (pool->peer_count) {
		memcpy(peers, pool->peers,
		       pool->peer_count * sizeof(*pool->peers));
		memcpy(handles, pool->peer_handles,
		       pool->peer_count * sizeof(*pool->peer_handles));
	}
	free(pool->peers);
	free(pool->peer_handles);
	pool->peers = peers;
	pool->peer_handles = handles;
	return GPUMEM_OK;
}

gpumem_status gm_pool_set_peers(struct gpumem_pool *pool,
				const struct gpumem_pool_config *config)
{
	size_t count = config->peer_count;
	gpumem_status status = check_kind(pool->device, config->kind);

	if (status != GPUMEM_OK || !count)
		return status;
	if (!config->peers)
		return gm_fail(GPUMEM_INVALID, "peers is NULL");
	status = make_room(pool, count);
	for (size_t i = 0; i < count && status == GPUMEM_OK; i++) {
		struct gpumem_device *peer = config->peers[i];

		status = check_peer(pool->device, peer, config->kind);
		if (status == GPUMEM_OK && is_new(pool, peer)) {
			gm_device_hold(peer, GM_HOLD_POOL);
			append(pool, peer);
		}
	}
	return status;
}

/* Whatever there is of the pool, and what will be without virtual memory. */
static gpumem_status open_to(struct gpumem_pool *pool,
			     struct gpumem_device *peer)
{
	struct gm_heap *heap = &pool->heap;

	if (heap->driver.kind != GPUMEM_KIND_DEVICE)
		return GPUMEM_OK;
	return gm_space_open(heap, peer);
}

gpumem_status gm_pool_enable_peers(struct gpumem_pool *pool)
{
	gpumem_status status = GPUMEM_OK;

	for (size_t i = 0; i < pool->peer_count && status == GPUMEM_OK; i++)
		status = open_to(pool, pool->peers[i]);
	return status;
}

/* With the mutex, and nothing is being mapped. */
static gpumem_status add(struct gpumem_pool *pool, struct gpumem_device *peer)
{
	gpumem_status status = make_room(pool, pool->peer_count + 1);

	if (status != GPUMEM_OK)
		return status;
	pool->heap.driver.peers = pool->peer_handles;
	status = open_to(pool, peer);
	if (status != GPUMEM_OK)
		return status;
	append(pool, peer);
	pool->heap.driver.peer_count = pool->peer_count;
	return GPUMEM_OK;
}

gpumem_status gm_pool_add_peer(struct gpumem_pool *pool,
			       struct gpumem_device *peer)
{
	struct gm_heap *heap = &pool->heap;
	gpumem_status status =
		check_peer(pool->device, peer, heap->driver.kind);
	bool is_added = false;

	if (status != GPUMEM_OK)
		return status;
	gm_device_hold(peer, GM_HOLD_POOL);
	pthread_mutex_lock(&heap->mutex);
	while (!gm_growth_begin(heap))
		;
	if (heap->space->away.busy)
		status = gm_fail(GPUMEM_BUSY,
				 "pool \"%s\" is falling asleep or waking up",
				 pool->name);
	else if (is_new(pool, peer)) {
		status = add(pool, peer);
		is_added = status == GPUMEM_OK;
	}
	gm_growth_end(heap);
	pthread_mutex_unlock(&heap->mutex);
	if (!is_added)
		gm_device_drop(peer, GM_HOLD_POOL);
	return status;
}

void gm_pool_drop_peers(struct gpumem_pool *pool)
{
	for (size_t i = 0; i < pool->peer_count; i++)
		gm_device_drop(pool->peers[i], GM_HOLD_POOL);
	free(pool->peers);
	free(pool->peer_handles);
}
