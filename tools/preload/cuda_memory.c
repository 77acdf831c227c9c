/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory that cuMemFree() frees: of the device, and managed; and how much there
 * is.
 */
#include "cuda_graph.h"
#include "pool.h"
#include "served.h"

#include <limits.h>

static CUresult alloc(CUdeviceptr *address_out, size_t bytes)
{
	CUresult result;

	if (pool_alloc(address_out, bytes))
		return CUDA_SUCCESS;
	if (!limit_begin(address_out, LEDGER_ALLOC, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = REAL(cuMemAlloc_v2)(address_out, bytes);
	if (pool_relieve(result))
		result = REAL(cuMemAlloc_v2)(address_out, bytes);
	count_alloc(result, BLOCK_ADDRESS, LEDGER_ALLOC,
		    result == CUDA_SUCCESS ? *address_out : 0, bytes, NULL);
	if (result == CUDA_SUCCESS)
		pool_missed();
	return result;
}

CUresult wrap_cuMemAlloc_v2(CUdeviceptr *address_out, size_t bytes)
{
	CUresult result;

	if (served_inside())
		return served_take(address_out, bytes,
				   __builtin_return_address(0));
	if (!preload_enter())
		return REAL(cuMemAlloc_v2)(address_out, bytes);
	result = alloc(address_out, bytes);
	preload_leave();
	return result;
}

static CUresult alloc_pitch(CUdeviceptr *address_out, size_t *pitch_out,
			    size_t width, size_t height, unsigned element)
{
	CUresult result;

	if (!limit_begin(address_out, LEDGER_ALLOC, limit_rows(width, height)))
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = REAL(cuMemAllocPitch_v2)(address_out, pitch_out, width, height,
					  element);
	if (pool_relieve(result))
		result = REAL(cuMemAllocPitch_v2)(address_out, pitch_out, width,
						  height, element);
	if (result == CUDA_SUCCESS) {
		count_alloc(result, BLOCK_ADDRESS, LEDGER_ALLOC, *address_out,
			    *pitch_out * height, NULL);
		/* The next one's rows could be others. */
		(void)pool_expose(*address_out);
	} else {
		count_alloc(result, BLOCK_ADDRESS, LEDGER_ALLOC, 0,
			    limit_rows(width, height), NULL);
	}
	return result;
}

CUresult wrap_cuMemAllocPitch_v2(CUdeviceptr *address_out, size_t *pitch_out,
				 size_t width, size_t height, unsigned element)
{
	CUresult result;

	if (!preload_enter())
		return REAL(cuMemAllocPitch_v2)(address_out, pitch_out, width,
						height, element);
	result = alloc_pitch(address_out, pitch_out, width, height, element);
	preload_leave();
	return result;
}

static CUresult alloc_managed(CUdeviceptr *address_out, size_t bytes,
			      unsigned flags)
{
	CUresult result;

	if (!limit_begin(address_out, LEDGER_MANAGED, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = REAL(cuMemAllocManaged)(address_out, bytes, flags);
	if (pool_relieve(result))
		result = REAL(cuMemAllocManaged)(address_out, bytes, flags);
	count_alloc(result, BLOCK_ADDRESS, LEDGER_MANAGED,
		    result == CUDA_SUCCESS ? *address_out : 0, bytes, NULL);
	return result;
}

CUresult wrap_cuMemAllocManaged(CUdeviceptr *address_out, size_t bytes,
				unsigned flags)
{
	CUresult result;

	if (!preload_enter())
		return REAL(cuMemAllocManaged)(address_out, bytes, flags);
	result = alloc_managed(address_out, bytes, flags);
	preload_leave();
	return result;
}

/* May also be of a stream-ordered pool, or a graph's. */
CUresult wrap_cuMemFree_v2(CUdeviceptr address)
{
	struct block block;
	CUresult result;

	if (served_inside())
		return served_give(address);
	if (!address || !preload_enter())
		return REAL(cuMemFree_v2)(address);
	if (served_free_now(address, &result)) {
		preload_leave();
		return result;
	}
	if (graph_has(address)) {
		result = REAL(cuMemFree_v2)(address);
	} else if (served_owns(address, __builtin_return_address(0))) {
		result = CUDA_ERROR_INVALID_VALUE;
	} else if (!pool_free(address, &result)) {
		count_take(BLOCK_ADDRESS, address, &block);
		result = REAL(cuMemFree_v2)(address);
		count_free(result, &block);
	}
	preload_leave();
	return result;
}

/* Of the device of the current context; a program may ask for one number. */
static size_t total_bytes(void)
{
	size_t free_bytes, total;

	return REAL(cuMemGetInfo_v2)(&free_bytes, &total) == CUDA_SUCCESS
		       ? total
		       : SIZE_MAX;
}

/* What is kept is there for the program, as free memory is. */
static void bound(size_t *free_out, size_t *total_out)
{
	size_t total = limit_total(total_out ? *total_out : total_bytes());

	if (free_out) {
		*free_out = limit_free(*free_out + pool_kept());
		if (*free_out > total)
			*free_out = total;
	}
	if (total_out)
		*total_out = total;
}

/* Either may be NULL. */
CUresult wrap_cuMemGetInfo_v2(size_t *free_out, size_t *total_out)
{
	CUresult result;

	if (!preload_enter())
		return REAL(cuMemGetInfo_v2)(free_out, total_out);
	result = REAL(cuMemGetInfo_v2)(free_out, total_out);
	if (result == CUDA_SUCCESS)
		bound(free_out, total_out);
	preload_leave();
	return result;
}

/* Of old programs, in 32 bits. */
CUresult wrap_cuMemGetInfo(unsigned *free_out, unsigned *total_out)
{
	size_t free_bytes, total;
	CUresult result;

	if (!preload_enter())
		return REAL(cuMemGetInfo)(free_out, total_out);
	result = REAL(cuMemGetInfo)(free_out, total_out);
	if (result == CUDA_SUCCESS) {
		free_bytes = free_out ? *free_out : 0;
		total = total_out ? *total_out : UINT_MAX;
		bound(&free_bytes, &total);
		if (free_out)
			*free_out = (unsigned)free_bytes;
		if (total_out)
			*total_out = (unsigned)total;
	}
	preload_leave();
	return result;
}

CUresult wrap_cuDeviceTotalMem_v2(size_t *bytes_out, CUdevice device)
{
	CUresult result = REAL(cuDeviceTotalMem_v2)(bytes_out, device);

	if (result == CUDA_SUCCESS && bytes_out && preload_follows(LEDGER_CUDA))
		*bytes_out = limit_total(*bytes_out);
	return result;
}
