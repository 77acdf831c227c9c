/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* API layer: the word of each block that is the caller's. See api.c. */
#include <gpumem/gpumem.h>

#include "api_check.h"
#include "heap/block.h"
#include "pool/pool.h"
#include "share/shared.h"

static gpumem_status set_slow(const void *ptr, void *user)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(ptr);

	if (status != GPUMEM_OK)
		return status;
	if (gm_import_set_user(ptr, user))
		return GPUMEM_OK;
	return gm_pool_explain(ptr, gm_heap_set_user(ptr, user));
}

gpumem_status gpumem_block_set_user(void *ptr, void *user)
{
	gpumem_status status = gm_block_poke_user(ptr, user);

	return status == GPUMEM_NOT_READY ? set_slow(ptr, user) : status;
}

static gpumem_status get_slow(const void *ptr, void **user_out)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(ptr, user_out);

	if (status != GPUMEM_OK)
		return status;
	if (gm_import_get_user(ptr, user_out))
		return GPUMEM_OK;
	return gm_pool_explain(ptr, gm_heap_get_user(ptr, user_out));
}

gpumem_status gpumem_block_get_user(const void *ptr, void **user_out)
{
	if (user_out && gm_block_peek_user(ptr, user_out))
		return GPUMEM_OK;
	return get_slow(ptr, user_out);
}
