/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Lies about devices, statuses and accounts. Included by liar.c. */
#ifndef LIAR_MEMORY_H
#define LIAR_MEMORY_H

#include "liar.h"

static gpumem_status count_grows(int *count_out)
{
	static int calls;
	gpumem_status status = honest()->device_count(count_out);

	*count_out += calls++;
	return status;
}

static gpumem_status bad_uuid(int index, struct gpumem_device_info *info_out)
{
	gpumem_status status = honest()->device_info(index, info_out);

	strcpy(info_out->uuid, "GPU-1234");
	return status;
}

static gpumem_status no_product(int index, struct gpumem_device_info *info_out)
{
	gpumem_status status = honest()->device_info(index, info_out);

	info_out->product[0] = '\0';
	return status;
}

static gpumem_status other_info(int index, struct gpumem_device_info *info_out)
{
	static uint32_t calls;
	gpumem_status status = honest()->device_info(index, info_out);

	info_out->total_bytes += calls++;
	return status;
}

static gpumem_status says_late(int index, struct gpumem_device_info *info_out)
{
	gpumem_status status = honest()->device_info(index, info_out);

	info_out->caps |= GPUMEM_CAP_LATE_COMMIT;
	return status;
}

static gpumem_status commits_at_once(void *device, uint64_t bytes,
				     uint64_t *address_out)
{
	gpumem_status status = honest()->alloc(device, bytes, address_out);

	if (status == GPUMEM_OK)
		memset((void *)(uintptr_t)*address_out, 0, bytes);
	return status;
}

static gpumem_status odd_granularity(int index,
				     struct gpumem_device_info *info_out)
{
	gpumem_status status = honest()->device_info(index, info_out);

	info_out->granularity_bytes = 3000000;
	return status;
}

static gpumem_status coarse_granularity(int index,
					struct gpumem_device_info *info_out)
{
	gpumem_status status = honest()->device_info(index, info_out);

	info_out->granularity_bytes = UINT64_C(1) << 40;
	return status;
}

static gpumem_status no_total(int index, struct gpumem_device_info *info_out)
{
	gpumem_status status = honest()->device_info(index, info_out);

	info_out->total_bytes = 0;
	return status;
}

static gpumem_status endless_total(int index,
				   struct gpumem_device_info *info_out)
{
	gpumem_status status = honest()->device_info(index, info_out);

	info_out->total_bytes = UINT64_MAX;
	return status;
}

static gpumem_status no_alignment_at_all(int index,
					 struct gpumem_device_info *info_out)
{
	gpumem_status status = honest()->device_info(index, info_out);

	info_out->alignment_bytes = 0;
	return status;
}

static gpumem_status no_largest(int index, struct gpumem_device_info *info_out)
{
	gpumem_status status = honest()->device_info(index, info_out);

	info_out->max_alloc_bytes = 0;
	return status;
}

static gpumem_status info_beyond(int index, struct gpumem_device_info *info_out)
{
	gpumem_status status = honest()->device_info(index, info_out);

	memset(info_out + 1, 1, 8);
	return status;
}

static gpumem_status opens_once(int index, void **device_out)
{
	static int opened;

	if (!opened++)
		return honest()->device_open(index, device_out);
	services.error(0, "", "it was open once");
	return GPUMEM_DRIVER;
}

static gpumem_status opens_nothing(int index, void **device_out)
{
	(void)index;
	(void)device_out;
	return GPUMEM_OK;
}

static gpumem_status same_memory(void *device, struct gpumem_memory *memory_out)
{
	gpumem_status status = honest()->memory_info(device, memory_out);

	memory_out->free_bytes = memory_out->total_bytes / 2;
	return status;
}

static gpumem_status more_free(void *device, struct gpumem_memory *memory_out)
{
	gpumem_status status = honest()->memory_info(device, memory_out);

	memory_out->free_bytes = 2 * memory_out->total_bytes;
	return status;
}

static gpumem_status no_memory_info(void *device,
				    struct gpumem_memory *memory_out)
{
	(void)device;
	(void)memory_out;
	return GPUMEM_OK;
}

static gpumem_status touches_output(void *device, uint64_t bytes,
				    uint64_t *address_out)
{
	gpumem_status status = honest()->alloc(device, bytes, address_out);

	if (status != GPUMEM_OK)
		*address_out = 0;
	return status;
}

static gpumem_status wrong_status(void *device, uint64_t bytes,
				  uint64_t *address_out)
{
	gpumem_status status = honest()->alloc(device, bytes, address_out);

	return status == GPUMEM_NO_MEMORY ? GPUMEM_DRIVER : status;
}

static gpumem_status unknown_status(void *device, uint64_t bytes,
				    uint64_t *address_out)
{
	gpumem_status status = honest()->alloc(device, bytes, address_out);

	return status == GPUMEM_NO_MEMORY ? (gpumem_status)77 : status;
}

static gpumem_status limit_status(void *device, uint64_t bytes,
				  uint64_t *address_out)
{
	gpumem_status status = honest()->alloc(device, bytes, address_out);

	return status == GPUMEM_NO_MEMORY ? GPUMEM_LIMIT : status;
}

static gpumem_status frees_with_one(void *device, uint64_t address,
				    uint64_t bytes)
{
	gpumem_status status = honest()->free(device, address, bytes);

	return status == GPUMEM_OK ? (gpumem_status)1 : status;
}

static gpumem_status free_not_ready(void *device, uint64_t address,
				    uint64_t bytes)
{
	(void)device;
	(void)address;
	(void)bytes;
	return GPUMEM_NOT_READY;
}

static gpumem_status silent_alloc(void *device, uint64_t bytes,
				  uint64_t *address_out)
{
	gpumem_status status;

	is_mute = true;
	status = honest()->alloc(device, bytes, address_out);
	is_mute = false;
	return status;
}

static const char *no_version(void)
{
	return NULL;
}

#endif
