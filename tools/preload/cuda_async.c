/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of the driver's stream-ordered pools, for both default streams: that
 * of all threads, and with _ptsz that of each thread. What is counted is what
 * the program holds; the driver's pool may keep more. What is not captured is
 * served by gpumem's own pool where it can be, see served.h.
 */
#include "cuda_graph.h"
#include "pool.h"
#include "served.h"

/* In a wrapper of that name and parameters. */
#define ALLOC(name, standard, pool, ...)                                       \
	do {                                                                   \
		CUdeviceptr before = left(address_out, bytes);                 \
		CUresult result;                                               \
		bool node;                                                     \
                                                                               \
		if (!preload_enter())                                          \
			return REAL(name)(__VA_ARGS__);                        \
		node = graph_captures(stream ? stream : (standard));           \
		if (!node &&                                                   \
		    served_alloc(address_out, bytes, pool,                     \
				 stream ? stream : (standard), &result)) {     \
			preload_leave();                                       \
			return result;                                         \
		}                                                              \
		if (!node && !limit_begin(address_out, LEDGER_ASYNC, bytes)) { \
			preload_leave();                                       \
			return CUDA_ERROR_OUT_OF_MEMORY;                       \
		}                                                              \
		result = REAL(name)(__VA_ARGS__);                              \
		if (pool_relieve(result))                                      \
			result = REAL(name)(__VA_ARGS__);                      \
		if (node)                                                      \
			graph_captured(result,                                 \
				       given(result, address_out, before));    \
		else                                                           \
			count_alloc(result, BLOCK_ADDRESS, LEDGER_ASYNC,       \
				    given(result, address_out, before), bytes, \
				    stream_of(stream, standard));              \
		preload_leave();                                               \
		return result;                                                 \
	} while (0)

#define ALLOC_ASYNC(name, standard)                                            \
	CUresult wrap_##name(CUdeviceptr *address_out, size_t bytes,           \
			     CUstream stream)                                  \
	{                                                                      \
		ALLOC(name, standard, NULL, address_out, bytes, stream);       \
	}

#define ALLOC_FROM_POOL(name, standard)                                        \
	CUresult wrap_##name(CUdeviceptr *address_out, size_t bytes,           \
			     CUmemoryPool pool, CUstream stream)               \
	{                                                                      \
		ALLOC(name, standard, pool, address_out, bytes, pool, stream); \
	}

#define FREE_ASYNC(name, standard)                                             \
	CUresult wrap_##name(CUdeviceptr address, CUstream stream)             \
	{                                                                      \
		struct block block;                                            \
		CUresult result = CUDA_ERROR_INVALID_VALUE;                    \
                                                                               \
		if (!address || !preload_enter())                              \
			return REAL(name)(address, stream);                    \
		if (!graph_captures(stream ? stream : (standard)) &&           \
		    served_free(address, stream ? stream : (standard),         \
				&result)) {                                    \
			preload_leave();                                       \
			return result;                                         \
		}                                                              \
		if (graph_has(address)) {                                      \
			result = REAL(name)(address, stream);                  \
		} else if (!served_owns(address,                               \
					__builtin_return_address(0)) &&        \
			   pool_expose(address)) {                             \
			count_take(BLOCK_ADDRESS, address, &block);            \
			block.stream = stream_of(stream, standard);            \
			result = REAL(name)(address, stream);                  \
			count_free(result, &block);                            \
		}                                                              \
		preload_leave();                                               \
		return result;                                                 \
	}

/* `standard` is what NULL means. */
static const void *stream_of(CUstream stream, CUstream standard)
{
	if (!stream)
		stream = standard;
	return stream == CU_STREAM_LEGACY ? NULL : stream;
}

/* The driver takes a request for 0 bytes, and may leave what is there. */
static CUdeviceptr left(const CUdeviceptr *address, size_t bytes)
{
	return address && !bytes ? *address : 0;
}

/* 0: nothing. */
static CUdeviceptr given(CUresult result, const CUdeviceptr *address,
			 CUdeviceptr before)
{
	return result == CUDA_SUCCESS && *address != before ? *address : 0;
}

ALLOC_ASYNC(cuMemAllocAsync, CU_STREAM_LEGACY)
ALLOC_ASYNC(cuMemAllocAsync_ptsz, CU_STREAM_PER_THREAD)
ALLOC_FROM_POOL(cuMemAllocFromPoolAsync, CU_STREAM_LEGACY)
ALLOC_FROM_POOL(cuMemAllocFromPoolAsync_ptsz, CU_STREAM_PER_THREAD)
FREE_ASYNC(cuMemFreeAsync, CU_STREAM_LEGACY)
FREE_ASYNC(cuMemFreeAsync_ptsz, CU_STREAM_PER_THREAD)
