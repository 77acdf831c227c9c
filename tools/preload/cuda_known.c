/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What tells others of a block: handles for other processes and devices, and
 * the driver's numbers by which libraries recognise a block and remember it.
 * Who has seen a block may rely on it being gone when it is freed. A block that
 * is larger than its request is described as one of the request.
 *
 * A block that is served is described as one of the driver's pool that the
 * program named, and has no handle of its own.
 */
#include "pool.h"
#include "served.h"

#include <string.h>

enum { BUFFER_ID = 7 }; /* of enum CUpointer_attribute */

/* Before a call that shares the block, or asks what makes it one of its own; it
 * is known to others then. False: the program has freed it. */
static bool share(CUdeviceptr address)
{
	struct block served;
	bool live;

	if (!pool_enter())
		return true;
	live = !served_find(address, &served) && pool_expose(address);
	preload_leave();
	return live;
}

CUresult wrap_cuIpcGetMemHandle(CUipcMemHandle *handle_out, CUdeviceptr address)
{
	if (!share(address))
		return CUDA_ERROR_INVALID_VALUE;
	return REAL(cuIpcGetMemHandle)(handle_out, address);
}

CUresult wrap_cuMemGetHandleForAddressRange(void *handle_out,
					    CUdeviceptr address, size_t bytes,
					    int type, unsigned long long flags)
{
	if (!share(address))
		return CUDA_ERROR_INVALID_VALUE;
	return REAL(cuMemGetHandleForAddressRange)(handle_out, address, bytes,
						   type, flags);
}

CUresult wrap_cuMulticastBindAddr(CUmemGenericAllocationHandle multicast,
				  size_t offset, CUdeviceptr address,
				  size_t bytes, unsigned long long flags)
{
	if (!share(address))
		return CUDA_ERROR_INVALID_VALUE;
	return REAL(cuMulticastBindAddr)(multicast, offset, address, bytes,
					 flags);
}

CUresult wrap_cuMulticastBindAddr_v2(CUmemGenericAllocationHandle multicast,
				     CUdevice device, size_t offset,
				     CUdeviceptr address, size_t bytes,
				     unsigned long long flags)
{
	if (!share(address))
		return CUDA_ERROR_INVALID_VALUE;
	return REAL(cuMulticastBindAddr_v2)(multicast, device, offset, address,
					    bytes, flags);
}

CUresult wrap_cuLogicalEndpointBindAddr(unsigned endpoint, CUdevice device,
					cuuint64_t offset, void *address,
					cuuint64_t bytes,
					unsigned long long flags)
{
	if (!share((uintptr_t)address))
		return CUDA_ERROR_INVALID_VALUE;
	return REAL(cuLogicalEndpointBindAddr)(endpoint, device, offset,
					       address, bytes, flags);
}

CUresult wrap_cuPointerSetAttribute(const void *value,
				    CUpointer_attribute which,
				    CUdeviceptr address)
{
	if (!share(address))
		return CUDA_ERROR_INVALID_VALUE;
	return REAL(cuPointerSetAttribute)(value, which, address);
}

/* Of a block that is larger than its request. */
static void fix_size(CUdeviceptr address, size_t *bytes)
{
	struct preload_state *state;
	const struct block *block;

	if (!bytes || !pool_enter())
		return;
	state = preload_lock();
	block = blocks_around(&state->blocks, BLOCK_ADDRESS, address);
	if (block && *bytes == block->whole_bytes)
		*bytes = block->bytes;
	preload_unlock(state);
	preload_leave();
}

static bool find_served(CUdeviceptr address, struct block *block_out)
{
	bool found;

	if (!pool_enter())
		return false;
	found = served_find(address, block_out);
	preload_leave();
	return found;
}

/* Who asks for nothing is told nothing by the driver, and of memory that is not
 * there that it was not found. */
CUresult wrap_cuMemGetAddressRange_v2(CUdeviceptr *base_out, size_t *bytes_out,
				      CUdeviceptr address)
{
	struct block served;
	CUresult result;

	if ((base_out || bytes_out) && find_served(address, &served)) {
		if (base_out)
			*base_out = served.key;
		if (bytes_out)
			*bytes_out = served.bytes;
		return CUDA_SUCCESS;
	}
	if ((base_out || bytes_out) && !share(address))
		return CUDA_ERROR_NOT_FOUND;
	result = REAL(cuMemGetAddressRange_v2)(base_out, bytes_out, address);
	if (result == CUDA_SUCCESS)
		fix_size(address, bytes_out);
	return result;
}

/* Those that say where memory is and what it is of, which are the same for each
 * block of a context. */
static bool is_harmless(CUpointer_attribute which)
{
	switch ((int)which) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
	case CU_POINTER_ATTRIBUTE_MAPPED:
		return true;
	default:
		return false;
	}
}

/* Its handle; NULL: it was destroyed. */
static const void *pool_of(const struct block *served)
{
	struct preload_state *state = preload_lock();
	const void *pool = named_by(state, served->link)->handle;

	preload_unlock(state);
	return pool;
}

/* Where the driver would describe the memory that the block is in. False: its
 * answer is right. */
static bool describe(const struct block *served, CUpointer_attribute which,
		     void *data)
{
	uint64_t number = 0;

	switch ((int)which) {
	case CU_POINTER_ATTRIBUTE_CONTEXT: /* of none */
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		break;
	case BUFFER_ID: /* above those of the driver's own */
		number = UINT64_C(1) << 63 | served->refs;
		break;
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		*(int *)data = 0; /* in four bytes, as the driver */
		return true;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		number = served->key;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		number = served->bytes;
		break;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		number = (uintptr_t)pool_of(served);
		break;
	default:
		return false;
	}
	memcpy(data, &number, sizeof(number));
	return true;
}

/* False: the program has freed it. */
static bool share_by(CUpointer_attribute which, CUdeviceptr address)
{
	return is_harmless(which) || share(address);
}

static void answered(CUresult result, CUpointer_attribute which, void *data,
		     CUdeviceptr address)
{
	if (result == CUDA_SUCCESS &&
	    (int)which == CU_POINTER_ATTRIBUTE_RANGE_SIZE)
		fix_size(address, data);
}

CUresult wrap_cuPointerGetAttribute(void *data, CUpointer_attribute which,
				    CUdeviceptr address)
{
	struct block served;
	CUresult result;

	if (find_served(address, &served))
		return data && describe(&served, which, data)
			       ? CUDA_SUCCESS
			       : REAL(cuPointerGetAttribute)(data, which,
							     address);
	if (!share_by(which, address))
		return CUDA_ERROR_INVALID_VALUE;
	result = REAL(cuPointerGetAttribute)(data, which, address);
	answered(result, which, data, address);
	return result;
}

CUresult wrap_cuPointerGetAttributes(unsigned count, CUpointer_attribute *which,
				     void **data, CUdeviceptr address)
{
	bool complete = which && data;
	struct block served;
	CUresult result;

	if (complete && find_served(address, &served)) {
		result = REAL(cuPointerGetAttributes)(count, which, data,
						      address);
		for (unsigned i = 0; result == CUDA_SUCCESS && i < count; i++)
			(void)describe(&served, which[i], data[i]);
		return result;
	}

	for (unsigned i = 0; complete && i < count; i++)
		(void)share_by(which[i], address);
	result = REAL(cuPointerGetAttributes)(count, which, data, address);
	for (unsigned i = 0; complete && i < count; i++)
		answered(result, which[i], data[i], address);
	return result;
}
