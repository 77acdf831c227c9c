/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The suite that UMF has for pools, on docs/examples/umf_pool.c: umf.sh. The
 * provider is not used by the pool; UMF wants one. */
#include <umf/providers/provider_os_memory.h>

#include "pool.hpp"
#include "poolFixtures.hpp"
#include "provider.hpp"

#include "umf_pool.h"

#include <gpumem/gpumem.h>

namespace {

void *provider_params()
{
	umf_os_memory_provider_params_handle_t params = nullptr;

	if (umfOsMemoryProviderParamsCreate(&params) != UMF_RESULT_SUCCESS)
		throw std::runtime_error("no parameters for a provider");
	return params;
}

umf_result_t provider_params_end(void *params)
{
	return umfOsMemoryProviderParamsDestroy(
		static_cast<umf_os_memory_provider_params_handle_t>(params));
}

const poolCreateExtParams gpumem_pools{gpumem_umf_pool_ops(),
				       nullptr,
				       nullptr,
				       umfOsMemoryProviderOps(),
				       provider_params,
				       provider_params_end};

INSTANTIATE_TEST_SUITE_P(gpumem, umfPoolTest, ::testing::Values(gpumem_pools),
			 poolCreateExtParamsNameGen);
INSTANTIATE_TEST_SUITE_P(gpumem, umfMultiPoolTest,
			 ::testing::Values(gpumem_pools),
			 poolCreateExtParamsNameGen);
INSTANTIATE_TEST_SUITE_P(gpumem, umfMemTest,
			 ::testing::Values(std::make_tuple(gpumem_pools, 16)));

} // namespace
