/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of the driver's stream-ordered pools, for both default streams: that
 * of all threads, and with _ptsz that of each thread. What is counted is what
 * the program holds; the driver's pool may keep more.
 */
#include "limit.h"
#include "pool.h"

/* In a wrapper of that name and parameters. */
#define ALLOC(name, ...)                                                       \
	do {                                                                   \
		CUresult result;                                               \
                                                                               \
		if (!preload_enter())                                          \
			return REAL(name)(__VA_ARGS__);                        \
		if (!limit_begin(address_out, LEDGER_ASYNC, bytes)) {          \
			preload_leave();                                       \
			return CUDA_ERROR_OUT_OF_MEMORY;                       \
		}                                                              \
		result = REAL(name)(__VA_ARGS__);                              \
		if (pool_relieve(result))                                      \
			result = REAL(name)(__VA_ARGS__);                      \
		allocated(result, address_out, bytes);                         \
		return result;                                                 \
	} while (0)

#define ALLOC_ASYNC(name)                                                      \
	CUresult wrap_##name(CUdeviceptr *address_out, size_t bytes,           \
			     CUstream stream)                                  \
	{                                                                      \
		ALLOC(name, address_out, bytes, stream);                       \
	}

#define ALLOC_FROM_POOL(name)                                                  \
	CUresult wrap_##name(CUdeviceptr *address_out, size_t bytes,           \
			     CUmemoryPool pool, CUstream stream)               \
	{                                                                      \
		ALLOC(name, address_out, bytes, pool, stream);                 \
	}

#define FREE_ASYNC(name)                                                       \
	CUresult wrap_##name(CUdeviceptr address, CUstream stream)             \
	{                                                                      \
		struct block block;                                            \
		CUresult result = CUDA_ERROR_INVALID_VALUE;                    \
                                                                               \
		if (!address || !preload_enter())                              \
			return REAL(name)(address, stream);                    \
		if (pool_expose(address)) {                                    \
			count_take(BLOCK_ADDRESS, address, &block);            \
			result = REAL(name)(address, stream);                  \
			count_free(result, &block);                            \
		}                                                              \
		preload_leave();                                               \
		return result;                                                 \
	}

static void allocated(CUresult result, const CUdeviceptr *address, size_t bytes)
{
	count_alloc(result, BLOCK_ADDRESS, LEDGER_ASYNC,
		    result == CUDA_SUCCESS ? *address : 0, bytes);
	preload_leave();
}

ALLOC_ASYNC(cuMemAllocAsync)
ALLOC_ASYNC(cuMemAllocAsync_ptsz)
ALLOC_FROM_POOL(cuMemAllocFromPoolAsync)
ALLOC_FROM_POOL(cuMemAllocFromPoolAsync_ptsz)
FREE_ASYNC(cuMemFreeAsync)
FREE_ASYNC(cuMemFreeAsync_ptsz)
