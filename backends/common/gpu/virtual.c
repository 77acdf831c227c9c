/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group VM. None of these calls waits for work on the device, unlike a free of
 * the driver's own allocation. Keeps nothing; no lock.
 */
#include "plugin.h"

gpumem_status gpu_check_pages(const struct gpu_device *device)
{
	if (device->pages)
		return GPUMEM_OK;
	return gpu_fail(GPUMEM_UNSUPPORTED, GPU_SUCCESS,
			"the device has no virtual memory that works: there "
			"are no pages to share or to map");
}

gpumem_status GPU(va_reserve)(void *handle, uint64_t bytes, uint64_t alignment,
			      uint64_t *address_out)
{
	const struct gpu_device *device = handle;
	struct gpu_call call = gpu_begin(device);

	/* Pages can be mapped at multiples of the granularity only. */
	if (alignment < device->traits.granularity_bytes)
		alignment = device->traits.granularity_bytes;
	if (call.status == GPUMEM_OK)
		call.status = gpu_check_pages(device);
	if (call.status == GPUMEM_OK)
		call.status = device->pages->reserve(device, bytes, alignment,
						     address_out);
	return gpu_end(&call);
}

gpumem_status GPU(va_release)(void *handle, uint64_t address, uint64_t bytes)
{
	const struct gpu_device *device = handle;
	struct gpu_call call = gpu_begin(device);

	if (call.status == GPUMEM_OK)
		call.status = device->pages->release(device, address, bytes);
	return gpu_end(&call);
}

static gpumem_status create(const struct gpu_device *device, uint64_t bytes,
			    const gpu_page_kind *kind, gpumem_page *page_out)
{
	struct gpu_call call = gpu_begin_good(device);
	gpu_handle memory;

	if (call.status == GPUMEM_OK)
		call.status = gpu_check_pages(device);
	if (call.status == GPUMEM_OK)
		call.status = gpu_handle_create(bytes, kind, &memory);
	if (call.status == GPUMEM_OK)
		*page_out = gpu_page_of(memory);
	return gpu_end(&call);
}

gpumem_status GPU(page_create)(void *handle, uint64_t bytes,
			       gpumem_page *page_out)
{
	const struct gpu_device *device = handle;

	return create(device, bytes, &device->traits.page, page_out);
}

gpumem_status GPU(page_create_shared)(void *handle, uint64_t bytes,
				      gpumem_page *page_out)
{
	const struct gpu_device *device = handle;
	gpu_page_kind kind = device->traits.page;

	kind.requestedHandleTypes = GPU_DESCRIPTOR;
	return create(device, bytes, &kind, page_out);
}

gpumem_status GPU(page_destroy)(void *handle, gpumem_page page, uint64_t bytes)
{
	struct gpu_call call = gpu_begin(handle);

	if (call.status == GPUMEM_OK)
		call.status = gpu_handle_release(gpu_handle_of(page), bytes);
	return gpu_end(&call);
}

static gpumem_status map(const struct gpu_device *device, uint64_t address,
			 const gpumem_page *pages, size_t count,
			 uint64_t page_bytes, uint64_t devices)
{
	struct gpu_call call = gpu_begin_good(device);

	if (call.status == GPUMEM_OK)
		call.status = device->pages->map(device, address, pages, count,
						 page_bytes, devices);
	return gpu_end(&call);
}

static uint64_t bit_of(const struct gpu_device *device)
{
	return UINT64_C(1) << device->device;
}

gpumem_status GPU(map)(void *handle, uint64_t address, const gpumem_page *pages,
		       size_t count, uint64_t page_bytes)
{
	return map(handle, address, pages, count, page_bytes, bit_of(handle));
}

static uint64_t bits_of(void *const *peers, size_t count)
{
	uint64_t devices = 0;

	for (size_t i = 0; i < count; i++)
		devices |= bit_of(peers[i]);
	return devices;
}

gpumem_status GPU(map_peers)(void *handle, uint64_t address,
			     const gpumem_page *pages, size_t count,
			     uint64_t page_bytes, void *const *peers,
			     size_t peer_count)
{
	return map(handle, address, pages, count, page_bytes,
		   bit_of(handle) | bits_of(peers, peer_count));
}

gpumem_status GPU(open_mapped)(void *handle, uint64_t address, size_t count,
			       uint64_t page_bytes, void *const *peers,
			       size_t peer_count)
{
	const struct gpu_device *device = handle;
	struct gpu_call call = gpu_begin_good(device);

	if (call.status == GPUMEM_OK)
		call.status = device->pages->open(device, address, count,
						  page_bytes,
						  bits_of(peers, peer_count));
	return gpu_end(&call);
}

gpumem_status GPU(unmap)(void *handle, uint64_t address, size_t count,
			 uint64_t page_bytes)
{
	const struct gpu_device *device = handle;
	struct gpu_call call = gpu_begin(device);

	if (call.status == GPUMEM_OK)
		call.status = device->pages->unmap(device, address, count,
						   page_bytes);
	return gpu_end(&call);
}
