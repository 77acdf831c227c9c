/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Physical memory with handles, and addresses. Memory is held until its handle
 * is released and it is mapped nowhere; what was imported is counted where it
 * was made. Each call first asks whole.h whether it goes on with a whole.
 */
#include "served.h"
#include "whole.h"

static bool is_of_device(const CUmemAllocationProp *prop)
{
	return prop && prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
	       prop->location.id >= 0 && prop->location.id < LEDGER_DEVICES;
}

/* ---- handles ---------------------------------------------------------------
 */

static CUresult create(CUmemGenericAllocationHandle *handle_out, size_t bytes,
		       const CUmemAllocationProp *prop,
		       unsigned long long flags)
{
	int device = prop->location.id;
	CUresult result = CUDA_SUCCESS;
	bool again = preload_pooling() &&
		     whole_create(handle_out, bytes, prop, flags);

	if (!again &&
	    !limit_begin_on(handle_out, LEDGER_VIRTUAL, device, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!again)
		result = REAL(cuMemCreate)(handle_out, bytes, prop, flags);
	if (result == CUDA_ERROR_OUT_OF_MEMORY && pool_empty(device) != 0)
		result = REAL(cuMemCreate)(handle_out, bytes, prop, flags);
	count_alloc_on(result, LEDGER_VIRTUAL, device, BLOCK_HANDLE,
		       result == CUDA_SUCCESS ? *handle_out : 0, bytes);
	if (again || result != CUDA_SUCCESS || !preload_pooling())
		return result;
	whole_created(*handle_out, bytes, prop);
	pool_missed();
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
	if (!preload_pooling() || !whole_release(handle, &result)) {
		count_release(LEDGER_CUDA, handle);
		result = REAL(cuMemRelease)(handle);
		limit_leave();
	} else if (result == CUDA_SUCCESS) {
		count_release(LEDGER_CUDA, handle);
		whole_released();
	}
	preload_leave();
	return result;
}

/* False: it was released, and the driver would not know it. */
static bool expose_handle(CUmemGenericAllocationHandle handle)
{
	bool live;

	if (!pool_enter())
		return true;
	live = whole_expose_handle(handle);
	preload_leave();
	return live;
}

CUresult wrap_cuMemExportToShareableHandle(void *out,
					   CUmemGenericAllocationHandle handle,
					   CUmemAllocationHandleType type,
					   unsigned long long flags)
{
	if (!expose_handle(handle))
		return CUDA_ERROR_INVALID_VALUE;
	return REAL(cuMemExportToShareableHandle)(out, handle, type, flags);
}

CUresult wrap_cuMulticastBindMem(CUmemGenericAllocationHandle multicast,
				 size_t offset,
				 CUmemGenericAllocationHandle handle,
				 size_t handle_offset, size_t bytes,
				 unsigned long long flags)
{
	if (!expose_handle(handle))
		return CUDA_ERROR_INVALID_VALUE;
	return REAL(cuMulticastBindMem)(multicast, offset, handle,
					handle_offset, bytes, flags);
}

CUresult
wrap_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle_out,
				 void *address)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	struct block served;

	if (!preload_enter())
		return REAL(cuMemRetainAllocationHandle)(handle_out, address);
	if (!served_find((uintptr_t)address, &served) &&
	    (!preload_pooling() || pool_expose((uintptr_t)address)))
		result = REAL(cuMemRetainAllocationHandle)(handle_out, address);
	if (result == CUDA_SUCCESS)
		count_retain(LEDGER_CUDA, *handle_out);
	preload_leave();
	return result;
}

/* Handles in arrays are not followed. */
#define MAP_ARRAY(name)                                                        \
	CUresult wrap_##name(void *list, unsigned count, CUstream stream)      \
	{                                                                      \
		if (pool_enter()) {                                            \
			whole_stop();                                          \
			preload_leave();                                       \
		}                                                              \
		return REAL(name)(list, count, stream);                        \
	}

MAP_ARRAY(cuMemMapArrayAsync)
MAP_ARRAY(cuMemMapArrayAsync_ptsz)

/* ---- addresses -------------------------------------------------------------
 */

CUresult wrap_cuMemAddressReserve(CUdeviceptr *address_out, size_t bytes,
				  size_t alignment, CUdeviceptr wanted,
				  unsigned long long flags)
{
	CUresult result = CUDA_SUCCESS;

	if (!pool_enter())
		return REAL(cuMemAddressReserve)(address_out, bytes, alignment,
						 wanted, flags);
	if (!whole_reserve(address_out, bytes, alignment, wanted, flags)) {
		result = REAL(cuMemAddressReserve)(address_out, bytes,
						   alignment, wanted, flags);
		if (result == CUDA_SUCCESS)
			whole_reserved(*address_out, bytes, alignment);
	}
	preload_leave();
	return result;
}

CUresult wrap_cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
	CUresult result;

	if (!pool_enter())
		return REAL(cuMemAddressFree)(address, bytes);
	if (!whole_free(address, bytes, &result))
		result = REAL(cuMemAddressFree)(address, bytes);
	preload_leave();
	return result;
}

/* ---- mappings --------------------------------------------------------------
 */

static CUresult map(CUdeviceptr address, size_t bytes, size_t offset,
		    CUmemGenericAllocationHandle handle,
		    unsigned long long flags)
{
	CUresult result;

	if (preload_pooling() &&
	    whole_map(address, bytes, offset, handle, flags, &result))
		return result;
	result = REAL(cuMemMap)(address, bytes, offset, handle, flags);
	if (result == CUDA_SUCCESS && preload_pooling())
		whole_mapped(handle);
	return result;
}

CUresult wrap_cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
		       CUmemGenericAllocationHandle handle,
		       unsigned long long flags)
{
	CUresult result;

	if (!preload_enter())
		return REAL(cuMemMap)(address, bytes, offset, handle, flags);
	result = map(address, bytes, offset, handle, flags);
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
	if (!preload_pooling() || !whole_unmap(address, bytes, &result))
		result = REAL(cuMemUnmap)(address, bytes);
	if (result == CUDA_SUCCESS)
		count_unmap(LEDGER_CUDA, address, bytes);
	preload_leave();
	return result;
}

CUresult wrap_cuMemSetAccess(CUdeviceptr address, size_t bytes,
			     const CUmemAccessDesc *desc, size_t count)
{
	CUresult result;

	if (!pool_enter())
		return REAL(cuMemSetAccess)(address, bytes, desc, count);
	if (!whole_access(address, bytes, desc, count, &result)) {
		result = REAL(cuMemSetAccess)(address, bytes, desc, count);
		if (result == CUDA_SUCCESS)
			whole_accessed(address);
	}
	preload_leave();
	return result;
}

CUresult wrap_cuMemGetAccess(unsigned long long *flags,
			     const CUmemLocation *location, CUdeviceptr address)
{
	bool live = true;

	if (pool_enter()) {
		live = pool_expose(address);
		preload_leave();
	}
	if (!live)
		return CUDA_ERROR_INVALID_VALUE;
	return REAL(cuMemGetAccess)(flags, location, address);
}
