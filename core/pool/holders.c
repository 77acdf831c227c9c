/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What keeps a device open, in words: the pools, with what is live in them, and
 * the imports and events. The registry of pools is locked meanwhile, and each
 * pool's heap while it is counted. See pool.h.
 */
#include "pool.h"
#include "base/error.h"
#include "share/shared.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* So many are named. */
enum { NAMED = 6 };

struct list {
	struct gpumem_device *device;
	unsigned count;
	size_t used;
	char text[800];
};

static void say(struct list *list, const char *format, ...) GPUMEM_PRINTF(2, 3);

static void say(struct list *list, const char *format, ...)
{
	size_t room = sizeof(list->text) - list->used;
	va_list args;

	va_start(args, format);
	vsnprintf(list->text + list->used, room, format, args);
	va_end(args);
	list->used += strlen(list->text + list->used);
}

static bool is_peer(struct gpumem_pool *pool,
		    const struct gpumem_device *device)
{
	bool is = false;

	pthread_mutex_lock(&pool->heap.mutex);
	for (size_t i = 0; i < pool->peer_count && !is; i++)
		is = pool->peers[i] == device;
	pthread_mutex_unlock(&pool->heap.mutex);
	return is;
}

static void say_pool(struct list *list, struct gpumem_pool *pool)
{
	uint64_t blocks, bytes;

	gm_heap_stop(&pool->heap);
	blocks = pool->heap.counters.blocks.current;
	bytes = pool->heap.counters.allocated.current;
	gm_heap_go(&pool->heap);
	say(list, "%s\"%s\"", list->count ? ", " : ": ", pool->name);
	if (pool->device != list->device)
		say(list, " of %s, with it as a peer", pool->device->info.name);
	say(list, " (%llu live block%s, %llu bytes)",
	    (unsigned long long)blocks, blocks == 1 ? "" : "s",
	    (unsigned long long)bytes);
}

/* The default pool does not. */
static bool holds(struct gpumem_pool *pool, struct gpumem_device *device)
{
	bool holds;

	if (pool->device != device)
		return is_peer(pool, device);
	pthread_mutex_lock(&device->mutex);
	holds = pool != device->default_pool;
	pthread_mutex_unlock(&device->mutex);
	return holds;
}

static bool add_pool(struct gpumem_pool *pool, void *user)
{
	struct list *list = user;

	if (!holds(pool, list->device))
		return true;
	if (list->count < NAMED)
		say_pool(list, pool);
	list->count++;
	return true;
}

static bool add_import(const void *ptr, void *user)
{
	struct list *list = user;

	if (list->count < NAMED)
		say(list, "%s%p", list->count ? ", " : ": ", ptr);
	list->count++;
	return true;
}

static gpumem_status refuse(const struct list *list, int count,
			    const char *what)
{
	const char *more = list->count > NAMED ? ", and more" : "";

	return gm_fail(GPUMEM_BUSY, "%d %s%s of %s %s left%s%s", count, what,
		       count == 1 ? "" : "s", list->device->info.name,
		       count == 1 ? "is" : "are", list->text, more);
}

gpumem_status gm_pool_refuse_held(struct gpumem_device *device)
{
	struct list list = {.device = device};
	int count = gm_device_holds(device, GM_HOLD_IMPORT);

	if (count) {
		gm_imports_visit(device, add_import, &list);
		return refuse(&list, count, "import");
	}
	count = gm_device_holds(device, GM_HOLD_EVENT);
	if (count)
		return refuse(&list, count, "event");
	count = gm_device_holds(device, GM_HOLD_POOL);
	if (!count)
		return GPUMEM_OK;
	gm_pools_visit(add_pool, &list);
	return refuse(&list, count, "pool");
}
