/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of the host that the driver allocates, or knows.
 */
#include "cuda_current.h"

static uint64_t number_of(const void *address)
{
	return (uintptr_t)address;
}

static void allocated(CUresult result, void *const *address, size_t bytes)
{
	count_alloc(result, BLOCK_ADDRESS, LEDGER_PINNED,
		    result == CUDA_SUCCESS ? number_of(*address) : 0, bytes,
		    NULL);
	preload_leave();
}

CUresult wrap_cuMemAllocHost_v2(void **address_out, size_t bytes)
{
	bool ours = preload_enter();
	CUresult result = REAL(cuMemAllocHost_v2)(address_out, bytes);

	if (ours)
		allocated(result, address_out, bytes);
	return result;
}

CUresult wrap_cuMemHostAlloc(void **address_out, size_t bytes, unsigned flags)
{
	bool ours = preload_enter();
	CUresult result = REAL(cuMemHostAlloc)(address_out, bytes, flags);

	if (ours)
		allocated(result, address_out, bytes);
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
		    number_of(address), bytes, NULL);
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
