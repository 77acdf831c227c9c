/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory that cuMemFree() frees: of the device, and managed; and how much there
 * is.
 */
#include "whole.h"

static CUresult alloc(CUdeviceptr *address_out, size_t bytes)
{
	CUresult result;

	whole_other_call();
	if (pool_alloc(address_out, bytes))
		return CUDA_SUCCESS;
	result = REAL(cuMemAlloc_v2)(address_out, bytes);
	if (pool_relieve(result))
		result = REAL(cuMemAlloc_v2)(address_out, bytes);
	count_alloc(result, BLOCK_ADDRESS, LEDGER_ALLOC,
		    result == CUDA_SUCCESS ? *address_out : 0, bytes);
	if (result == CUDA_SUCCESS)
		pool_missed();
	return result;
}

CUresult wrap_cuMemAlloc_v2(CUdeviceptr *address_out, size_t bytes)
{
	CUresult result;

	if (!preload_enter())
		return REAL(cuMemAlloc_v2)(address_out, bytes);
	result = alloc(address_out, bytes);
	preload_leave();
	return result;
}

CUresult wrap_cuMemAllocPitch_v2(CUdeviceptr *address_out, size_t *pitch_out,
				 size_t width, size_t height, unsigned element)
{
	bool ours = preload_enter();
	CUresult result = REAL(cuMemAllocPitch_v2)(address_out, pitch_out,
						   width, height, element);

	if (!ours)
		return result;
	if (pool_relieve(result))
		result = REAL(cuMemAllocPitch_v2)(address_out, pitch_out, width,
						  height, element);
	if (result == CUDA_SUCCESS) {
		count_alloc(result, BLOCK_ADDRESS, LEDGER_ALLOC, *address_out,
			    *pitch_out * height);
		/* The next one's rows could be others. */
		(void)pool_expose(*address_out);
	} else {
		count_alloc(result, BLOCK_ADDRESS, LEDGER_ALLOC, 0, 0);
	}
	preload_leave();
	return result;
}

CUresult wrap_cuMemAllocManaged(CUdeviceptr *address_out, size_t bytes,
				unsigned flags)
{
	bool ours = preload_enter();
	CUresult result = REAL(cuMemAllocManaged)(address_out, bytes, flags);

	if (!ours)
		return result;
	if (pool_relieve(result))
		result = REAL(cuMemAllocManaged)(address_out, bytes, flags);
	count_alloc(result, BLOCK_ADDRESS, LEDGER_MANAGED,
		    result == CUDA_SUCCESS ? *address_out : 0, bytes);
	preload_leave();
	return result;
}

/* May also be of a stream-ordered pool. */
CUresult wrap_cuMemFree_v2(CUdeviceptr address)
{
	struct block block;
	CUresult result;

	if (!address || !preload_enter())
		return REAL(cuMemFree_v2)(address);
	whole_other_call();
	if (!pool_free(address, &result)) {
		count_take(BLOCK_ADDRESS, address, &block);
		result = REAL(cuMemFree_v2)(address);
		count_free(result, &block);
	}
	preload_leave();
	return result;
}

/* What is kept is there for the program, as free memory is. */
CUresult wrap_cuMemGetInfo_v2(size_t *free_out, size_t *total_out)
{
	CUresult result;

	if (pool_enter()) {
		whole_other_call();
		preload_leave();
	}
	result = REAL(cuMemGetInfo_v2)(free_out, total_out);
	if (result != CUDA_SUCCESS || !free_out || !total_out || !pool_enter())
		return result;
	*free_out += pool_kept();
	if (*free_out > *total_out)
		*free_out = *total_out;
	preload_leave();
	return result;
}
