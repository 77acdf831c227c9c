/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* API layer: tracking of live blocks, and reports of leaks. See api.c. */
#include "api_check.h"
#include "report/report.h"

uint64_t gpumem_leak_mark(void)
{
	return gm_track_mark();
}

gpumem_status gpumem_pool_track_begin(gpumem_pool *pool, unsigned max_frames)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool);

	if (status != GPUMEM_OK)
		return status;
	if (max_frames > GPUMEM_FRAMES_MAX)
		return gm_fail(GPUMEM_INVALID,
			       "max_frames is %u; %u are kept at most",
			       max_frames, GPUMEM_FRAMES_MAX);
	gm_heap_track_begin(&pool->heap, max_frames);
	return GPUMEM_OK;
}

gpumem_status gpumem_pool_track_end(gpumem_pool *pool)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool);

	if (status != GPUMEM_OK)
		return status;
	gm_heap_track_end(&pool->heap);
	return GPUMEM_OK;
}

gpumem_status
gpumem_pool_print_leaks(gpumem_pool *pool, uint64_t since, uint64_t until,
			unsigned flags,
			void (*write)(const char *text, void *user), void *user)
{
	GM_SCOPE;
	gpumem_status status = gm_enter_print(pool, "pool", write, flags);

	if (status == GPUMEM_OK)
		status = gm_pool_print_leaks(pool, since, until,
					     flags & GPUMEM_PRINT_JSON, write,
					     user);
	return status;
}
