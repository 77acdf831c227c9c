/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group KINDS. Host and devices share one address space, so the address that
 * the host has is the devices' too. Keeps nothing; nobody locks.
 */
#include "cuda_plugin.h"

/* Pinned for every context of the process, made already or not. */
static gpumem_status alloc_pinned(uint64_t bytes, uint64_t *address_out)
{
	gpumem_status status;
	void *memory;

	status = gm_cuda_check(
		gm_cuda.cuMemHostAlloc(&memory, bytes,
				       CU_MEMHOSTALLOC_PORTABLE |
					       CU_MEMHOSTALLOC_DEVICEMAP),
		"cuMemHostAlloc of %llu bytes", (unsigned long long)bytes);
	if (status == GPUMEM_OK)
		*address_out = (uintptr_t)memory;
	return status;
}

static gpumem_status alloc_managed(uint64_t bytes, uint64_t *address_out)
{
	gpumem_status status;
	CUdeviceptr address;

	status = gm_cuda_check(gm_cuda.cuMemAllocManaged(&address, bytes,
							 CU_MEM_ATTACH_GLOBAL),
			       "cuMemAllocManaged of %llu bytes",
			       (unsigned long long)bytes);
	if (status == GPUMEM_OK)
		*address_out = address;
	return status;
}

static gpumem_status no_kind(gpumem_kind kind)
{
	return gm_cuda_fail(GPUMEM_UNSUPPORTED, CUDA_SUCCESS,
			    "it has no memory of kind %d", (int)kind);
}

gpumem_status gm_cuda_kind_alloc(void *handle, gpumem_kind kind, uint64_t bytes,
				 uint64_t *address_out)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, handle);

	if (status != GPUMEM_OK)
		return status;
	if (kind == GPUMEM_KIND_PINNED)
		status = alloc_pinned(bytes, address_out);
	else if (kind == GPUMEM_KIND_MANAGED)
		status = alloc_managed(bytes, address_out);
	else
		status = no_kind(kind);
	gm_cuda_leave(&visit);
	return status;
}

/* Either waits for all work of the device: GPUMEM_CAP_FREE_WAITS says so. */
gpumem_status gm_cuda_kind_free(void *handle, gpumem_kind kind,
				uint64_t address, uint64_t bytes)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, handle);

	if (status != GPUMEM_OK)
		return status;
	if (kind == GPUMEM_KIND_PINNED)
		status = gm_cuda_check(
			gm_cuda.cuMemFreeHost((void *)(uintptr_t)address),
			"cuMemFreeHost of %llu bytes at 0x%llx",
			(unsigned long long)bytes, (unsigned long long)address);
	else if (kind == GPUMEM_KIND_MANAGED)
		status = gm_cuda_check(gm_cuda.cuMemFree_v2(address),
				       "cuMemFree of %llu managed bytes at "
				       "0x%llx",
				       (unsigned long long)bytes,
				       (unsigned long long)address);
	else
		status = no_kind(kind);
	gm_cuda_leave(&visit);
	return status;
}
