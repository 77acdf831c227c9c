/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* API layer: sleep and wake. See api.c. */
#include <gpumem/gpumem.h>

#include "api_check.h"
#include "pool/pool.h"

gpumem_status gpumem_tag_set_sleep(uint32_t tag, gpumem_sleep sleep)
{
	GM_SCOPE;
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	if (!tag)
		return gm_fail(GPUMEM_INVALID,
			       "tag 0 is no tag; blocks without one keep their "
			       "content in a sleep");
	if ((unsigned)sleep > GPUMEM_SLEEP_ZERO)
		return gm_fail(GPUMEM_INVALID,
			       "%u says nothing of a sleep (gpumem_sleep)",
			       (unsigned)sleep);
	status = gm_check_tag(tag);
	if (status == GPUMEM_OK)
		gm_tag_set_sleep(tag, sleep);
	return status;
}

/* NULL: all default. */
static gpumem_status take_options(const struct gpumem_sleep_options *given,
				  struct gpumem_sleep_options *own)
{
	const unsigned known = GPUMEM_SLEEP_PAGEABLE | GPUMEM_SLEEP_RETAIN;
	gpumem_status status = GPUMEM_OK;

	if (given)
		status = gm_struct_take(
			&gm_structs[GM_STRUCT_gpumem_sleep_options], own,
			given);
	if (status == GPUMEM_OK)
		status = gm_check_flags(own->flags, known);
	return status == GPUMEM_OK ? gm_check_tag(own->tag) : status;
}

gpumem_status gpumem_pool_sleep(gpumem_pool *pool,
				const struct gpumem_sleep_options *options,
				struct gpumem_slept *slept_out)
{
	GM_SCOPE;
	struct gpumem_sleep_options own = {.size = sizeof(own)};
	struct gpumem_slept slept = {.size = sizeof(slept)};
	gpumem_status status = GM_ENTER(pool);

	if (status == GPUMEM_OK && slept_out)
		status = gm_check_struct(gpumem_slept, slept_out);
	if (status != GPUMEM_OK)
		return status;
	status = take_options(options, &own);
	if (status == GPUMEM_OK)
		status = gm_pool_sleep(pool, &own, &slept);
	if (status == GPUMEM_OK && slept_out)
		gm_struct_copy(slept_out, &slept);
	return status;
}

gpumem_status gpumem_pool_wake(gpumem_pool *pool, uint32_t tag,
			       struct gpumem_slept *slept_out)
{
	GM_SCOPE;
	struct gpumem_slept slept = {.size = sizeof(slept)};
	gpumem_status status = GM_ENTER(pool);

	if (status == GPUMEM_OK && slept_out)
		status = gm_check_struct(gpumem_slept, slept_out);
	if (status != GPUMEM_OK)
		return status;
	status = gm_check_tag(tag);
	if (status == GPUMEM_OK)
		status = gm_pool_wake(pool, tag, &slept);
	if (status == GPUMEM_OK && slept_out)
		gm_struct_copy(slept_out, &slept);
	return status;
}
