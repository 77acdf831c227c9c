/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* API layer: ranges of addresses. See api.c. */
#include <gpumem/gpumem.h>

#include "api_check.h"
#include "pool/pool.h"

static gpumem_status hook(gpumem_pool *pool, gpumem_range_fn fn, void *user,
			  bool adds)
{
	gpumem_status status = GM_ENTER(pool);

	if (status != GPUMEM_OK)
		return status;
	return fn ? gm_pool_range_hook(pool, fn, user, adds)
		  : gm_null_argument("fn");
}

gpumem_status gpumem_range_hook_add(gpumem_pool *pool, gpumem_range_fn fn,
				    void *user)
{
	GM_SCOPE;
	return hook(pool, fn, user, true);
}

gpumem_status gpumem_range_hook_remove(gpumem_pool *pool, gpumem_range_fn fn,
				       void *user)
{
	GM_SCOPE;
	return hook(pool, fn, user, false);
}

gpumem_status gpumem_range_pin(gpumem_pool *pool, const void *ptr, size_t bytes,
			       const char *name)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool, ptr, name);

	if (status == GPUMEM_OK)
		status = gm_pool_range_pin(pool, ptr, bytes, name, true);
	return status;
}

gpumem_status gpumem_range_unpin(gpumem_pool *pool, const void *ptr,
				 size_t bytes, const char *name)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool, ptr, name);

	if (status == GPUMEM_OK)
		status = gm_pool_range_pin(pool, ptr, bytes, name, false);
	return status;
}
