/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory by the driver's own allocation, and group COPY. Keeps nothing; nobody
 * locks.
 */
#include "plugin.h"

gpumem_status gm_cuda_memory_info(void *handle, struct gpumem_memory *memory)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, handle);
	size_t free_bytes, total_bytes;

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(gm_cuda.MemGetInfo(&free_bytes, &total_bytes),
			       "cuMemGetInfo");
	if (status == GPUMEM_OK) {
		memory->free_bytes = free_bytes;
		memory->total_bytes = total_bytes;
	}
	gm_cuda_leave(&visit);
	return status;
}

gpumem_status gm_cuda_alloc(void *handle, uint64_t bytes, uint64_t *address_out)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, handle);
	CUdeviceptr address;

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(gm_cuda.MemAlloc(&address, bytes),
			       "cuMemAlloc of %llu bytes",
			       (unsigned long long)bytes);
	if (status == GPUMEM_OK)
		*address_out = address;
	gm_cuda_leave(&visit);
	return status;
}

/* Waits for all work of the device: GPUMEM_CAP_FREE_WAITS says so. */
gpumem_status gm_cuda_free(void *handle, uint64_t address, uint64_t bytes)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, handle);

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(
		gm_cuda.MemFree(address), "cuMemFree of %llu bytes at 0x%llx",
		(unsigned long long)bytes, (unsigned long long)address);
	gm_cuda_leave(&visit);
	return status;
}

gpumem_status gm_cuda_fill(void *handle, uint64_t address, uint8_t value,
			   uint64_t bytes, gpumem_stream stream)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter_queue(&visit, handle, stream);

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(
		gm_cuda.MemsetD8Async(address, value, bytes, stream),
		"cuMemsetD8Async");
	gm_cuda_leave(&visit);
	return status;
}

/* Host and device share one address space: the driver knows which is which. */
gpumem_status gm_cuda_copy(void *handle, uint64_t to, uint64_t from,
			   uint64_t bytes, gpumem_stream stream)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter_queue(&visit, handle, stream);

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(gm_cuda.MemcpyAsync(to, from, bytes, stream),
			       "cuMemcpyAsync");
	gm_cuda_leave(&visit);
	return status;
}
