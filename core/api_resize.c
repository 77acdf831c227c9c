/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* API layer: blocks that get larger or smaller where they lie. */
#include <gpumem/gpumem.h>

#include "api_check.h"
#include "cache/cache.h"
#include "pool/pool.h"

static gpumem_status resize_locked(void *ptr, size_t bytes,
				   gpumem_stream stream, uint64_t *usable_out)
{
	GM_SCOPE;

	if (!ptr)
		return gm_null_argument("ptr");
	if (!bytes)
		return gm_fail(GPUMEM_INVALID,
			       "bytes is 0: the end of a block is "
			       "gpumem_free()");
	return gm_pool_explain(ptr,
			       gm_heap_resize(ptr, bytes, stream, usable_out));
}

gpumem_status gpumem_resize(void *ptr, size_t bytes, gpumem_stream stream,
			    uint64_t *usable_bytes_out)
{
	uint64_t usable;
	gpumem_status status = gm_local_resize(ptr, bytes, stream, &usable);

	if (status == GPUMEM_NOT_READY)
		status = resize_locked(ptr, bytes, stream, &usable);
	if (status == GPUMEM_OK && usable_bytes_out)
		*usable_bytes_out = usable;
	return status;
}
