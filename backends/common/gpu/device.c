/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* device_count and device_info. Keeps nothing; no lock. */
#include "plugin.h"

#include <string.h>

/* What the driver promises of every allocation. */
#define ALIGNMENT_BYTES 256

gpumem_status GPU(device_count)(int *count_out)
{
	bool clean = gpu_is_clean();
	gpumem_status status;
	int count = 0;

	status = gpu_check(gpu.DeviceGetCount(&count), DEVICE_COUNT);
	gpu_clean(clean);
	if (status != GPUMEM_OK)
		return status;
	if (count <= 0)
		return gpu_fail(GPUMEM_NO_DEVICE, GPU_SUCCESS, SHOWS_NO_DEVICE);
	*count_out = count;
	return GPUMEM_OK;
}

static gpumem_status read_identity(const struct gpu_device *device,
				   struct gpumem_device_info *info)
{
	gpumem_status status;
	size_t total;

	status = gpu_check(gpu.DeviceGetName(info->product,
					     sizeof(info->product),
					     device->device),
			   PREFIX "DeviceGetName");
	if (status == GPUMEM_OK)
		status = gpu_check(gpu.DeviceTotalMem(&total, device->device),
				   PREFIX "DeviceTotalMem");
	if (status != GPUMEM_OK)
		return status;
	gpu_format_uuid(device, info->uuid);
	memcpy(info->pci, device->pci, sizeof(info->pci));
	info->total_bytes = total;
	info->max_alloc_bytes = total;
	return GPUMEM_OK;
}

gpumem_status GPU(device_info)(int index, struct gpumem_device_info *info)
{
	struct gpumem_device_info whole = {.size = info->size};
	struct gpu_device device = {0};
	bool clean = gpu_is_clean();
	gpumem_status status;

	status = gpu_describe(index, &device);
	if (status == GPUMEM_OK)
		status = read_identity(&device, &whole);
	gpu_clean(clean);
	if (status == GPUMEM_OK)
		status = gpu_capabilities(&device, &whole);
	if (status != GPUMEM_OK)
		return status;
	whole.granularity_bytes = device.traits.granularity_bytes;
	whole.alignment_bytes = ALIGNMENT_BYTES;
	whole.caps |= GPUMEM_CAP_STREAMS | GPUMEM_CAP_COPY |
		      GPUMEM_CAP_CAPTURE | GPUMEM_CAP_MEMORY_INFO |
		      GPUMEM_CAP_PINNED | GPUMEM_CAP_PEER |
		      (device.traits.managed ? GPUMEM_CAP_MANAGED : 0);
	memcpy(info, &whole,
	       whole.size < sizeof(whole) ? whole.size : sizeof(whole));
	return GPUMEM_OK;
}
