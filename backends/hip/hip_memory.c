/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory by the runtime's own allocation, or else by hip_segment.c; and group
 * COPY. Keeps nothing; nobody locks.
 */
#include "hip_segment.h"

/* Where the runtime knows of this process only, the kernel is asked, and where
 * it does not tell, the runtime's word has to do. */
gpumem_status gm_hip_memory_info(void *handle, struct gpumem_memory *memory)
{
	const struct hip_device *device = handle;
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, device);
	size_t free_bytes, total_bytes;

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(gm_hip.MemGetInfo(&free_bytes, &total_bytes),
			      "hipMemGetInfo");
	gm_hip_leave(&visit);
	if (status != GPUMEM_OK)
		return status;
	if (!gm_hip.free_true && gm_hip_sysfs_memory(device->pci, memory))
		return GPUMEM_OK;
	memory->free_bytes = free_bytes;
	memory->total_bytes = total_bytes;
	return GPUMEM_OK;
}

/* Between enter and leave. */
static gpumem_status take(uint64_t bytes, uint64_t *address_out)
{
	gpumem_status status;
	void *address;

	status = gm_hip_check(gm_hip.MemAlloc(&address, bytes),
			      "hipMalloc of %llu bytes",
			      (unsigned long long)bytes);
	if (status == GPUMEM_OK)
		*address_out = (uintptr_t)address;
	return status;
}

gpumem_status gm_hip_alloc(void *handle, uint64_t bytes, uint64_t *address_out)
{
	const struct hip_device *device = handle;
	struct hip_visit visit;
	gpumem_status status = device->segments
				       ? gm_hip_enter_good(&visit, device)
				       : gm_hip_enter(&visit, device);

	if (status != GPUMEM_OK)
		return status;
	status = device->segments
			 ? gm_hip_segment_alloc(device, bytes, address_out)
			 : take(bytes, address_out);
	gm_hip_leave(&visit);
	return status;
}

/* Waits for all work of the device: GPUMEM_CAP_FREE_WAITS says so. */
static gpumem_status give(uint64_t address, uint64_t bytes)
{
	return gm_hip_check(gm_hip.MemFree((void *)(uintptr_t)address),
			    "hipFree of %llu bytes at 0x%llx",
			    (unsigned long long)bytes,
			    (unsigned long long)address);
}

gpumem_status gm_hip_free(void *handle, uint64_t address, uint64_t bytes)
{
	const struct hip_device *device = handle;
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, device);

	if (status != GPUMEM_OK)
		return status;
	status = device->segments ? gm_hip_segment_free(device, address)
				  : give(address, bytes);
	gm_hip_leave(&visit);
	return status;
}

gpumem_status gm_hip_fill(void *handle, uint64_t address, uint8_t value,
			  uint64_t bytes, gpumem_stream stream)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter_queue(&visit, handle, stream);

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(gm_hip.MemsetD8Async((void *)(uintptr_t)address,
						   value, bytes, stream),
			      "hipMemsetAsync");
	gm_hip_leave(&visit);
	return status;
}

/* Host and device share one address space: the runtime knows which is which. */
gpumem_status gm_hip_copy(void *handle, uint64_t to, uint64_t from,
			  uint64_t bytes, gpumem_stream stream)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter_queue(&visit, handle, stream);

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(gm_hip.MemcpyAsync((void *)(uintptr_t)to,
						 (const void *)(uintptr_t)from,
						 bytes, hipMemcpyDefault,
						 stream),
			      "hipMemcpyAsync");
	gm_hip_leave(&visit);
	return status;
}
