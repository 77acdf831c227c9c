/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group HOST_PIN: memory of the process that counts as pinned where it is. It
 * gets pages and goes into the account of pinned memory; nothing is locked. The
 * accounting is under the device's `memory`.
 */
#include "host_device.h"

#include <stdlib.h>
#include <string.h>

static bool meets_other(const struct host_device *device, uint64_t address,
			uint64_t bytes)
{
	const struct host_range *range = device->pins.item;
	const struct host_range *end = range + device->pins.count;

	while (range < end && (range->address >= address + bytes ||
			       range->address + range->bytes <= address))
		range++;
	return range < end;
}

static gpumem_status pin_locked(struct host_device *device, uint64_t address,
				uint64_t bytes)
{
	const struct host_range range = {.address = address, .bytes = bytes};
	uint64_t *pinned = &device->kind_bytes[GPUMEM_KIND_PINNED];
	uint64_t left = device->config.kind_bytes[GPUMEM_KIND_PINNED] - *pinned;
	gpumem_status status;

	if (meets_other(device, address, bytes))
		return gm_host_fail(GPUMEM_INVALID,
				    "some of the %llu bytes at 0x%llx are "
				    "pinned",
				    (unsigned long long)bytes,
				    (unsigned long long)address);
	if (bytes > left)
		return gm_host_fail(GPUMEM_NO_MEMORY,
				    "%llu bytes, where %llu may be pinned",
				    (unsigned long long)bytes,
				    (unsigned long long)left);
	status = gm_host_range_add(&device->pins, &range);
	if (status == GPUMEM_OK)
		*pinned += bytes;
	return status;
}

gpumem_status gm_host_host_pin(void *handle, void *memory, uint64_t bytes)
{
	struct host_device *device = handle;
	const struct host_touch touch = {
		.address = (uintptr_t)memory, .bytes = bytes, .write = true};
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_host_pin);

	if (status != GPUMEM_OK)
		return status;
	if (!device->config.kind_bytes[GPUMEM_KIND_PINNED])
		return gm_host_fail(GPUMEM_UNSUPPORTED,
				    "the simulated device pins no memory");
	if (touch.address % gm_host_unit() || !bytes)
		return gm_host_fail(GPUMEM_INVALID,
				    "0x%llx, %llu bytes: no whole pages",
				    (unsigned long long)touch.address,
				    (unsigned long long)bytes);
	if (gm_host_touch_now(&touch) != GPUMEM_OK)
		return gm_host_fail(GPUMEM_NO_HOST_MEMORY,
				    "no pages for %llu bytes",
				    (unsigned long long)bytes);
	pthread_mutex_lock(&device->memory);
	status = pin_locked(device, touch.address, bytes);
	pthread_mutex_unlock(&device->memory);
	return status;
}

static gpumem_status unpin_locked(struct host_device *device, uint64_t address,
				  uint64_t bytes)
{
	struct host_range *range = gm_host_range_find(&device->pins, address);

	if (!range || range->address != address || range->bytes != bytes)
		return gm_host_fail(GPUMEM_INVALID,
				    "0x%llx, %llu bytes: not pinned like that",
				    (unsigned long long)address,
				    (unsigned long long)bytes);
	device->kind_bytes[GPUMEM_KIND_PINNED] -= bytes;
	gm_host_range_remove(&device->pins, range);
	return GPUMEM_OK;
}

gpumem_status gm_host_host_unpin(void *handle, void *memory, uint64_t bytes)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_host_unpin);

	if (status != GPUMEM_OK)
		return status;
	gm_host_free_in_capture(device);
	pthread_mutex_lock(&device->memory);
	status = unpin_locked(device, (uintptr_t)memory, bytes);
	pthread_mutex_unlock(&device->memory);
	return status;
}

void gm_host_pins_clear(struct host_device *device)
{
	free(device->pins.item);
	memset(&device->pins, 0, sizeof(device->pins));
}
