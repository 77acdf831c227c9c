/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * cuGetProcAddress(), by which the CUDA runtime gets all of the driver. It has
 * two ABIs, and a program gets the wrapper of the one that it asked for.
 */
#include "cuda_hooks.h"

CUresult wrap_cuGetProcAddress(const char *symbol, void **pfn, int version,
			       cuuint64_t flags)
{
	CUresult result = REAL(cuGetProcAddress)(symbol, pfn, version, flags);

	if (result == CUDA_SUCCESS && pfn && *pfn &&
	    preload_follows(LEDGER_CUDA))
		*pfn = hook_swap_base(&cuda_hooks, symbol, *pfn);
	return result;
}

CUresult wrap_cuGetProcAddress_v2(const char *symbol, void **pfn, int version,
				  cuuint64_t flags, void *status)
{
	CUresult result =
		REAL(cuGetProcAddress_v2)(symbol, pfn, version, flags, status);

	if (result == CUDA_SUCCESS && pfn && *pfn &&
	    preload_follows(LEDGER_CUDA))
		*pfn = hook_swap_base(&cuda_hooks, symbol, *pfn);
	return result;
}
