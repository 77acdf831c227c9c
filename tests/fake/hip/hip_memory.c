/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Blocks: of the device, managed, of the host. Also how much is free.
 */
#include "hip_fake.h"

#define HOST_FLAGS 7u /* portable, mapped, write-combined: CUDA's numbers */
#define REGISTER_PORTABLE 1u

void hip_block_of(const void *address, CUdeviceptr *start_out,
		  size_t *bytes_out)
{
	CUdeviceptr at = (CUdeviceptr)(uintptr_t)address;

	*start_out = 0;
	*bytes_out = 0;
	(void)cu.cuPointerGetAttribute(
		start_out, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at);
	(void)cu.cuPointerGetAttribute(bytes_out,
				       CU_POINTER_ATTRIBUTE_RANGE_SIZE, at);
}

static int device_of(const void *address)
{
	int device = -1;

	(void)cu.cuPointerGetAttribute(&device,
				       CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
				       (CUdeviceptr)(uintptr_t)address);
	return device;
}

static void count_taken(int device, uint64_t bytes)
{
	fake_lock();
	hip.taken_bytes[device] += bytes;
	fake_unlock();
}

static hipError_t allocate(void **out, size_t bytes)
{
	CUdeviceptr address = 0, start;
	hipError_t error;

	if (!out)
		return hipErrorInvalidValue;
	*out = NULL;
	if (!bytes)
		return hipSuccess;
	error = hip_error_of(cu.cuMemAlloc_v2(&address, bytes));
	if (error != hipSuccess)
		return error;
	*out = (void *)(uintptr_t)address;
	hip_block_of(*out, &start, &bytes);
	count_taken(hip_device, bytes);
	return hipSuccess;
}

static hipError_t allocate_managed(void **out, size_t bytes, unsigned flags)
{
	CUdeviceptr address = 0;
	hipError_t error;

	if (!out || !bytes)
		return hipErrorInvalidValue;
	error = hip_error_of(cu.cuMemAllocManaged(&address, bytes, flags));
	if (error == hipSuccess)
		*out = (void *)(uintptr_t)address;
	return error;
}

static bool managed(const void *address)
{
	unsigned yes = 0;

	return cu.cuPointerGetAttribute(&yes, CU_POINTER_ATTRIBUTE_IS_MANAGED,
					(CUdeviceptr)(uintptr_t)address) ==
		       CUDA_SUCCESS &&
	       yes;
}

/* Waits for all work of the device, as does cuMemFree() (seen). */
static hipError_t release(void *address)
{
	CUdeviceptr start;
	size_t bytes;
	hipError_t error;
	int device;
	bool counted;

	if (!address)
		return hipSuccess;
	device = device_of(address);
	counted = hip_device_good(device) && !managed(address);
	hip_block_of(address, &start, &bytes);
	error = hip_error_of(cu.cuMemFree_v2((CUdeviceptr)(uintptr_t)address));
	if (error == hipSuccess && counted)
		count_taken(device, -(uint64_t)bytes);
	return error;
}

static hipError_t allocate_host(void **out, size_t bytes, unsigned flags)
{
	if (!out)
		return hipErrorInvalidValue;
	*out = NULL;
	if (!bytes)
		return hipSuccess;
	return hip_error_of(cu.cuMemHostAlloc(
		out, bytes, (flags & HOST_FLAGS) | CU_MEMHOSTALLOC_PORTABLE));
}

static hipError_t release_host(void *memory)
{
	return memory ? hip_error_of(cu.cuMemFreeHost(memory)) : hipSuccess;
}

static hipError_t enlist(void *memory, size_t bytes, unsigned flags)
{
	return hip_error_of(cu.cuMemHostRegister_v2(
		memory, bytes, (flags & HOST_FLAGS) | REGISTER_PORTABLE));
}

static hipError_t delist(void *memory)
{
	return hip_error_of(cu.cuMemHostUnregister(memory));
}

static hipError_t info(size_t *free_out, size_t *total_out)
{
	size_t free_bytes, total_bytes;
	hipError_t error =
		hip_error_of(cu.cuMemGetInfo_v2(&free_bytes, &total_bytes));

	if (error != hipSuccess)
		return error;
	if (hip_quirk(HIP_OPTIMISTIC)) {
		fake_lock();
		free_bytes = total_bytes - hip.taken_bytes[hip_device];
		fake_unlock();
	}
	if (free_out)
		*free_out = free_bytes;
	if (total_out)
		*total_out = total_bytes;
	return hipSuccess;
}

hipError_t hipMalloc(void **out, size_t bytes)
{
	HIP_CALL_ON(NULL, hipMalloc, allocate(out, bytes));
}

hipError_t hipFree(void *address)
{
	HIP_CALL_ON(NULL, hipFree, release(address));
}

hipError_t hipMallocManaged(void **out, size_t bytes, unsigned flags)
{
	HIP_CALL_ON(NULL, hipMallocManaged,
		    allocate_managed(out, bytes, flags));
}

hipError_t hipHostMalloc(void **out, size_t bytes, unsigned flags)
{
	HIP_CALL_ON(NULL, hipHostMalloc, allocate_host(out, bytes, flags));
}

hipError_t hipHostFree(void *memory)
{
	HIP_CALL_ON(NULL, hipHostFree, release_host(memory));
}

hipError_t hipHostRegister(void *memory, size_t bytes, unsigned flags)
{
	HIP_CALL_ON(NULL, hipHostRegister, enlist(memory, bytes, flags));
}

hipError_t hipHostUnregister(void *memory)
{
	HIP_CALL_ON(NULL, hipHostUnregister, delist(memory));
}

hipError_t hipMemGetInfo(size_t *free_out, size_t *total_out)
{
	HIP_CALL_ON(NULL, hipMemGetInfo, info(free_out, total_out));
}
