/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The runtime's own ways to its functions: hipGetProcAddress(), which ROCm has
 * since 6.1, and hipGetDriverEntryPoint(). The variants with _spt are for the
 * default stream of each thread.
 */
#include "hip_hooks.h"

static void swap(hipError_t result, const char *symbol, void **pfn)
{
	if (result == hipSuccess && pfn && *pfn && preload_follows(LEDGER_HIP))
		*pfn = hook_swap_base(&hip_hooks, symbol, *pfn);
}

#define GET_PROC(name)                                                         \
	hipError_t wrap_##name(const char *symbol, void **pfn, int version,    \
			       uint64_t flags, void *status)                   \
	{                                                                      \
		hipError_t result =                                            \
			REAL(name)(symbol, pfn, version, flags, status);       \
                                                                               \
		swap(result, symbol, pfn);                                     \
		return result;                                                 \
	}

#define GET_ENTRY(name)                                                        \
	hipError_t wrap_##name(const char *symbol, void **pfn,                 \
			       unsigned long long flags, void *status)         \
	{                                                                      \
		hipError_t result = REAL(name)(symbol, pfn, flags, status);    \
                                                                               \
		swap(result, symbol, pfn);                                     \
		return result;                                                 \
	}

GET_PROC(hipGetProcAddress)
GET_PROC(hipGetProcAddress_spt)
GET_ENTRY(hipGetDriverEntryPoint)
GET_ENTRY(hipGetDriverEntryPoint_spt)
