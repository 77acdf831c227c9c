/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory without pages: alloc, free, and how much there is. Without virtual
 * memory every other address has no more than the least alignment that the
 * device promises, since a caller that counts on more is wrong. The accounting
 * is under the device's `memory`. Where memory has objects: host_object.c.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_device.h"

#include <sys/mman.h>

gpumem_status gm_host_memory_info(void *handle, struct gpumem_memory *memory)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_memory_info);

	if (status != GPUMEM_OK)
		return status;
	memory->total_bytes = device->config.capacity;
	if (device->config.caps & GPUMEM_CAP_MEMORY_INFO)
		memory->free_bytes = gm_host_phys_left(device);
	else
		memory->free_bytes = device->config.capacity -
				     atomic_load(&device->used_bytes);
	return GPUMEM_OK;
}

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + gm_host_unit() - 1) & ~(gm_host_unit() - 1);
}

/* How far into its mapping this allocation begins, and how the mapping must
 * be aligned for it. */
static uint64_t tilt(struct host_device *device, uint64_t *alignment_out)
{
	uint64_t alignment = device->config.alignment;

	if (device->config.caps & GPUMEM_CAP_VM) {
		*alignment_out = alignment;
		return 0;
	}
	*alignment_out = 2 * alignment;
	device->tilt = !device->tilt;
	return device->tilt ? alignment : 0;
}

/* The memory of a range that has its page: behind its addresses, or with
 * objects out of the program's sight. */
static gpumem_status back(struct host_device *device, uint64_t alignment,
			  struct host_range *range)
{
	const struct host_phys *phys = &device->phys;
	struct host_buffer wanted = {.address = range->address,
				     .bytes = range->bytes};
	gpumem_status status;

	range->memory = range->base;
	if (device->config.caps & GPUMEM_CAP_OBJECTS) {
		status = gm_host_address_reserve(range->span, alignment,
						 &range->memory);
		if (status != GPUMEM_OK)
			return status;
		atomic_init(&wanted.memory,
			    range->memory + (range->address - range->base));
		status = gm_host_buffer_new(&wanted, &range->buffer);
		if (status != GPUMEM_OK)
			goto release;
	}
	status = gm_host_phys_map(device, &phys->file, range->memory,
				  range->span, phys->pages[range->page].offset);
	if (status != GPUMEM_OK)
		goto end_buffer;
	return GPUMEM_OK;

end_buffer:
	if (range->buffer)
		gm_host_buffer_end(range->buffer);
release:
	if (range->memory != range->base)
		(void)gm_host_address_release(range->memory, range->span);
	return status;
}

/* Nothing of a range has to be mapped at its own addresses any more. */
static gpumem_status unback(struct host_device *device,
			    const struct host_range *range)
{
	gpumem_status status;

	if (!range->buffer)
		return GPUMEM_OK;
	status = gm_host_address_release(range->memory, range->span);
	if (status != GPUMEM_OK)
		return status;
	gm_host_views_orphan(device, range);
	gm_host_buffer_end(range->buffer);
	return GPUMEM_OK;
}

static gpumem_status alloc_locked(struct host_device *device, uint64_t bytes,
				  uint64_t *address_out)
{
	uint64_t alignment, shift = tilt(device, &alignment);
	struct host_range range = {
		.bytes = bytes,
		.span = round_up(shift + bytes),
	};
	struct host_phys *phys = &device->phys;
	gpumem_status status;

	status = gm_host_phys_take(device, round_up(bytes), range.span,
				   &range.page);
	if (status != GPUMEM_OK)
		return status;
	phys->pages[range.page].raw = true;
	status = gm_host_address_reserve(range.span, alignment, &range.base);
	if (status != GPUMEM_OK)
		goto give;
	range.address = range.base + shift;
	status = back(device, alignment, &range);
	if (status != GPUMEM_OK)
		goto release;
	status = gm_host_range_add(&device->raws, &range);
	if (status != GPUMEM_OK)
		goto unback;
	/* As in host_map.c. */
	(void)madvise((void *)(uintptr_t)range.memory, range.span,
		      MADV_DONTFORK);
	*address_out = range.address;
	return GPUMEM_OK;

unback:
	(void)unback(device, &range);
release:
	(void)gm_host_address_release(range.base, range.span);
give:
	gm_host_phys_give(device, range.page);
	return status;
}

gpumem_status gm_host_alloc(void *handle, uint64_t bytes, uint64_t *address_out)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_alloc);

	if (status != GPUMEM_OK)
		return status;
	if (!bytes || bytes > device->config.max_alloc)
		return gm_host_fail(
			GPUMEM_INVALID,
			"%llu bytes, where one allocation may have "
			"1 to %llu",
			(unsigned long long)bytes,
			(unsigned long long)device->config.max_alloc);
	pthread_mutex_lock(&device->memory);
	status = alloc_locked(device, bytes, address_out);
	pthread_mutex_unlock(&device->memory);
	return status;
}

static gpumem_status free_locked(struct host_device *device, uint64_t address,
				 uint64_t bytes)
{
	struct host_range *range = gm_host_range_find(&device->raws, address);
	gpumem_status status;

	if (!range || range->address != address || range->bytes != bytes)
		return gm_host_fail(GPUMEM_INVALID,
				    "no such allocation: 0x%llx, %llu bytes",
				    (unsigned long long)address,
				    (unsigned long long)bytes);
	status = gm_host_phys_check(device, range->page);
	if (status == GPUMEM_OK)
		status = unback(device, range);
	if (status == GPUMEM_OK)
		status = gm_host_address_release(range->base, range->span);
	if (status != GPUMEM_OK)
		return status;
	gm_host_phys_give(device, range->page);
	gm_host_range_remove(&device->raws, range);
	return GPUMEM_OK;
}

gpumem_status gm_host_free(void *handle, uint64_t address, uint64_t bytes)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_free);

	if (status != GPUMEM_OK)
		return status;
	gm_host_free_in_capture(device);
	pthread_mutex_lock(&device->memory);
	status = free_locked(device, address, bytes);
	pthread_mutex_unlock(&device->memory);
	return status;
}
