/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Devices opened and closed, and what they can do. Only opening one makes a
 * context, the primary one, which it shares with the rest of the process; the
 * driver counts its users. An adopted one is the program's. No lock.
 */
#include "plugin.h"

#include <string.h>

/* A driver that does not know the attribute knows no such use either. */
static gpumem_status read_uses(CUdevice device, CUmemAllocationProp *page)
{
	CUmemAllocationProp other = *page;
	int algorithms = 0;
	size_t granularity;
	CUresult result = gpu.DeviceGetAttribute(&algorithms, CUDA_DECOMPRESSES,
						 device);

	if (result == CUDA_ERROR_INVALID_VALUE)
		return GPUMEM_OK;
	other.allocFlags.usage = CUDA_FOR_DECOMPRESSION;
	if (result == CUDA_SUCCESS && algorithms &&
	    gpu.MemGetAllocationGranularity(&granularity, &other,
					    GPU_RECOMMENDED) == CUDA_SUCCESS)
		*page = other;
	return gpu_check(result, "cuDeviceGetAttribute %d", CUDA_DECOMPRESSES);
}

/*
 * Pages are plain memory of the device that nobody else can be given: to share
 * one has to be asked for when it is created. So has what the driver's own
 * allocations can by themselves, and what must not be missed when the program,
 * which does not know what its memory is made of, hands a block to UCX, NCCL or
 * nvCOMP: that a network adapter can reach it, and the device's engine for
 * decompression, where it has one.
 */
gpumem_status gpu_describe_page(CUdevice device, CUmemAllocationProp *page)
{
	gpumem_status status;
	int rdma = 0;

	status = gpu_read_attribute(
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
	return read_uses(device, page);
}

/* A page at several addresses is what the programming guide calls virtual
 * aliasing. In the mode RELAXED nothing that gives memory back disturbs a
 * capture (tests/device/in_capture.c). Legacy IPC works on Linux wherever host
 * and device share one address space; descriptors have to be asked about. */
gpumem_status gpu_capabilities(const struct gpu_device *device,
			       struct gpumem_device_info *info)
{
	gpumem_status status;
	int ipc = 0, fd = 0;

	status = gpu_read_attribute(
		device->device, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, &ipc);
	if (status == GPUMEM_OK && device->traits.vm)
		status = gpu_read_attribute(
			device->device,
			CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
			&fd);
	info->caps =
		GPUMEM_CAP_FREE_WAITS | GPUMEM_CAP_FREES_IN_CAPTURE |
		(device->traits.vm ? GPUMEM_CAP_VM | GPUMEM_CAP_ALIAS : 0) |
		(ipc ? GPUMEM_CAP_SHARE_IPC : 0) |
		(fd ? GPUMEM_CAP_SHARE_FD : 0);
	return status;
}

/* An older driver does not know the attribute. */
int gpu_host_node(const struct gpu_device *device)
{
	int node;

	return gpu.DeviceGetAttribute(&node, CUDA_HOST_NODE, device->device) ==
			       CUDA_SUCCESS
		       ? node
		       : -1;
}

/* That it is there yet. */
static gpumem_status open_adopted(const struct gpu_device *device)
{
	struct gpu_call call = gpu_begin_good(device);

	if (gpu_end(&call) == GPUMEM_OK)
		gm_cuda_count_open(device->place, 1);
	return call.status;
}

gpumem_status gpu_open(struct gpu_device *device)
{
	struct gpu_call call;

	if (device->place)
		return open_adopted(device);
	call = gpu_begin_anywhere();
	if (call.status == GPUMEM_OK)
		call.status =
			gpu_check(gpu.DevicePrimaryCtxRetain(&device->context,
							     device->device),
				  "cuDevicePrimaryCtxRetain");
	return gpu_end(&call);
}

void gpu_close(struct gpu_device *device)
{
	if (device->place)
		gm_cuda_count_open(device->place, -1);
	else
		(void)gpu.DevicePrimaryCtxRelease(device->device);
}
