/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Sleep and wake of a pool: what core/sleep does, and for want of memory the
 * sentence that an allocation would get, which says who has it. See pool.h. */
#include "pool.h"
#include "base/error.h"
#include "sleep/sleep.h"

#include <stdio.h>
#include <string.h>

gpumem_status gm_pool_sleep(struct gpumem_pool *pool,
			    const struct gpumem_sleep_options *options,
			    struct gpumem_slept *slept)
{
	return gm_heap_sleep(&pool->heap, options, slept);
}

/* All still sleeps; and the figures. */
static gpumem_status explain(struct gpumem_pool *pool, gpumem_status status,
			     uint64_t need_bytes, bool device_limit)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	struct gm_tag_over over = {0};
	struct gm_request request = {.bytes = need_bytes,
				     .alignment = 1,
				     .over = &over,
				     .device_limit_out = &device_limit};
	char text[sizeof(error.text)];

	if (pool->reports)
		status = pool->reports->failed(pool, status, &request);
	gm_error_get(&error);
	snprintf(text, sizeof(text),
		 "nothing has woken up, and all still sleeps: free memory, and "
		 "call gpumem_pool_wake() again: %.880s",
		 error.text);
	memcpy(error.text, text, sizeof(text));
	gm_error_set(&error);
	return status;
}

gpumem_status gm_pool_wake(struct gpumem_pool *pool, uint32_t tag,
			   struct gpumem_slept *slept)
{
	uint64_t need_bytes = 0;
	bool device_limit = false;
	gpumem_status status = gm_heap_wake(&pool->heap, tag, slept,
					    &need_bytes, &device_limit);

	return status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT
		       ? explain(pool, status, need_bytes, device_limit)
		       : status;
}

void gm_pool_sleep_end(struct gpumem_pool *pool)
{
	gm_sleep_end(&pool->heap);
}
