/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group KINDS. Host and devices share one address space, so the address that
 * the host has is the devices' too. Keeps nothing; nobody locks.
 */
#include "hip_plugin.h"

/* Pinned for every device of the process. */
static gpumem_status alloc_pinned(uint64_t bytes, uint64_t *address_out)
{
	gpumem_status status;
	void *memory;

	status = gm_hip_check(gm_hip.hipHostMalloc(&memory, bytes,
						   hipHostMallocPortable |
							   hipHostMallocMapped),
			      "hipHostMalloc of %llu bytes",
			      (unsigned long long)bytes);
	if (status == GPUMEM_OK)
		*address_out = (uintptr_t)memory;
	return status;
}

static gpumem_status alloc_managed(uint64_t bytes, uint64_t *address_out)
{
	gpumem_status status;
	void *address;

	status = gm_hip_check(
		gm_hip.hipMallocManaged(&address, bytes, hipMemAttachGlobal),
		"hipMallocManaged of %llu bytes", (unsigned long long)bytes);
	if (status == GPUMEM_OK)
		*address_out = (uintptr_t)address;
	return status;
}

static gpumem_status no_kind(gpumem_kind kind)
{
	return gm_hip_fail(GPUMEM_UNSUPPORTED, hipSuccess,
			   "it has no memory of kind %d", (int)kind);
}

gpumem_status gm_hip_kind_alloc(void *handle, gpumem_kind kind, uint64_t bytes,
				uint64_t *address_out)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, handle);

	if (status != GPUMEM_OK)
		return status;
	if (kind == GPUMEM_KIND_PINNED)
		status = alloc_pinned(bytes, address_out);
	else if (kind == GPUMEM_KIND_MANAGED)
		status = alloc_managed(bytes, address_out);
	else
		status = no_kind(kind);
	gm_hip_leave(&visit);
	return status;
}

/* Either waits for all work of the device, at every level of virtual memory. */
gpumem_status gm_hip_kind_free(void *handle, gpumem_kind kind, uint64_t address,
			       uint64_t bytes)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, handle);

	if (status != GPUMEM_OK)
		return status;
	if (kind == GPUMEM_KIND_PINNED)
		status = gm_hip_check(
			gm_hip.hipHostFree((void *)(uintptr_t)address),
			"hipHostFree of %llu bytes at 0x%llx",
			(unsigned long long)bytes, (unsigned long long)address);
	else if (kind == GPUMEM_KIND_MANAGED)
		status = gm_hip_check(
			gm_hip.hipFree((void *)(uintptr_t)address),
			"hipFree of %llu managed bytes at "
			"0x%llx",
			(unsigned long long)bytes, (unsigned long long)address);
	else
		status = no_kind(kind);
	gm_hip_leave(&visit);
	return status;
}
