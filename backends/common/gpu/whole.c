/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory taken as CUDA documents it: ranges of addresses are reserved, mapped,
 * unmapped and released whole. Each call of the driver's with its sentence.
 * Between begin and end. Keeps nothing; no lock.
 */
#include "plugin.h"

static gpumem_status reserve(const struct gpu_device *device, uint64_t bytes,
			     uint64_t alignment, uint64_t *address_out)
{
	gpumem_status status;
	gpu_address address;

	(void)device;
	status = gpu_check_memory(
		gpu.MemAddressReserve(&address, bytes, alignment, 0, 0),
		PREFIX "MemAddressReserve", bytes, 0);
	if (status == GPUMEM_OK)
		*address_out = (uintptr_t)address;
	return status;
}

static gpumem_status release(const struct gpu_device *device, uint64_t address,
			     uint64_t bytes)
{
	(void)device;
	return gpu_check_memory(gpu.MemAddressFree(gpu_at(address), bytes),
				PREFIX "MemAddressFree", bytes, address);
}

gpumem_status gpu_handle_create(uint64_t bytes, const gpu_page_kind *kind,
				gpu_handle *handle_out)
{
	return gpu_check_memory(
		gpu.MemCreate(handle_out, bytes, (const void *)kind, 0),
		PREFIX "MemCreate", bytes, 0);
}

/* Never of a handle that is mapped: ROCR-Runtime#257. */
gpumem_status gpu_handle_release(gpu_handle handle, uint64_t bytes)
{
	return gpu_check_memory(gpu.MemRelease(handle), PREFIX "MemRelease",
				bytes, 0);
}

gpumem_status gpu_handle_map(uint64_t address, uint64_t bytes,
			     gpu_handle handle)
{
	return gpu_check_memory(
		gpu.MemMap(gpu_at(address), bytes, 0, handle, 0),
		PREFIX "MemMap", bytes, address);
}

/* Some releases of ROCm refuse it on some devices (llama.cpp#18650 and others):
 * the trial at open finds that out. */
gpumem_status gpu_set_access(uint64_t address, uint64_t bytes, uint64_t devices)
{
	gpu_access access[GPU_DEVICES_MAX];
	size_t count = 0;

	for (int i = 0; i < GPU_DEVICES_MAX; i++)
		if (devices >> i & 1)
			access[count++] = (gpu_access){
				.location = {.type = GPU_LOCATION_DEVICE,
					     .id = i},
				.flags = GPU_READ_WRITE,
			};
	return gpu_check(
		gpu.MemSetAccess(gpu_at(address), bytes, access, count),
		PREFIX "MemSetAccess of %llu bytes for %zu devices",
		(unsigned long long)bytes, count);
}

/* One call may take away several mappings as long as they are whole, and then
 * it takes all of them or none. */
static gpumem_status unmap(const struct gpu_device *device, uint64_t address,
			   size_t count, uint64_t page_bytes)
{
	(void)device;
	return gpu_check_memory(
		gpu.MemUnmap(gpu_at(address), count * page_bytes),
		PREFIX "MemUnmap", count * page_bytes, address);
}

/* New mappings have no access, and giving it is the dear part: 19 of 27
 * microseconds for one page, and less for each in a longer range. So it is done
 * once for all, devices too. */
static gpumem_status map(const struct gpu_device *device, uint64_t address,
			 const gpumem_page *pages, size_t count,
			 uint64_t page_bytes, uint64_t devices)
{
	gpumem_status status = GPUMEM_OK;
	size_t done = 0;

	(void)device;
	while (done < count) {
		status = gpu_handle_map(address + done * page_bytes, page_bytes,
					gpu_handle_of(pages[done]));
		if (status != GPUMEM_OK)
			goto unmap;
		done++;
	}
	status = gpu_set_access(address, count * page_bytes, devices);
	if (status != GPUMEM_OK)
		goto unmap;
	return GPUMEM_OK;

unmap:
	if (done)
		(void)gpu.MemUnmap(gpu_at(address), done * page_bytes);
	return status;
}

static gpumem_status open(const struct gpu_device *device, uint64_t address,
			  size_t count, uint64_t page_bytes, uint64_t devices)
{
	(void)device;
	return gpu_set_access(address, count * page_bytes, devices);
}

const struct gpu_pages gpu_pages_whole = {
	.reserve = reserve,
	.release = release,
	.map = map,
	.unmap = unmap,
	.open = open,
};
