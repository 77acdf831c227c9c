/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory that is freed by its address: of the device, managed, and the host's.
 */
#include "count.h"

CUresult wrap_cuMemAlloc_v2(CUdeviceptr *address_out, size_t bytes)
{
	bool ours = preload_enter();
	CUresult result = REAL(cuMemAlloc_v2)(address_out, bytes);

	if (!ours)
		return result;
	count_alloc(result, BLOCK_ADDRESS, LEDGER_ALLOC,
		    result == CUDA_SUCCESS ? *address_out : 0, bytes);
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
	if (result == CUDA_SUCCESS)
		count_alloc(result, BLOCK_ADDRESS, LEDGER_ALLOC, *address_out,
			    *pitch_out * height);
	else
		count_alloc(result, BLOCK_ADDRESS, LEDGER_ALLOC, 0, 0);
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
	count_take(BLOCK_ADDRESS, address, &block);
	result = REAL(cuMemFree_v2)(address);
	count_free(result, &block);
	preload_leave();
	return result;
}

/* ---- the host's ------------------------------------------------------------
 */

static uint64_t number_of(const void *address)
{
	return (uintptr_t)address;
}

CUresult wrap_cuMemAllocHost_v2(void **address_out, size_t bytes)
{
	bool ours = preload_enter();
	CUresult result = REAL(cuMemAllocHost_v2)(address_out, bytes);

	if (!ours)
		return result;
	count_alloc(result, BLOCK_ADDRESS, LEDGER_PINNED,
		    result == CUDA_SUCCESS ? number_of(*address_out) : 0,
		    bytes);
	preload_leave();
	return result;
}

CUresult wrap_cuMemHostAlloc(void **address_out, size_t bytes, unsigned flags)
{
	bool ours = preload_enter();
	CUresult result = REAL(cuMemHostAlloc)(address_out, bytes, flags);

	if (!ours)
		return result;
	count_alloc(result, BLOCK_ADDRESS, LEDGER_PINNED,
		    result == CUDA_SUCCESS ? number_of(*address_out) : 0,
		    bytes);
	preload_leave();
	return result;
}

CUresult wrap_cuMemFreeHost(void *address)
{
	struct block block;
	CUresult result;

	if (!address || !preload_enter())
		return REAL(cuMemFreeHost)(address);
	count_take(BLOCK_ADDRESS, number_of(address), &block);
	result = REAL(cuMemFreeHost)(address);
	count_free(result, &block);
	preload_leave();
	return result;
}

CUresult wrap_cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags)
{
	bool ours = preload_enter();
	CUresult result = REAL(cuMemHostRegister_v2)(address, bytes, flags);

	if (!ours)
		return result;
	count_alloc(result, BLOCK_REGISTERED, LEDGER_REGISTERED,
		    number_of(address), bytes);
	preload_leave();
	return result;
}

CUresult wrap_cuMemHostUnregister(void *address)
{
	struct block block;
	CUresult result;

	if (!address || !preload_enter())
		return REAL(cuMemHostUnregister)(address);
	count_take(BLOCK_REGISTERED, number_of(address), &block);
	result = REAL(cuMemHostUnregister)(address);
	count_free(result, &block);
	preload_leave();
	return result;
}
