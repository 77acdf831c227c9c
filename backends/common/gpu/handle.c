/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The calls of virtual memory, each with its sentence. Between begin and end.
 * Keeps nothing; no lock.
 */
#include "plugin.h"

gpumem_status gpu_addresses_reserve(uint64_t bytes, uint64_t alignment,
				    uint64_t *address_out)
{
	gpumem_status status;
	gpu_address address;

	status = gpu_check(
		gpu.MemAddressReserve(&address, bytes, alignment, 0, 0),
		PREFIX "MemAddressReserve of %llu bytes",
		(unsigned long long)bytes);
	if (status == GPUMEM_OK)
		*address_out = (uintptr_t)address;
	return status;
}

gpumem_status gpu_addresses_free(uint64_t address, uint64_t bytes)
{
	return gpu_check(
		gpu.MemAddressFree((gpu_address)(uintptr_t)address, bytes),
		PREFIX "MemAddressFree of %llu bytes at 0x%llx",
		(unsigned long long)bytes, (unsigned long long)address);
}

gpumem_status gpu_handle_create(uint64_t bytes, const gpu_page_kind *kind,
				gpu_handle *handle_out)
{
	return gpu_check(
		gpu.MemCreate(handle_out, bytes, (const void *)kind, 0),
		PREFIX "MemCreate of %llu bytes", (unsigned long long)bytes);
}

/* Never of a handle that is mapped: ROCR-Runtime#257. */
gpumem_status gpu_handle_release(gpu_handle handle, uint64_t bytes)
{
	return gpu_check(gpu.MemRelease(handle),
			 PREFIX "MemRelease of %llu bytes",
			 (unsigned long long)bytes);
}

gpumem_status gpu_handle_map(uint64_t address, uint64_t bytes,
			     gpu_handle handle)
{
	return gpu_check(gpu.MemMap((gpu_address)(uintptr_t)address, bytes, 0,
				    handle, 0),
			 PREFIX "MemMap of %llu bytes at 0x%llx",
			 (unsigned long long)bytes,
			 (unsigned long long)address);
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
	return gpu_check(gpu.MemSetAccess((gpu_address)(uintptr_t)address,
					  bytes, access, count),
			 PREFIX "MemSetAccess of %llu bytes for %zu devices",
			 (unsigned long long)bytes, count);
}

gpumem_status gpu_unmap_whole(uint64_t address, uint64_t bytes)
{
	return gpu_check(gpu.MemUnmap((gpu_address)(uintptr_t)address, bytes),
			 PREFIX "MemUnmap of %llu bytes at 0x%llx",
			 (unsigned long long)bytes,
			 (unsigned long long)address);
}

/* New mappings have no access, and giving it is the dear part: 19 of 27
 * microseconds for one page, and less for each in a longer range. So it is done
 * once for all, devices too. */
gpumem_status gpu_map_whole(uint64_t address, const gpumem_page *pages,
			    size_t count, uint64_t page_bytes, uint64_t devices)
{
	gpumem_status status = GPUMEM_OK;
	size_t done = 0;

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
		(void)gpu.MemUnmap((gpu_address)(uintptr_t)address,
				   done * page_bytes);
	return status;
}
