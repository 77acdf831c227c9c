/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* API layer: statistics of pools, and walks over their memory. See api.c. */
#include <gpumem/gpumem.h>

#include "api_check.h"
#include "pool/pool.h"

gpumem_status gpumem_pool_reset_stats(gpumem_pool *pool, unsigned flags)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool);

	if (status == GPUMEM_OK)
		status = gm_check_flags(flags, GPUMEM_RESET_TOTALS);
	if (status == GPUMEM_OK)
		gm_pool_reset_stats(pool, flags & GPUMEM_RESET_TOTALS);
	return status;
}

gpumem_status gpumem_pool_stats(gpumem_pool *pool,
				struct gpumem_stats *stats_out)
{
	struct gpumem_stats stats;
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool, stats_out);

	if (status != GPUMEM_OK)
		return status;
	status = gm_check_struct(gpumem_stats, stats_out);
	if (status != GPUMEM_OK)
		return status;
	gm_pool_stats(pool, &stats);
	gm_struct_copy(stats_out, &stats);
	return GPUMEM_OK;
}

gpumem_status gpumem_pool_calls(gpumem_pool *pool, unsigned call,
				struct gpumem_call_stats *stats_out)
{
	struct gpumem_call_stats stats;
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool, stats_out);

	if (status != GPUMEM_OK)
		return status;
	if (call >= GPUMEM_CALL_COUNT)
		return gm_fail(GPUMEM_INVALID,
			       "call is %u; there are %u, from 0 on", call,
			       (unsigned)GPUMEM_CALL_COUNT);
	status = gm_check_struct(gpumem_call_stats, stats_out);
	if (status != GPUMEM_OK)
		return status;
	gm_pool_calls(pool, call, &stats);
	gm_struct_copy(stats_out, &stats);
	return GPUMEM_OK;
}

gpumem_status gpumem_block_visit(gpumem_pool *pool,
				 bool (*fn)(const struct gpumem_block *block,
					    void *user),
				 void *user)
{
	GM_SCOPE;
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	if (!fn)
		return gm_null_argument("fn");
	return pool ? gm_block_visit(pool, fn, user) : gm_null_argument("pool");
}

gpumem_status gpumem_pool_check(gpumem_pool *pool)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool);

	if (status != GPUMEM_OK)
		return status;
	return gm_pool_check(pool);
}
