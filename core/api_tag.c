/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* API layer: tags. See api.c. */
#include <gpumem/gpumem.h>

#include "api_check.h"
#include "pool/pool.h"

#include <string.h>

gpumem_status gpumem_tag_push(const char *name)
{
	uint32_t tag;
	GM_SCOPE;
	gpumem_status status = GM_ENTER(name);

	if (status == GPUMEM_OK)
		status = gm_tag_inside(gm_local_tag, name, strlen(name), &tag);
	if (status != GPUMEM_OK)
		return status;
	gm_record_tags();
	gm_local_set_tag(tag);
	return GPUMEM_OK;
}

gpumem_status gpumem_tag_pop(void)
{
	GM_SCOPE;
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	if (!gm_local_tag)
		return gm_fail(GPUMEM_INVALID, "the thread has no tag");
	gm_local_set_tag(gm_tag_parent(gm_local_tag));
	return GPUMEM_OK;
}

gpumem_status gpumem_tag_intern(const char *path, uint32_t *tag_out)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(path, tag_out);

	if (status != GPUMEM_OK)
		return status;
	status = gm_tag_of_path(path, tag_out);
	gm_record_tags();
	return status;
}

gpumem_status gpumem_tag_set(uint32_t tag)
{
	GM_SCOPE;
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	status = gm_check_tag(tag);
	if (status == GPUMEM_OK)
		gm_local_set_tag(tag);
	return status;
}

gpumem_status gpumem_tag_set_limit(gpumem_pool *pool, uint32_t tag,
				   uint64_t limit_bytes)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool);

	if (status != GPUMEM_OK)
		return status;
	if (!tag)
		return gm_fail(GPUMEM_INVALID,
			       "tag 0 is no tag; gpumem_pool_set_limit() "
			       "limits all blocks");
	status = gm_check_tag(tag);
	return status == GPUMEM_OK
		       ? gm_heap_tag_limit(&pool->heap, tag, limit_bytes)
		       : status;
}

uint32_t gpumem_tag_get(void)
{
	return gm_local_tag;
}

const char *gpumem_tag_path(uint32_t tag)
{
	return gm_tag_is(tag) ? gm_tag_path(tag) : NULL;
}

gpumem_status gpumem_tag_visit(gpumem_pool *pool,
			       bool (*fn)(const struct gpumem_tag *tag,
					  void *user),
			       void *user)
{
	GM_SCOPE;
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	if (!fn)
		return gm_null_argument("fn");
	if (!pool)
		return gm_null_argument("pool");
	gm_pool_visit_tags(pool, fn, user);
	return GPUMEM_OK;
}
