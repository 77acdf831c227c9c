/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group KINDS. Host and devices share one address space, so the address that
 * the host has is the devices' too. Keeps nothing; no lock.
 */
#include "plugin.h"

/* Pinned for every device of the process, in use already or not, and as near to
 * this one as can be. */
static gpumem_status alloc_pinned(const struct gpu_device *device,
				  uint64_t bytes, uint64_t *address_out)
{
	bool near = gpu_near_begin(device);
	gpumem_status status;
	gpu_result result;
	void *memory;

	result = gpu.MemHostAlloc(&memory, bytes, GPU_PINNED_EVERYWHERE);
	gpu_near_end(near);
	status = gpu_check_memory(result, MEM_HOST_ALLOC, bytes, 0);
	if (status == GPUMEM_OK)
		*address_out = (uintptr_t)memory;
	return status;
}

static gpumem_status alloc_managed(uint64_t bytes, uint64_t *address_out)
{
	gpumem_status status;
	gpu_address address;

	status = gpu_check_memory(
		gpu.MemAllocManaged(&address, bytes, GPU_ATTACH_GLOBAL),
		MEM_ALLOC_MANAGED, bytes, 0);
	if (status == GPUMEM_OK)
		*address_out = (uintptr_t)address;
	return status;
}

static gpumem_status no_kind(gpumem_kind kind)
{
	return gpu_fail(GPUMEM_UNSUPPORTED, GPU_SUCCESS,
			"it has no memory of kind %d", (int)kind);
}

gpumem_status GPU(kind_alloc)(void *handle, gpumem_kind kind, uint64_t bytes,
			      uint64_t *address_out)
{
	struct gpu_call call = gpu_begin(handle);

	if (call.status != GPUMEM_OK)
		return gpu_end(&call);
	if (kind == GPUMEM_KIND_PINNED)
		call.status = alloc_pinned(handle, bytes, address_out);
	else if (kind == GPUMEM_KIND_MANAGED)
		call.status = alloc_managed(bytes, address_out);
	else
		call.status = no_kind(kind);
	return gpu_end(&call);
}

/* Either waits for all work of the device, however its other memory is made. */
gpumem_status GPU(kind_free)(void *handle, gpumem_kind kind, uint64_t address,
			     uint64_t bytes)
{
	struct gpu_call call = gpu_begin(handle);

	if (call.status != GPUMEM_OK)
		return gpu_end(&call);
	if (kind == GPUMEM_KIND_PINNED)
		call.status = gpu_check_memory(
			gpu.MemFreeHost((void *)(uintptr_t)address),
			MEM_FREE_HOST, bytes, address);
	else if (kind == GPUMEM_KIND_MANAGED)
		call.status =
			gpu_check_memory(gpu.MemFree(gpu_at(address)),
					 MEM_FREE " (managed)", bytes, address);
	else
		call.status = no_kind(kind);
	return gpu_end(&call);
}
