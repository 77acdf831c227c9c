/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A backend without fault but without use: one device, which gives out nothing.
 * Each bad plugin spoils exactly one thing of it, so that it can be refused for
 * that one only.
 */
#ifndef GPUMEM_TESTS_PLUGINS_BAD_H
#define GPUMEM_TESTS_PLUGINS_BAD_H

#include <gpumem/backend.h>

/* Seen by the loader whatever the visibility that the tests are built with. */
GPUMEM_API const struct gpumem_backend *gpumem_plugin(void);

static inline gpumem_status bad_start(const struct gpumem_services *services)
{
	(void)services;
	return GPUMEM_OK;
}

static inline const char *bad_driver_version(void)
{
	return "";
}

static inline gpumem_status bad_device_count(int *count_out)
{
	*count_out = 1;
	return GPUMEM_OK;
}

static inline gpumem_status bad_device_info(int index,
					    struct gpumem_device_info *info_out)
{
	(void)index;
	info_out->total_bytes = 1u << 20;
	info_out->granularity_bytes = 4096;
	info_out->alignment_bytes = 256;
	info_out->max_alloc_bytes = 1u << 20;
	return GPUMEM_OK;
}

static inline gpumem_status bad_device_open(int index, void **device_out)
{
	(void)index;
	*device_out = NULL;
	return GPUMEM_OK;
}

static inline void bad_device_close(void *device)
{
	(void)device;
}

static inline gpumem_status bad_memory_info(void *device,
					    struct gpumem_memory *memory_out)
{
	(void)device;
	memory_out->total_bytes = 1u << 20;
	return GPUMEM_OK;
}

static inline gpumem_status bad_alloc(void *device, uint64_t bytes,
				      uint64_t *address_out)
{
	(void)device;
	(void)bytes;
	(void)address_out;
	return GPUMEM_NO_MEMORY;
}

static inline gpumem_status bad_free(void *device, uint64_t address,
				     uint64_t bytes)
{
	(void)device;
	(void)address;
	(void)bytes;
	return GPUMEM_DRIVER;
}

/* The whole table, without fault. */
static inline struct gpumem_backend bad_table(const char *name)
{
	return (struct gpumem_backend){
		.abi = GPUMEM_BACKEND_ABI,
		.size = sizeof(struct gpumem_backend),
		.name = name,
		.init = bad_start,
		.driver_version = bad_driver_version,
		.device_count = bad_device_count,
		.device_info = bad_device_info,
		.device_open = bad_device_open,
		.device_close = bad_device_close,
		.memory_info = bad_memory_info,
		.alloc = bad_alloc,
		.free = bad_free,
	};
}

#endif
