/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Devices counted, described, opened and closed. What a driver does not support
 * counts as absent. Keeps nothing; no lock.
 */
#include "plugin.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the driver promises of every allocation. */
#define ALIGNMENT_BYTES 256

/* In what the driver takes memory for its own allocations, and what a device
 * maps by one large entry; some releases of ROCm recommend a page of the
 * host's. */
#define GRANULARITY_BYTES (UINT64_C(2) << 20)

gpumem_status gpu_read_attribute(int device, gpu_attribute which,
				 int *value_out)
{
	gpu_result result = gpu.DeviceGetAttribute(value_out, which, device);

	if (result != GPU_NOT_SUPPORTED)
		return gpu_check(result, PREFIX "DeviceGetAttribute %d",
				 (int)which);
	*value_out = 0;
	return GPUMEM_OK;
}

static gpumem_status read_place(struct gpu_device *device)
{
	gpu_result result = gpu.DeviceGetPCIBusId(
		device->pci, sizeof(device->pci), device->device);

	if (result == GPU_NOT_SUPPORTED)
		device->pci[0] = '\0';
	else if (result != GPU_SUCCESS)
		return gpu_check(result, PREFIX "DeviceGetPCIBusId");
	for (char *c = device->pci; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return GPUMEM_OK;
}

static gpumem_status read_uuid(struct gpu_device *device)
{
	gpu_result result = gpu_get_uuid(&device->uuid, device->device);

	if (result != GPU_NOT_SUPPORTED)
		return gpu_check(result, PREFIX "DeviceGetUuid");
	memset(&device->uuid, 0, sizeof(device->uuid));
	return GPUMEM_OK;
}

/* The recommended granularity, where it differs from the minimum: a page that
 * the device cannot map by one large entry makes every access dearer, and each
 * page costs as many driver calls as a larger one. */
static gpumem_status read_virtual(struct gpu_device *device)
{
	struct gpu_traits *traits = &device->traits;
	gpumem_status status;
	size_t granularity = 0;
	gpu_result result;
	int vm = 0;

	status =
		gpu_read_attribute(device->device, GPU_HAS_VIRTUAL_MEMORY, &vm);
	if (status == GPUMEM_OK && vm)
		status = gpu_describe_page(device->device, &traits->page);
	if (status != GPUMEM_OK || !vm)
		return status;
	result = gpu.MemGetAllocationGranularity(
		&granularity, (void *)&traits->page, GPU_RECOMMENDED);
	if (result == GPU_NOT_SUPPORTED)
		return GPUMEM_OK;
	status = gpu_check(result, PREFIX "MemGetAllocationGranularity");
	if (status != GPUMEM_OK)
		return status;
	traits->vm = true;
	if (granularity > GRANULARITY_BYTES)
		traits->granularity_bytes = granularity;
	return GPUMEM_OK;
}

/* Where host and device may not use managed memory at the same time, a block
 * could not be handed out while work on another one runs. */
static gpumem_status read_traits(struct gpu_device *device)
{
	gpumem_status status;
	int managed = 0;

	status = gpu_read_attribute(device->device, GPU_HAS_CONCURRENT_MANAGED,
				    &managed);
	if (status != GPUMEM_OK)
		return status;
	device->traits.managed = managed != 0;
	device->traits.granularity_bytes = GRANULARITY_BYTES;
	return gpu_knows_virtual() ? read_virtual(device) : GPUMEM_OK;
}

/* Number `index`, and what is known of it without a context: device, pci, uuid,
 * traits, and by them pages. */
static gpumem_status describe(int index, struct gpu_device *device)
{
	gpumem_status status;

	if (gpu_find_adopted(index, device))
		status = GPUMEM_OK;
	else
		status = gpu_check(gpu.DeviceGet(&device->device, index),
				   PREFIX "DeviceGet of device %d", index);
	if (status == GPUMEM_OK && device->device >= GPU_DEVICES_MAX)
		status = gpu_fail(GPUMEM_UNSUPPORTED, GPU_SUCCESS,
				  "it is number %d, and no more than %d "
				  "devices can be used",
				  device->device, GPU_DEVICES_MAX);
	if (status == GPUMEM_OK)
		status = read_place(device);
	if (status == GPUMEM_OK)
		status = read_uuid(device);
	if (status == GPUMEM_OK)
		status = read_traits(device);
	device->raw = &gpu_raw_own;
	device->pages = device->traits.vm ? &gpu_pages_whole : NULL;
	return status;
}

/* A UUID of zeros is none. */
void gpu_format_uuid(const struct gpu_device *device,
		     char text_out[GPU_UUID_BYTES])
{
	static const gpu_uuid none;
	size_t used = 0;

	text_out[0] = '\0';
	if (!memcmp(&device->uuid, &none, sizeof(none)))
		return;
	for (size_t i = 0; i < sizeof(none.bytes); i++)
		used += (size_t)snprintf(
			text_out + used, GPU_UUID_BYTES - used, "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			(unsigned char)device->uuid.bytes[i]);
}

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

	status = describe(index, &device);
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

gpumem_status GPU(device_open)(int index, void **device_out)
{
	struct gpu_device *device = calloc(1, sizeof(*device));
	bool clean = gpu_is_clean();
	gpumem_status status;

	if (!device)
		return gpu_fail(GPUMEM_NO_HOST_MEMORY, GPU_SUCCESS,
				"no host memory for a device");
	status = describe(index, device);
	gpu_clean(clean);
	if (status == GPUMEM_OK)
		status = gpu_open(device);
	if (status == GPUMEM_OK)
		*device_out = device;
	else
		free(device);
	return status;
}

void GPU(device_close)(void *device)
{
	gpu_followers_end(device);
	gpu_close(device);
	free(device);
}

gpumem_status GPU(device_native)(void *handle, void **context_out,
				 void **native_device_out)
{
	struct gpu_device *device = handle;

	*context_out = GPU_NATIVE_CONTEXT(device);
	*native_device_out = (void *)(intptr_t)device->device;
	return GPUMEM_OK;
}
