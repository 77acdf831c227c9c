/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory by the runtime's own allocation, or else by hip_segment.c. Keeps
 * nothing; nobody locks.
 */
#include "hip_segment.h"

/* Where the runtime knows of this process only, the kernel is asked, and where
 * it does not tell, the runtime's word has to do. */
gpumem_status gm_hip_memory_info(void *handle, struct gpumem_memory *memory)
{
	const struct hip_device *device = handle;
	gpumem_status status = gm_hip_raw_info(handle, memory);

	if (status == GPUMEM_OK && !gm_hip.free_true)
		(void)gm_hip_sysfs_memory(device->pci, memory);
	return status;
}

gpumem_status gm_hip_alloc(void *handle, uint64_t bytes, uint64_t *address_out)
{
	const struct hip_device *device = handle;
	struct hip_visit visit;
	gpumem_status status;

	if (!device->segments)
		return gm_hip_raw_alloc(handle, bytes, address_out);
	status = gm_hip_enter_good(&visit, device);
	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_segment_alloc(device, bytes, address_out);
	gm_hip_leave(&visit);
	return status;
}

gpumem_status gm_hip_free(void *handle, uint64_t address, uint64_t bytes)
{
	const struct hip_device *device = handle;
	struct hip_visit visit;
	gpumem_status status;

	if (!device->segments)
		return gm_hip_raw_free(handle, address, bytes);
	status = gm_hip_enter(&visit, device);
	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_segment_free(device, address);
	gm_hip_leave(&visit);
	return status;
}

gpumem_status gm_hip_peer_enable(void *handle, void *other)
{
	const struct hip_device *device = handle, *peer = other;
	struct hip_visit visit;
	gpumem_status status;

	if (!device->segments)
		return gm_hip_raw_peer(handle, other);
	status = gm_hip_enter(&visit, device);
	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_segments_open(device->segments, peer->device);
	gm_hip_leave(&visit);
	return status;
}
