/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group VM, where the device's level has it. None of these calls waits for work
 * on the device, unlike a free of the runtime's own allocation. Keeps nothing;
 * nobody locks.
 */
#include "plugin.h"

static gpumem_status no_virtual(void)
{
	return gm_hip_fail(GPUMEM_UNSUPPORTED, hipSuccess,
			   "the device has no virtual memory that works");
}

static bool is_whole(const struct hip_device *device)
{
	return device->level == HIP_VM_FULL;
}

/* Between enter and leave. */
static gpumem_status reserve(const struct hip_device *device, uint64_t bytes,
			     uint64_t alignment, uint64_t *address_out)
{
	gpumem_status status;
	uint64_t address;

	/* Pages can be mapped at multiples of the granularity only. */
	if (alignment < device->traits.granularity_bytes)
		alignment = device->traits.granularity_bytes;
	status = gm_hip_addresses_reserve(bytes, alignment, &address);
	if (status == GPUMEM_OK && !is_whole(device))
		status = gm_hip_pieces_reserve(device, address, bytes);
	if (status == GPUMEM_OK)
		*address_out = address;
	return status;
}

gpumem_status gm_hip_va_reserve(void *handle, uint64_t bytes,
				uint64_t alignment, uint64_t *address_out)
{
	const struct hip_device *device = handle;
	struct hip_visit visit;
	gpumem_status status;

	if (device->level < HIP_VM_SINGLE)
		return no_virtual();
	status = gm_hip_enter(&visit, device);
	if (status != GPUMEM_OK)
		return status;
	status = reserve(device, bytes, alignment, address_out);
	gm_hip_leave(&visit);
	return status;
}

gpumem_status gm_hip_va_release(void *handle, uint64_t address, uint64_t bytes)
{
	const struct hip_device *device = handle;
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, device);

	if (status != GPUMEM_OK)
		return status;
	status = is_whole(device)
			 ? gm_hip_addresses_free(address, bytes)
			 : gm_hip_pieces_release(device, address, bytes);
	gm_hip_leave(&visit);
	return status;
}

/* Between enter and leave. A page is the runtime's handle, which is a pointer.
 */
static gpumem_status create(const struct hip_device *device, uint64_t bytes,
			    gpumem_page *page_out)
{
	hipMemGenericAllocationHandle_t memory;
	gpumem_status status;

	status = gm_hip_handle_create(bytes, &device->traits.page, &memory);
	if (status == GPUMEM_OK)
		*page_out = (uintptr_t)memory;
	return status;
}

gpumem_status gm_hip_page_create(void *handle, uint64_t bytes,
				 gpumem_page *page_out)
{
	const struct hip_device *device = handle;
	struct hip_visit visit;
	gpumem_status status;

	if (device->level < HIP_VM_SINGLE)
		return no_virtual();
	status = gm_hip_enter_good(&visit, device);
	if (status != GPUMEM_OK)
		return status;
	status = create(device, bytes, page_out);
	gm_hip_leave(&visit);
	return status;
}

gpumem_status gm_hip_page_destroy(void *handle, gpumem_page page,
				  uint64_t bytes)
{
	const struct hip_device *device = handle;
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, device);

	(void)bytes; /* the runtime knows */
	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_handle_release(
		(hipMemGenericAllocationHandle_t)(uintptr_t)page);
	gm_hip_leave(&visit);
	return status;
}

/* New mappings have no access, and giving it is the dear part: so it is done
 * once for all, devices too. */
static gpumem_status map_whole(uint64_t address, const gpumem_page *pages,
			       size_t count, uint64_t page_bytes,
			       uint64_t devices)
{
	gpumem_status status = GPUMEM_OK;
	size_t done = 0;

	while (done < count) {
		status = gm_hip_handle_map(
			address + done * page_bytes, page_bytes,
			(hipMemGenericAllocationHandle_t)(uintptr_t)
				pages[done]);
		if (status != GPUMEM_OK)
			goto unmap;
		done++;
	}
	status = gm_hip_set_access(address, count * page_bytes, devices);
	if (status != GPUMEM_OK)
		goto unmap;
	return GPUMEM_OK;

unmap:
	if (done)
		(void)gm_hip.MemUnmap((void *)(uintptr_t)address,
				      done * page_bytes);
	return status;
}

static gpumem_status map(const struct hip_device *device, uint64_t address,
			 const gpumem_page *pages, size_t count,
			 uint64_t page_bytes, uint64_t devices)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter_good(&visit, device);

	if (status != GPUMEM_OK)
		return status;
	status = is_whole(device)
			 ? map_whole(address, pages, count, page_bytes, devices)
			 : gm_hip_pieces_map(device, address, pages, count,
					     page_bytes, devices);
	gm_hip_leave(&visit);
	return status;
}

static uint64_t bit_of(const struct hip_device *device)
{
	return UINT64_C(1) << device->device;
}

gpumem_status gm_hip_map(void *handle, uint64_t address,
			 const gpumem_page *pages, size_t count,
			 uint64_t page_bytes)
{
	return map(handle, address, pages, count, page_bytes, bit_of(handle));
}

gpumem_status gm_hip_map_peers(void *handle, uint64_t address,
			       const gpumem_page *pages, size_t count,
			       uint64_t page_bytes, void *const *peers,
			       size_t peer_count)
{
	uint64_t devices = bit_of(handle);

	for (size_t i = 0; i < peer_count; i++)
		devices |= bit_of(peers[i]);
	return map(handle, address, pages, count, page_bytes, devices);
}

gpumem_status gm_hip_unmap(void *handle, uint64_t address, size_t count,
			   uint64_t page_bytes)
{
	const struct hip_device *device = handle;
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, device);

	if (status != GPUMEM_OK)
		return status;
	status = is_whole(device)
			 ? gm_hip_mapping_unmap(address, count * page_bytes)
			 : gm_hip_pieces_unmap(device, address, count,
					       page_bytes);
	gm_hip_leave(&visit);
	return status;
}
