/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The least that a backend can be: one device of 256 MiB of the host's memory
 * with alloc and free, and nothing else. A pool of it takes large segments and
 * divides them. Built from the installed headers alone; the file has to be
 * called as the backend is:
 *
 *	cc -shared -fPIC -o minimal.so plugin_minimal.c
 *
 * Any thread may call at any time: the mutex guards what is free.
 */
#include <gpumem/backend.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY ((uint64_t)256 << 20)
#define UNIT 65536 /* granularity, in bytes */

static const struct gpumem_services *core;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t free_bytes = CAPACITY;

static gpumem_status init(const struct gpumem_services *services)
{
	core = services;
	return GPUMEM_OK;
}

static const char *driver_version(void)
{
	return "1.0";
}

static gpumem_status device_count(int *count_out)
{
	*count_out = 1;
	return GPUMEM_OK;
}

static gpumem_status device_info(int index, struct gpumem_device_info *info_out)
{
	(void)index;
	strcpy(info_out->product, "Ordinary memory");
	info_out->total_bytes = info_out->max_alloc_bytes = CAPACITY;
	info_out->granularity_bytes = UNIT;
	info_out->alignment_bytes = 256; /* of each block of a pool */
	info_out->caps = GPUMEM_CAP_HOST_ACCESS | GPUMEM_CAP_MEMORY_INFO;
	return GPUMEM_OK;
}

static gpumem_status device_open(int index, void **device_out)
{
	(void)index;
	*device_out = &free_bytes; /* anything but NULL */
	return GPUMEM_OK;
}

static void device_close(void *device)
{
	(void)device;
}

static gpumem_status memory_info(void *device, struct gpumem_memory *memory_out)
{
	(void)device;
	pthread_mutex_lock(&mutex);
	memory_out->total_bytes = CAPACITY;
	memory_out->free_bytes = free_bytes;
	pthread_mutex_unlock(&mutex);
	return GPUMEM_OK;
}

/* Sizes are multiples of the granularity, as aligned_alloc() wants them. */
static gpumem_status alloc_block(void *device, uint64_t bytes,
				 uint64_t *address_out)
{
	void *memory = NULL;

	(void)device;
	pthread_mutex_lock(&mutex);
	if (bytes <= free_bytes)
		memory = aligned_alloc(UNIT, bytes);
	if (memory)
		free_bytes -= bytes;
	pthread_mutex_unlock(&mutex);
	if (!memory) {
		core->error(0, "", "there are no %llu bytes left",
			    (unsigned long long)bytes);
		return GPUMEM_NO_MEMORY;
	}
	*address_out = (uint64_t)(uintptr_t)memory;
	return GPUMEM_OK;
}

static gpumem_status free_block(void *device, uint64_t address, uint64_t bytes)
{
	(void)device;
	free((void *)(uintptr_t)address);
	pthread_mutex_lock(&mutex);
	free_bytes += bytes;
	pthread_mutex_unlock(&mutex);
	return GPUMEM_OK;
}

static const struct gpumem_backend backend = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(backend),
	.name = "minimal",
	.init = init,
	.driver_version = driver_version,
	.device_count = device_count,
	.device_info = device_info,
	.device_open = device_open,
	.device_close = device_close,
	.memory_info = memory_info,
	.alloc = alloc_block,
	.free = free_block,
};

/* The one symbol that is seen, also with -fvisibility=hidden. */
GPUMEM_API const struct gpumem_backend *gpumem_plugin(void);

const struct gpumem_backend *gpumem_plugin(void)
{
	return &backend;
}
