/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Who is told of a pool's ranges, and what is pinned (space/ranges.h): the
 * heap's mutex is taken here. */
#include "pool.h"
#include "base/error.h"

#include <string.h>

gpumem_status gm_pool_range_hook(struct gpumem_pool *pool, gpumem_range_fn fn,
				 void *user, bool adds)
{
	const struct gm_range_hook hook = {
		.fn = fn, .pool = pool, .user = user};
	struct gm_heap *heap = &pool->heap;
	gpumem_status status;

	pthread_mutex_lock(&heap->mutex);
	status = adds ? gm_ranges_add(heap, &hook)
		      : gm_ranges_remove(heap, &hook);
	pthread_mutex_unlock(&heap->mutex);
	return status;
}

gpumem_status gm_pool_range_pin(struct gpumem_pool *pool, const void *ptr,
				size_t bytes, const char *name, bool pins)
{
	struct gm_range_pin pin = {.address = (uintptr_t)ptr, .bytes = bytes};
	struct gm_heap *heap = &pool->heap;
	gpumem_status status;

	if (!bytes)
		return gm_fail(GPUMEM_INVALID, "bytes is 0");
	if (!*name || strlen(name) >= sizeof(pin.name))
		return gm_fail(GPUMEM_INVALID,
			       "name is to have 1 to %zu characters",
			       sizeof(pin.name) - 1);
	strcpy(pin.name, name);
	pthread_mutex_lock(&heap->mutex);
	status = pins ? gm_ranges_pin(heap, &pin) : gm_ranges_unpin(heap, &pin);
	pthread_mutex_unlock(&heap->mutex);
	return status;
}
