/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * API layer: what pools and devices say of themselves to people and to
 * programs, and the hook that a pool calls. Its numbers are in api_stats.c. See
 * api.c.
 */
#include "api_check.h"
#include "report/report.h"

const char *gpumem_pool_name(const gpumem_pool *pool)
{
	return pool ? pool->name : NULL;
}

gpumem_device *gpumem_pool_device(const gpumem_pool *pool)
{
	return pool ? pool->device : NULL;
}

gpumem_status gpumem_pool_capacity(gpumem_pool *pool, gpumem_stream stream,
				   struct gpumem_capacity *capacity_out)
{
	struct gpumem_capacity capacity;
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool, capacity_out);

	if (status != GPUMEM_OK)
		return status;
	status = gm_check_struct(gpumem_capacity, capacity_out);
	if (status == GPUMEM_OK)
		status =
			gm_pool_capacity(pool, stream, gm_local_tag, &capacity);
	if (status == GPUMEM_OK)
		gm_struct_copy(capacity_out, &capacity);
	return status;
}

gpumem_status gpumem_pool_print(gpumem_pool *pool, unsigned flags,
				void (*write)(const char *text, void *user),
				void *user)
{
	GM_SCOPE;
	gpumem_status status = gm_enter_print(pool, "pool", write, flags);

	if (status == GPUMEM_OK)
		gm_pool_print(pool, flags & GPUMEM_PRINT_JSON, write, user);
	return status;
}

gpumem_status gpumem_device_report(gpumem_device *device, unsigned flags,
				   void (*write)(const char *text, void *user),
				   void *user)
{
	GM_SCOPE;
	gpumem_status status = gm_enter_print(device, "device", write, flags);

	if (status == GPUMEM_OK)
		status = gm_device_report(device, flags & GPUMEM_PRINT_JSON,
					  write, user);
	return status;
}

gpumem_status gpumem_pool_hook_set(gpumem_pool *pool, gpumem_hook_fn fn,
				   void *user)
{
	const struct gm_hook hook = {.fn = fn, .pool = pool, .user = user};
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool);

	if (status != GPUMEM_OK)
		return status;
	gm_hook_set(&pool->heap, &hook);
	return GPUMEM_OK;
}
