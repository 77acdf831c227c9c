/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Physical memory with handles. It is held until its handle is released and it
 * is mapped nowhere; what was imported is counted where it was made.
 */
#include "pool.h"

static bool is_of_device(const CUmemAllocationProp *prop)
{
	return prop && prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
	       prop->location.id >= 0 && prop->location.id < LEDGER_DEVICES;
}

CUresult wrap_cuMemCreate(CUmemGenericAllocationHandle *handle_out,
			  size_t bytes, const CUmemAllocationProp *prop,
			  unsigned long long flags)
{
	bool ours = preload_enter();
	CUresult result = REAL(cuMemCreate)(handle_out, bytes, prop, flags);

	if (!ours)
		return result;
	if (result == CUDA_ERROR_OUT_OF_MEMORY && is_of_device(prop) &&
	    pool_empty(prop->location.id))
		result = REAL(cuMemCreate)(handle_out, bytes, prop, flags);
	/* Others are of the host. */
	if (is_of_device(prop))
		count_alloc_on(result, LEDGER_VIRTUAL, prop->location.id,
			       BLOCK_HANDLE,
			       result == CUDA_SUCCESS ? *handle_out : 0, bytes);
	preload_leave();
	return result;
}

CUresult wrap_cuMemRelease(CUmemGenericAllocationHandle handle)
{
	CUresult result;

	if (!preload_enter())
		return REAL(cuMemRelease)(handle);
	count_release(handle);
	result = REAL(cuMemRelease)(handle);
	preload_leave();
	return result;
}

CUresult wrap_cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
		       CUmemGenericAllocationHandle handle,
		       unsigned long long flags)
{
	bool ours = preload_enter();
	CUresult result = REAL(cuMemMap)(address, bytes, offset, handle, flags);

	if (!ours)
		return result;
	if (result == CUDA_SUCCESS)
		count_map(address, bytes, handle);
	preload_leave();
	return result;
}

CUresult wrap_cuMemUnmap(CUdeviceptr address, size_t bytes)
{
	bool ours = preload_enter();
	CUresult result = REAL(cuMemUnmap)(address, bytes);

	if (!ours)
		return result;
	if (result == CUDA_SUCCESS)
		count_unmap(address, bytes);
	preload_leave();
	return result;
}
