/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Devices counted, described, opened and closed. Only opening one makes a
 * context, the primary one, which it shares with the rest of the process; the
 * driver counts its users. Nobody locks.
 */
#include "plugin.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the driver promises of every allocation. */
#define ALIGNMENT_BYTES 256
/* In what it takes memory for its own allocations on devices of this time. */
#define RAW_GRANULARITY_BYTES (UINT64_C(2) << 20)

gpumem_status gm_cuda_device_count(int *count_out)
{
	gpumem_status status;
	int count = 0;

	status = gm_cuda_check(gm_cuda.DeviceGetCount(&count),
			       "cuDeviceGetCount");
	if (status != GPUMEM_OK)
		return status;
	if (count <= 0)
		return gm_cuda_fail(GPUMEM_NO_DEVICE, CUDA_SUCCESS,
				    "the driver shows no device; see "
				    "nvidia-smi and CUDA_VISIBLE_DEVICES");
	*count_out = count;
	return GPUMEM_OK;
}

static gpumem_status attribute(CUdevice device, CUdevice_attribute which,
			       int *value_out)
{
	return gm_cuda_check(
		gm_cuda.DeviceGetAttribute(value_out, which, device),
		"cuDeviceGetAttribute %d", (int)which);
}

/* Legacy IPC works on Linux wherever host and device share one address space;
 * descriptors have to be asked about. */
static gpumem_status read_sharing(CUdevice device, struct cuda_traits *traits)
{
	gpumem_status status;
	int ipc = 0, fd = 0;

	status =
		attribute(device, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, &ipc);
	if (status == GPUMEM_OK && traits->vm)
		status = attribute(
			device,
			CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
			&fd);
	traits->ipc = ipc != 0;
	traits->fd = fd != 0;
	return status;
}

/*
 * Pages are plain memory of the device that nobody else can be given: to share
 * one has to be asked for when it is created. That a network adapter can reach
 * them has to be asked for as well, costs nothing, and is not to be missed when
 * the program, which does not know what its memory is made of, hands a block to
 * UCX or NCCL.
 */
static gpumem_status describe_page(CUdevice device, CUmemAllocationProp *page)
{
	gpumem_status status;
	int rdma = 0;

	status = attribute(
		device,
		CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
		&rdma);
	if (status != GPUMEM_OK)
		return status;
	memset(page, 0, sizeof(*page));
	page->type = CU_MEM_ALLOCATION_TYPE_PINNED;
	page->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	page->location.id = device;
	page->allocFlags.gpuDirectRDMACapable = rdma != 0;
	return GPUMEM_OK;
}

/* The recommended granularity, where it differs from the minimum: a page that
 * the device cannot map by one large entry makes every access dearer, and each
 * page costs as many driver calls as a larger one. */
static gpumem_status read_traits(CUdevice device, struct cuda_traits *traits)
{
	gpumem_status status;
	size_t granularity = RAW_GRANULARITY_BYTES;
	int vm = 0, managed = 0;

	status = attribute(
		device, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
		&vm);
	/* Where host and device may not use managed memory at the same time, a
	 * block could not be handed out while work on another one runs. */
	if (status == GPUMEM_OK)
		status = attribute(
			device, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
			&managed);
	if (status == GPUMEM_OK && vm)
		status = describe_page(device, &traits->page);
	if (status == GPUMEM_OK && vm)
		status = gm_cuda_check(
			gm_cuda.MemGetAllocationGranularity(
				&granularity, &traits->page,
				CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
			"cuMemGetAllocationGranularity");
	if (status != GPUMEM_OK)
		return status;
	traits->vm = vm != 0;
	traits->managed = managed != 0;
	traits->granularity_bytes = granularity;
	return read_sharing(device, traits);
}

void gm_cuda_format_uuid(const CUuuid *uuid, char text_out[CUDA_UUID_BYTES])
{
	size_t i, used = 0;

	for (i = 0; i < sizeof(uuid->bytes); i++)
		used += (size_t)snprintf(
			text_out + used, CUDA_UUID_BYTES - used, "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			(unsigned char)uuid->bytes[i]);
}

/* The newer call tells the parts of a divided device (MIG) apart. */
gpumem_status gm_cuda_read_uuid(CUdevice device, CUuuid *uuid)
{
	if (gm_cuda.DeviceGetUuid_v2)
		return gm_cuda_check(gm_cuda.DeviceGetUuid_v2(uuid, device),
				     "cuDeviceGetUuid");
	return gm_cuda_check(gm_cuda.DeviceGetUuid(uuid, device),
			     "cuDeviceGetUuid");
}

static gpumem_status read_identity(CUdevice device,
				   struct gpumem_device_info *info)
{
	gpumem_status status;
	CUuuid uuid;
	char *c;

	status = gm_cuda_check(gm_cuda.DeviceGetName(info->product,
						     sizeof(info->product),
						     device),
			       "cuDeviceGetName");
	if (status == GPUMEM_OK)
		status = gm_cuda_read_uuid(device, &uuid);
	if (status == GPUMEM_OK)
		status = gm_cuda_check(
			gm_cuda.DeviceGetPCIBusId(info->pci, sizeof(info->pci),
						  device),
			"cuDeviceGetPCIBusId");
	if (status != GPUMEM_OK)
		return status;
	gm_cuda_format_uuid(&uuid, info->uuid);
	for (c = info->pci; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return GPUMEM_OK;
}

gpumem_status gm_cuda_device_info(int index, struct gpumem_device_info *info)
{
	struct gpumem_device_info found = {.size = info->size};
	struct cuda_traits traits;
	gpumem_status status;
	CUdevice device;
	size_t total;

	status = gm_cuda_check(gm_cuda.DeviceGet(&device, index),
			       "cuDeviceGet of device %d", index);
	if (status == GPUMEM_OK)
		status = read_identity(device, &found);
	if (status == GPUMEM_OK)
		status = gm_cuda_check(gm_cuda.DeviceTotalMem(&total, device),
				       "cuDeviceTotalMem");
	if (status == GPUMEM_OK)
		status = read_traits(device, &traits);
	if (status != GPUMEM_OK)
		return status;
	found.total_bytes = total;
	found.granularity_bytes = traits.granularity_bytes;
	found.alignment_bytes = ALIGNMENT_BYTES;
	found.max_alloc_bytes = total;
	found.caps = GPUMEM_CAP_STREAMS | GPUMEM_CAP_COPY | GPUMEM_CAP_CAPTURE |
		     GPUMEM_CAP_FREE_WAITS | GPUMEM_CAP_MEMORY_INFO |
		     GPUMEM_CAP_PINNED | GPUMEM_CAP_PEER |
		     (traits.vm ? GPUMEM_CAP_VM : 0) |
		     (traits.managed ? GPUMEM_CAP_MANAGED : 0) |
		     (traits.ipc ? GPUMEM_CAP_SHARE_IPC : 0) |
		     (traits.fd ? GPUMEM_CAP_SHARE_FD : 0);
	memcpy(info, &found,
	       found.size < sizeof(found) ? found.size : sizeof(found));
	return GPUMEM_OK;
}

gpumem_status gm_cuda_device_open(int index, void **device_out)
{
	struct cuda_device *device = calloc(1, sizeof(*device));
	struct cuda_visit visit;
	gpumem_status status;

	if (!device)
		return gm_cuda_fail(GPUMEM_NO_HOST_MEMORY, CUDA_SUCCESS,
				    "no host memory for a device");
	status = gm_cuda_check(gm_cuda.DeviceGet(&device->device, index),
			       "cuDeviceGet of device %d", index);
	if (status == GPUMEM_OK)
		status = gm_cuda_read_uuid(device->device, &device->uuid);
	if (status == GPUMEM_OK)
		status = read_traits(device->device, &device->traits);
	if (status == GPUMEM_OK)
		status = gm_cuda_relax(&visit);
	if (status != GPUMEM_OK)
		goto free_device;
	status = gm_cuda_check(gm_cuda.DevicePrimaryCtxRetain(&device->context,
							      device->device),
			       "cuDevicePrimaryCtxRetain");
	gm_cuda_leave(&visit);
	if (status != GPUMEM_OK)
		goto free_device;
	*device_out = device;
	return GPUMEM_OK;

free_device:
	free(device);
	return status;
}

/* At exit the driver may be gone, and a context that the program has reset is
 * gone as well: there is nobody to tell. */
void gm_cuda_device_close(void *handle)
{
	struct cuda_device *device = handle;

	(void)gm_cuda.DevicePrimaryCtxRelease(device->device);
	free(device);
}
