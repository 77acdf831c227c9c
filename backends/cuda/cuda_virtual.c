/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group VM. None of these calls waits for work on the device, unlike a free of
 * the driver's own allocation. None of them looks at the context either, so the
 * driver gives memory of a device that is lost as if nothing had happened: what
 * gives memory asks for itself. Keeps nothing; nobody locks.
 */
#include "plugin.h"

#include <stdlib.h>

gpumem_status gm_cuda_va_reserve(void *handle, uint64_t bytes,
				 uint64_t alignment, uint64_t *address_out)
{
	const struct cuda_device *device = handle;
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, device);
	CUdeviceptr address;

	if (status != GPUMEM_OK)
		return status;
	/* Pages can be mapped at multiples of the granularity only. */
	if (alignment < device->traits.granularity_bytes)
		alignment = device->traits.granularity_bytes;
	status = gm_cuda_check(
		gm_cuda.MemAddressReserve(&address, bytes, alignment, 0, 0),
		"cuMemAddressReserve of %llu bytes", (unsigned long long)bytes);
	if (status == GPUMEM_OK)
		*address_out = address;
	gm_cuda_leave(&visit);
	return status;
}

gpumem_status gm_cuda_va_release(void *handle, uint64_t address, uint64_t bytes)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, handle);

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(gm_cuda.MemAddressFree(address, bytes),
			       "cuMemAddressFree");
	gm_cuda_leave(&visit);
	return status;
}

/* The driver does not say that its handles are not 0, which a page may not be;
 * that none is all ones is taken for granted. */
gpumem_page gm_cuda_page_of(CUmemGenericAllocationHandle memory)
{
	return memory + 1;
}

CUmemGenericAllocationHandle gm_cuda_memory_of(gpumem_page page)
{
	return page - 1;
}

gpumem_status gm_cuda_page_create(void *handle, uint64_t bytes,
				  gpumem_page *page_out)
{
	const struct cuda_device *device = handle;
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter_good(&visit, device);
	CUmemGenericAllocationHandle memory;

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(
		gm_cuda.MemCreate(&memory, bytes, &device->traits.page, 0),
		"cuMemCreate of %llu bytes", (unsigned long long)bytes);
	if (status == GPUMEM_OK)
		*page_out = gm_cuda_page_of(memory);
	gm_cuda_leave(&visit);
	return status;
}

gpumem_status gm_cuda_page_destroy(void *handle, gpumem_page page,
				   uint64_t bytes)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, handle);

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(gm_cuda.MemRelease(gm_cuda_memory_of(page)),
			       "cuMemRelease of %llu bytes",
			       (unsigned long long)bytes);
	gm_cuda_leave(&visit);
	return status;
}

/* What a map is asked for. */
struct request {
	const struct cuda_device *device;
	uint64_t address, page_bytes;
	const gpumem_page *pages;
	size_t count;
	CUmemAccessDesc *access; /* the device's, then its peers' */
	size_t access_count;
};

/* New mappings have no access, and giving it is the dear part: 19 of 27
 * microseconds for one page, and less for each in a longer range. So it is done
 * once for all, devices too. */
static gpumem_status map_pages(const struct request *request)
{
	uint64_t address = request->address, bytes = request->page_bytes;
	gpumem_status status = GPUMEM_OK;
	size_t done = 0;

	while (done < request->count) {
		status = gm_cuda_check(
			gm_cuda.MemMap(address + done * bytes, bytes, 0,
				       gm_cuda_memory_of(request->pages[done]),
				       0),
			"cuMemMap of page %zu of %zu", done + 1,
			request->count);
		if (status != GPUMEM_OK)
			goto unmap;
		done++;
	}
	status = gm_cuda_check(
		gm_cuda.MemSetAccess(address, request->count * bytes,
				     request->access, request->access_count),
		"cuMemSetAccess of %zu pages for %zu devices", request->count,
		request->access_count);
	if (status != GPUMEM_OK)
		goto unmap;
	return GPUMEM_OK;

unmap:
	if (done)
		(void)gm_cuda.MemUnmap(address, done * bytes);
	return status;
}

static CUmemAccessDesc access_of(const struct cuda_device *device)
{
	return (CUmemAccessDesc){
		.location = device->traits.page.location,
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
}

static gpumem_status map(struct request *request)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter_good(&visit, request->device);

	if (status != GPUMEM_OK)
		return status;
	request->access[0] = access_of(request->device);
	status = map_pages(request);
	gm_cuda_leave(&visit);
	return status;
}

gpumem_status gm_cuda_map(void *handle, uint64_t address,
			  const gpumem_page *pages, size_t count,
			  uint64_t page_bytes)
{
	CUmemAccessDesc access;
	struct request request = {
		.device = handle,
		.address = address,
		.page_bytes = page_bytes,
		.pages = pages,
		.count = count,
		.access = &access,
		.access_count = 1,
	};

	return map(&request);
}

gpumem_status gm_cuda_map_peers(void *handle, uint64_t address,
				const gpumem_page *pages, size_t count,
				uint64_t page_bytes, void *const *peers,
				size_t peer_count)
{
	struct request request = {
		.device = handle,
		.address = address,
		.page_bytes = page_bytes,
		.pages = pages,
		.count = count,
		.access_count = peer_count + 1,
	};
	gpumem_status status;

	request.access = calloc(peer_count + 1, sizeof(*request.access));
	if (!request.access)
		return gm_cuda_fail(GPUMEM_NO_HOST_MEMORY, CUDA_SUCCESS,
				    "no host memory for a list of %zu peers",
				    peer_count);
	for (size_t i = 0; i < peer_count; i++)
		request.access[i + 1] = access_of(peers[i]);
	status = map(&request);
	free(request.access);
	return status;
}

/* One call may take away several mappings as long as they are whole, and then
 * it takes all of them or none. */
gpumem_status gm_cuda_unmap(void *handle, uint64_t address, size_t count,
			    uint64_t page_bytes)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, handle);

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(gm_cuda.MemUnmap(address, count * page_bytes),
			       "cuMemUnmap of %zu pages", count);
	gm_cuda_leave(&visit);
	return status;
}
