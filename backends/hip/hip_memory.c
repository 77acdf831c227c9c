/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory by the runtime's own allocation, or else by hip_segment.c. Keeps
 * nothing; no lock.
 */
#include "hip_segment.h"

/* Where the runtime knows of this process only, the kernel is asked, and where
 * it does not tell, the runtime's word has to do. */
gpumem_status gm_hip_memory_info(void *handle, struct gpumem_memory *memory)
{
	const struct gpu_device *device = handle;
	gpumem_status status = gpu_raw_info(handle, memory);

	if (status == GPUMEM_OK && !gpu.free_true)
		(void)gm_hip_sysfs_memory(device->pci, memory);
	return status;
}

gpumem_status gm_hip_alloc(void *handle, uint64_t bytes, uint64_t *address_out)
{
	const struct gpu_device *device = handle;
	struct gpu_call call;

	if (!device->segments)
		return gpu_raw_alloc(handle, bytes, address_out);
	call = gpu_begin_good(device);
	if (call.status == GPUMEM_OK)
		call.status = gm_hip_segment_alloc(device, bytes, address_out);
	return gpu_end(&call);
}

gpumem_status gm_hip_free(void *handle, uint64_t address, uint64_t bytes)
{
	const struct gpu_device *device = handle;
	struct gpu_call call;

	if (!device->segments)
		return gpu_raw_free(handle, address, bytes);
	call = gpu_begin(device);
	if (call.status == GPUMEM_OK)
		call.status = gm_hip_segment_free(device, address);
	return gpu_end(&call);
}

gpumem_status gm_hip_peer_enable(void *handle, void *other)
{
	const struct gpu_device *device = handle, *peer = other;
	struct gpu_call call;

	if (!device->segments)
		return gpu_raw_peer(handle, other);
	call = gpu_begin(device);
	if (call.status == GPUMEM_OK)
		call.status =
			gm_hip_segments_open(device->segments, peer->device);
	return gpu_end(&call);
}
