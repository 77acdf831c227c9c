/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group KINDS: pinned and managed memory. Both are ordinary memory of the
 * process, each with an account of its own; nothing is locked, so that tests
 * need no privilege. The accounting is under the device's `memory`.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_device.h"

#include <errno.h>
#include <sys/mman.h>

/* The kind has an account, and the device has the kind. */
static gpumem_status check_kind(const struct host_device *device,
				gpumem_kind kind)
{
	if ((unsigned)kind < HOST_KINDS && device->config.kind_bytes[kind])
		return GPUMEM_OK;
	return gm_host_fail(GPUMEM_UNSUPPORTED,
			    "the simulated device has no memory of kind %d",
			    (int)kind);
}

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + gm_host_unit() - 1) & ~(gm_host_unit() - 1);
}

static gpumem_status map_memory(const struct host_device *device,
				struct host_range *range)
{
	gpumem_status status;

	status = gm_host_address_reserve(range->span, device->config.alignment,
					 &range->base);
	if (status != GPUMEM_OK)
		return status;
	if (mprotect((void *)(uintptr_t)range->base, range->span,
		     PROT_READ | PROT_WRITE) < 0) {
		status = gm_host_fail_system(errno, "host memory");
		(void)gm_host_address_release(range->base, range->span);
		return status;
	}
	/* As in host_map.c. */
	(void)madvise((void *)(uintptr_t)range->base, range->span,
		      MADV_DONTFORK);
	range->address = range->base;
	return GPUMEM_OK;
}

static gpumem_status alloc_locked(struct host_device *device, gpumem_kind kind,
				  uint64_t bytes, uint64_t *address_out)
{
	struct host_range range = {.bytes = bytes, .kind = kind};
	uint64_t left =
		device->config.kind_bytes[kind] - device->kind_bytes[kind];
	gpumem_status status;

	if (bytes > left)
		return gm_host_fail(GPUMEM_NO_MEMORY,
				    "%llu bytes, where %llu of that kind are "
				    "left",
				    (unsigned long long)bytes,
				    (unsigned long long)left);
	range.span = round_up(bytes);
	status = map_memory(device, &range);
	if (status != GPUMEM_OK)
		return status;
	status = gm_host_range_add(&device->kinds, &range);
	if (status != GPUMEM_OK) {
		(void)gm_host_address_release(range.base, range.span);
		return status;
	}
	device->kind_bytes[kind] += bytes;
	*address_out = range.address;
	return GPUMEM_OK;
}

gpumem_status gm_host_kind_alloc(void *handle, gpumem_kind kind, uint64_t bytes,
				 uint64_t *address_out)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_kind_alloc);

	if (status == GPUMEM_OK)
		status = check_kind(device, kind);
	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&device->memory);
	status = alloc_locked(device, kind, bytes, address_out);
	pthread_mutex_unlock(&device->memory);
	return status;
}

static gpumem_status free_locked(struct host_device *device, gpumem_kind kind,
				 uint64_t address, uint64_t bytes)
{
	struct host_range *range = gm_host_range_find(&device->kinds, address);
	gpumem_status status;

	if (!range || range->address != address || range->bytes != bytes ||
	    range->kind != (uint32_t)kind)
		return gm_host_fail(GPUMEM_INVALID,
				    "no such allocation of kind %d: 0x%llx, "
				    "%llu bytes",
				    (int)kind, (unsigned long long)address,
				    (unsigned long long)bytes);
	status = gm_host_address_release(range->base, range->span);
	if (status != GPUMEM_OK)
		return status;
	device->kind_bytes[kind] -= bytes;
	gm_host_range_remove(&device->kinds, range);
	return GPUMEM_OK;
}

gpumem_status gm_host_kind_free(void *handle, gpumem_kind kind,
				uint64_t address, uint64_t bytes)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_kind_free);

	if (status == GPUMEM_OK)
		status = check_kind(device, kind);
	if (status != GPUMEM_OK)
		return status;
	gm_host_free_in_capture(device);
	pthread_mutex_lock(&device->memory);
	status = free_locked(device, kind, address, bytes);
	pthread_mutex_unlock(&device->memory);
	return status;
}
