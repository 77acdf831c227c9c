/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What may be taken of a device. Implementations give more than there is, and
 * fail when it is used, or end the process: so what was given is counted here,
 * for all contexts of a device together, and more than there is is never asked
 * for. One atomic number; no locks.
 *
 *     used_bytes <= capacity_bytes
 */
#include "opencl_plugin.h"

gpumem_status gm_opencl_budget_take(struct opencl_device *device,
				    uint64_t bytes)
{
	uint64_t capacity = device->traits.capacity_bytes;
	_Atomic uint64_t *used_bytes = &device->unit->used_bytes;
	uint64_t used = atomic_load(used_bytes);

	do {
		if (used > capacity || bytes > capacity - used)
			return gm_opencl_fail(
				GPUMEM_NO_MEMORY, CL_SUCCESS,
				"%llu bytes are too much where %llu of %llu "
				"are in use (option opencl.capacity)",
				(unsigned long long)bytes,
				(unsigned long long)used,
				(unsigned long long)capacity);
	} while (
		!atomic_compare_exchange_weak(used_bytes, &used, used + bytes));
	return GPUMEM_OK;
}

void gm_opencl_budget_give(struct opencl_device *device, uint64_t bytes)
{
	atomic_fetch_sub(&device->unit->used_bytes, bytes);
}

/* The device's own word, in KiB, where it gives one: it knows of others. */
gpumem_status gm_opencl_memory_info(void *handle, struct gpumem_memory *memory)
{
	const struct opencl_device *device = handle;
	uint64_t total = device->traits.capacity_bytes;
	uint64_t used = atomic_load(&device->unit->used_bytes);
	uint64_t unused = used < total ? total - used : 0;
	size_t told_kib[2] = {0}; /* all, and the largest piece */

	if (device->traits.tells_free &&
	    gm_opencl_ask(device->unit, CL_DEVICE_GLOBAL_FREE_MEMORY_AMD,
			  told_kib, sizeof(told_kib)) &&
	    (uint64_t)told_kib[0] << 10 < unused)
		unused = (uint64_t)told_kib[0] << 10;
	memory->total_bytes = total;
	memory->free_bytes = unused;
	return GPUMEM_OK;
}
