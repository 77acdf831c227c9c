/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A pool of docs/examples/umf_pool.c through UMF's library alone, as it is
 * released: created, used, grown until nothing is left, destroyed.
 */
#include <umf_pool.h>
#include "../tap.h"

#include <string.h>
#include <unistd.h>
#include <umf.h>
#include <umf/providers/provider_fixed_memory.h>

static char memory[1 << 20]; /* of the provider, which the pool does not use */

int main(void)
{
	umf_fixed_memory_provider_params_handle_t params = NULL;
	umf_memory_provider_handle_t provider = NULL;
	umf_memory_pool_handle_t pool = NULL;
	size_t count = 0;
	char *block;

	alarm(60);
	if (umfFixedMemoryProviderParamsCreate(memory, sizeof(memory),
					       &params) ||
	    umfMemoryProviderCreate(umfFixedMemoryProviderOps(), params,
				    &provider))
		bail("UMF has no provider");
	is_int(umfPoolCreate(gpumem_umf_pool_ops(), provider, NULL, 0, &pool),
	       UMF_RESULT_SUCCESS, "a pool");
	block = umfPoolMalloc(pool, 1000);
	ok(block != NULL, "a block");
	if (block)
		memset(block, 7, 1000);
	is_int(umfPoolFree(pool, block), UMF_RESULT_SUCCESS, "is freed");
	while (umfPoolMalloc(pool, 32u << 20))
		count++;
	ok(count > 0 && count <= 8, "%zu of 32 MiB fit into 256 MiB", count);
	is_int(umfPoolDestroy(pool), UMF_RESULT_SUCCESS, "destroyed");
	(void)umfMemoryProviderDestroy(provider);
	(void)umfFixedMemoryProviderParamsDestroy(params);
	return done_testing();
}
