/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory by the driver's own allocation, and group COPY. Keeps nothing; no
 * lock.
 */
#include "plugin.h"

gpumem_status GPU(memory_info)(void *handle, struct gpumem_memory *memory)
{
	struct gpu_call call = gpu_begin(handle);
	size_t free_bytes, total_bytes;

	if (call.status == GPUMEM_OK)
		call.status =
			gpu_check(gpu.MemGetInfo(&free_bytes, &total_bytes),
				  PREFIX "MemGetInfo");
	if (call.status == GPUMEM_OK) {
		memory->free_bytes = free_bytes;
		memory->total_bytes = total_bytes;
		gpu_correct_memory(handle, memory);
	}
	return gpu_end(&call);
}

static gpumem_status own_alloc(const struct gpu_device *device, uint64_t bytes,
			       uint64_t *address_out)
{
	gpu_address address;
	gpumem_status status = gpu_check_memory(gpu.MemAlloc(&address, bytes),
						MEM_ALLOC, bytes, 0);

	(void)device;
	if (status == GPUMEM_OK)
		*address_out = (uintptr_t)address;
	return status;
}

/* Waits for all work of the device: GPUMEM_CAP_FREE_WAITS says so. */
static gpumem_status own_free(const struct gpu_device *device, uint64_t address,
			      uint64_t bytes)
{
	(void)device;
	return gpu_check_memory(gpu.MemFree(gpu_at(address)), MEM_FREE, bytes,
				address);
}

/* The driver's word goes from who accesses to what is accessed: the peer's
 * context is given the device's. It is of all allocations at once, and is not
 * taken back at the end: others of the process may count on it. */
static gpumem_status own_open(const struct gpu_device *device,
			      const struct gpu_device *peer)
{
	struct gpu_call call = gpu_begin(peer);
	gpu_result result;

	if (call.status != GPUMEM_OK)
		return gpu_end(&call);
	result = gpu.CtxEnablePeerAccess(GPU_CONTEXT(device), 0);
	if (result != GPU_PEER_ALREADY_ENABLED)
		call.status = gpu_check(result, CTX_ENABLE_PEER_ACCESS);
	return gpu_end(&call);
}

const struct gpu_raw gpu_raw_own = {
	.alloc = own_alloc, .free = own_free, .open = own_open};

gpumem_status GPU(alloc)(void *handle, uint64_t bytes, uint64_t *address_out)
{
	const struct gpu_device *device = handle;
	struct gpu_call call = gpu_begin(device);

	if (call.status == GPUMEM_OK)
		call.status = device->raw->alloc(device, bytes, address_out);
	return gpu_end(&call);
}

gpumem_status GPU(free)(void *handle, uint64_t address, uint64_t bytes)
{
	const struct gpu_device *device = handle;
	struct gpu_call call = gpu_begin(device);

	if (call.status == GPUMEM_OK)
		call.status = device->raw->free(device, address, bytes);
	return gpu_end(&call);
}

gpumem_status GPU(fill)(void *handle, uint64_t address, uint8_t value,
			uint64_t bytes, gpumem_stream stream)
{
	struct gpu_call call = gpu_begin_queue(handle, stream);

	if (call.status == GPUMEM_OK)
		call.status = gpu_check(gpu.MemsetD8Async(gpu_at(address),
							  value, bytes, stream),
					MEMSET);
	return gpu_end(&call);
}

/* Host and device share one address space: the driver knows which is which. */
gpumem_status GPU(copy)(void *handle, uint64_t to, uint64_t from,
			uint64_t bytes, gpumem_stream stream)
{
	struct gpu_call call = gpu_begin_queue(handle, stream);

	if (call.status == GPUMEM_OK)
		call.status = gpu_check(
			gpu_copy(gpu_at(to), gpu_at(from), bytes, stream),
			PREFIX "MemcpyAsync");
	return gpu_end(&call);
}
