/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What tells others of a block: handles for other processes and devices, and
 * the driver's numbers by which libraries recognise a block and remember it.
 * Who has seen a block may rely on it being gone when it is freed. A block that
 * is larger than its request is described as one of the request, and a part of
 * a segment as what it would be without segments.
 */
#include "segment.h"

/* CUDA_SUCCESS: the driver may be asked by a call that shares the block, or
 * asks what makes it one of its own; it is known to others then. */
static CUresult share(CUdeviceptr address, enum segment_truth truth,
		      const char *name)
{
	bool is_true, live;

	if (!pool_enter())
		return CUDA_SUCCESS;
	is_true = segment_share(address, truth, name);
	live = !is_true || pool_expose(address);
	preload_leave();
	if (!is_true)
		return CUDA_ERROR_NOT_SUPPORTED;
	return live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult wrap_cuIpcGetMemHandle(CUipcMemHandle *handle_out, CUdeviceptr address)
{
	CUresult result = share(address, SEGMENT_BEGIN, "cuIpcGetMemHandle");

	if (result != CUDA_SUCCESS)
		return result;
	return REAL(cuIpcGetMemHandle)(handle_out, address);
}

CUresult wrap_cuMemGetHandleForAddressRange(void *handle_out,
					    CUdeviceptr address, size_t bytes,
					    int type, unsigned long long flags)
{
	CUresult result =
		share(address, SEGMENT_ANY, "cuMemGetHandleForAddressRange");

	if (result != CUDA_SUCCESS)
		return result;
	return REAL(cuMemGetHandleForAddressRange)(handle_out, address, bytes,
						   type, flags);
}

CUresult wrap_cuMulticastBindAddr(CUmemGenericAllocationHandle multicast,
				  size_t offset, CUdeviceptr address,
				  size_t bytes, unsigned long long flags)
{
	CUresult result = share(address, SEGMENT_ANY, "cuMulticastBindAddr");

	if (result != CUDA_SUCCESS)
		return result;
	return REAL(cuMulticastBindAddr)(multicast, offset, address, bytes,
					 flags);
}

CUresult wrap_cuPointerSetAttribute(const void *value,
				    CUpointer_attribute which,
				    CUdeviceptr address)
{
	CUresult result = share(address, SEGMENT_ANY, "cuPointerSetAttribute");

	if (result != CUDA_SUCCESS)
		return result;
	return REAL(cuPointerSetAttribute)(value, which, address);
}

/* Where a block of ours begins and ends; of a part the driver does not know. */
static void fix_range(CUdeviceptr address, CUdeviceptr *base, size_t *bytes)
{
	struct preload_state *state;
	const struct block *block;

	if (!pool_enter())
		return;
	state = preload_lock();
	block = blocks_around(&state->blocks, BLOCK_ADDRESS, address);
	if (base && block && block->link)
		*base = block->key;
	if (bytes && block && (block->link || *bytes == block->whole_bytes))
		*bytes = block->bytes;
	preload_unlock(state);
	preload_leave();
}

/* Who asks for nothing is told nothing by the driver, and of memory that is not
 * there that it was not found. */
CUresult wrap_cuMemGetAddressRange_v2(CUdeviceptr *base_out, size_t *bytes_out,
				      CUdeviceptr address)
{
	CUresult result = CUDA_SUCCESS;

	if (base_out || bytes_out)
		result = share(address, SEGMENT_ANY, "cuMemGetAddressRange");
	if (result != CUDA_SUCCESS)
		return CUDA_ERROR_NOT_FOUND;
	result = REAL(cuMemGetAddressRange_v2)(base_out, bytes_out, address);
	if (result == CUDA_SUCCESS)
		fix_range(address, base_out, bytes_out);
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

static CUresult share_by(CUpointer_attribute which, CUdeviceptr address)
{
	bool names_it = which == CU_POINTER_ATTRIBUTE_BUFFER_ID ||
			which == CU_POINTER_ATTRIBUTE_P2P_TOKENS;

	if (is_harmless(which))
		return CUDA_SUCCESS;
	return share(address, names_it ? SEGMENT_ALL : SEGMENT_ANY,
		     "cuPointerGetAttribute");
}

static void fix_capable(CUdeviceptr address, bool *capable)
{
	if (!pool_enter())
		return;
	*capable = *capable && segment_is_true(address, SEGMENT_BEGIN);
	preload_leave();
}

static void answered(CUresult result, CUpointer_attribute which, void *data,
		     CUdeviceptr address)
{
	if (result != CUDA_SUCCESS || !data)
		return;
	switch ((int)which) {
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		fix_range(address, data, NULL);
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		fix_range(address, NULL, data);
		break;
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		fix_capable(address, data);
		break;
	default:
		break;
	}
}

CUresult wrap_cuPointerGetAttribute(void *data, CUpointer_attribute which,
				    CUdeviceptr address)
{
	CUresult result = share_by(which, address);

	if (result != CUDA_SUCCESS)
		return result;
	result = REAL(cuPointerGetAttribute)(data, which, address);
	answered(result, which, data, address);
	return result;
}

CUresult wrap_cuPointerGetAttributes(unsigned count, CUpointer_attribute *which,
				     void **data, CUdeviceptr address)
{
	bool complete = which && data;
	CUresult result;

	for (unsigned i = 0; complete && i < count; i++)
		if (share_by(which[i], address) == CUDA_ERROR_NOT_SUPPORTED)
			return CUDA_ERROR_NOT_SUPPORTED;
	result = REAL(cuPointerGetAttributes)(count, which, data, address);
	for (unsigned i = 0; complete && i < count; i++)
		answered(result, which[i], data[i], address);
	return result;
}
