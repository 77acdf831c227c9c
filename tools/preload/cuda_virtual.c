/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Physical memory with handles, and addresses. Memory is held until its handle
 * is released and it is mapped nowhere; what was imported is counted where it
 * was made.
 */
#include "pool.h"
#include "served.h"

static bool is_of_device(const CUmemAllocationProp *prop)
{
	return prop && prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
	       prop->location.id >= 0 && prop->location.id < LEDGER_DEVICES;
}

static CUresult create(CUmemGenericAllocationHandle *handle_out, size_t bytes,
		       const CUmemAllocationProp *prop,
		       unsigned long long flags)
{
	int device = prop->location.id;
	CUresult result;

	if (!limit_begin_on(handle_out, LEDGER_VIRTUAL, device, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = REAL(cuMemCreate)(handle_out, bytes, prop, flags);
	if (result == CUDA_ERROR_OUT_OF_MEMORY && pool_empty(device) != 0)
		result = REAL(cuMemCreate)(handle_out, bytes, prop, flags);
	count_alloc_on(result, LEDGER_VIRTUAL, device, BLOCK_HANDLE,
		       result == CUDA_SUCCESS ? *handle_out : 0, bytes);
	return result;
}

CUresult wrap_cuMemCreate(CUmemGenericAllocationHandle *handle_out,
			  size_t bytes, const CUmemAllocationProp *prop,
			  unsigned long long flags)
{
	CUresult result;

	/* Others are of the host. */
	if (is_of_device(prop) && served_inside())
		return served_create(handle_out, bytes, prop, flags);
	if (!is_of_device(prop) || !preload_enter())
		return REAL(cuMemCreate)(handle_out, bytes, prop, flags);
	result = create(handle_out, bytes, prop, flags);
	preload_leave();
	return result;
}

CUresult wrap_cuMemRelease(CUmemGenericAllocationHandle handle)
{
	CUresult result;

	if (served_inside())
		return served_release(handle);
	if (!preload_enter())
		return REAL(cuMemRelease)(handle);
	count_release(LEDGER_CUDA, handle);
	result = REAL(cuMemRelease)(handle);
	limit_leave();
	preload_leave();
	return result;
}

/* Of a block that is served the driver has a handle, which is not the
 * program's. */
CUresult
wrap_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle_out,
				 void *address)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	struct block served;

	if (!preload_enter())
		return REAL(cuMemRetainAllocationHandle)(handle_out, address);
	if (!served_find((uintptr_t)address, &served))
		result = REAL(cuMemRetainAllocationHandle)(handle_out, address);
	if (result == CUDA_SUCCESS)
		count_retain(LEDGER_CUDA, *handle_out);
	preload_leave();
	return result;
}

CUresult wrap_cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
		       CUmemGenericAllocationHandle handle,
		       unsigned long long flags)
{
	CUresult result;

	if (!preload_enter())
		return REAL(cuMemMap)(address, bytes, offset, handle, flags);
	result = REAL(cuMemMap)(address, bytes, offset, handle, flags);
	if (result == CUDA_SUCCESS)
		count_map(LEDGER_CUDA, address, bytes, handle);
	preload_leave();
	return result;
}

CUresult wrap_cuMemUnmap(CUdeviceptr address, size_t bytes)
{
	CUresult result;

	if (!preload_enter())
		return REAL(cuMemUnmap)(address, bytes);
	result = REAL(cuMemUnmap)(address, bytes);
	if (result == CUDA_SUCCESS)
		count_unmap(LEDGER_CUDA, address, bytes);
	preload_leave();
	return result;
}
