/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* API layer: recordings. See api.c. */
#include <gpumem/gpumem.h>

#include "api_check.h"
#include "pool/pool.h"

gpumem_status gpumem_record_begin(const char *path, uint64_t max_bytes)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(path);

	if (status != GPUMEM_OK)
		return status;
	return gm_pools_record(path, max_bytes);
}

gpumem_status gpumem_record_end(void)
{
	GM_SCOPE;
	gpumem_status status = gm_enter();

	return status != GPUMEM_OK ? status : gm_pools_record_end();
}
