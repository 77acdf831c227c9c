/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What is known of a device without a context. Keeps nothing; nobody locks.
 */
#include "plugin.h"

#include <ctype.h>
#include <string.h>

/* In what the runtime takes memory for its own allocations, and what a device
 * maps by one large entry; some releases recommend a page of the host's. */
#define GRANULARITY_BYTES (UINT64_C(2) << 20)
/* hipDeviceAttributeVirtualMemoryManagementSupported, since 5.7. */
#define VIRTUAL_MEMORY_SUPPORTED ((hipDeviceAttribute_t)89)

_Static_assert(sizeof(struct hip_page_kind) == 32, "as in ROCm 5.7 to 7");
_Static_assert(offsetof(struct hip_page_kind, location) == 8, "the same");

/* 0 where the runtime does not know it. */
static gpumem_status attribute(hipDevice_t device, hipDeviceAttribute_t which,
			       int *value_out)
{
	hipError_t error = gm_hip.DeviceGetAttribute(value_out, which, device);

	if (error != hipErrorNotSupported)
		return gm_hip_check(error, "hipDeviceGetAttribute %d",
				    (int)which);
	*value_out = 0;
	return GPUMEM_OK;
}

/* "" where the runtime does not know it. */
static gpumem_status read_place(struct hip_device *device)
{
	hipError_t error = gm_hip.DeviceGetPCIBusId(
		device->pci, sizeof(device->pci), device->device);

	if (error != hipErrorNotSupported)
		return gm_hip_check(error, "hipDeviceGetPCIBusId");
	device->pci[0] = '\0';
	return GPUMEM_OK;
}

/* Pages are plain memory of the device that nobody else can be given: to share
 * one has to be asked for when it is created. */
static gpumem_status read_virtual(hipDevice_t device, struct hip_traits *traits)
{
	gpumem_status status;
	size_t granularity = 0;
	hipError_t error;
	int vm = 0;

	if (!gm_hip.vm)
		return GPUMEM_OK;
	status = attribute(device, VIRTUAL_MEMORY_SUPPORTED, &vm);
	if (status != GPUMEM_OK || !vm)
		return status;
	traits->page = (struct hip_page_kind){
		.type = hipMemAllocationTypePinned,
		.location = {.type = hipMemLocationTypeDevice, .id = device},
	};
	error = gm_hip.MemGetAllocationGranularity(
		&granularity, (void *)&traits->page,
		hipMemAllocationGranularityRecommended);
	if (error == hipErrorNotSupported)
		return GPUMEM_OK;
	status = gm_hip_check(error, "hipMemGetAllocationGranularity");
	if (status != GPUMEM_OK)
		return status;
	traits->vm = true;
	if (granularity > GRANULARITY_BYTES)
		traits->granularity_bytes = granularity;
	return GPUMEM_OK;
}

static gpumem_status read_traits(hipDevice_t device, struct hip_traits *traits)
{
	gpumem_status status;
	int managed = 0;

	/* Where host and device may not use managed memory at the same time, a
	 * block could not be handed out while work on another one runs. */
	status = attribute(device, hipDeviceAttributeConcurrentManagedAccess,
			   &managed);
	if (status != GPUMEM_OK)
		return status;
	traits->managed = managed != 0;
	traits->granularity_bytes = GRANULARITY_BYTES;
	return read_virtual(device, traits);
}

gpumem_status gm_hip_describe(int index, struct hip_device *device)
{
	gpumem_status status;
	char *c;

	status = gm_hip_check(gm_hip.DeviceGet(&device->device, index),
			      "hipDeviceGet of device %d", index);
	if (status == GPUMEM_OK && device->device >= GPU_DEVICES_MAX)
		status = gm_hip_fail(GPUMEM_UNSUPPORTED, hipSuccess,
				     "it is number %d, and no more than %d "
				     "devices can be used",
				     device->device, GPU_DEVICES_MAX);
	if (status == GPUMEM_OK)
		status = read_place(device);
	if (status != GPUMEM_OK)
		return status;
	for (c = device->pci; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return read_traits(device->device, &device->traits);
}
