/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The smallest complete plugin: required slots only, devices of ordinary
 * memory. It includes nothing but the installed headers and can be built
 * anywhere:
 *
 *	cc -shared -fPIC -o good.so good.c
 *
 * A mutex per device guards its account.
 */
#include <gpumem/backend.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define DEVICES_MAX 4
#define UNIT 4096

/* used_bytes <= total_bytes */
struct device {
	pthread_mutex_t mutex;
	uint64_t total_bytes, used_bytes;
};

static const struct gpumem_services *core;
static struct device devices[DEVICES_MAX];
static int count;

static const struct gpumem_option_row options[] = {
	{"good.devices", "1", GPUMEM_OPTION_COUNT,
	 "how many there are: 0 to 4"},
	{"good.capacity", "67108864", GPUMEM_OPTION_COUNT,
	 "bytes of memory of each"},
	{NULL, NULL, GPUMEM_OPTION_TEXT, NULL},
};

static uint64_t number(const char *key)
{
	char text[32] = "0";

	core->option(key, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

static gpumem_status init(const struct gpumem_services *services)
{
	uint64_t wanted, capacity;
	int i;

	core = services;
	wanted = number("good.devices");
	capacity = number("good.capacity") / UNIT * UNIT;
	if (wanted > DEVICES_MAX) {
		core->error(0, "", "good.devices is more than %d", DEVICES_MAX);
		return GPUMEM_INVALID;
	}
	count = (int)wanted;
	for (i = 0; i < count; i++) {
		pthread_mutex_init(&devices[i].mutex, NULL);
		devices[i].total_bytes = capacity;
	}
	return GPUMEM_OK;
}

static const char *driver_version(void)
{
	return "1.0";
}

static gpumem_status device_count(int *count_out)
{
	if (!count) {
		core->error(0, "", "good.devices is 0");
		return GPUMEM_NO_DEVICE;
	}
	*count_out = count;
	return GPUMEM_OK;
}

static gpumem_status device_info(int index, struct gpumem_device_info *info_out)
{
	snprintf(info_out->product, sizeof(info_out->product),
		 "Ordinary memory %d", index);
	info_out->total_bytes = devices[index].total_bytes;
	info_out->granularity_bytes = UNIT;
	info_out->alignment_bytes = UNIT;
	info_out->max_alloc_bytes = devices[index].total_bytes;
	info_out->caps = GPUMEM_CAP_HOST_ACCESS | GPUMEM_CAP_LATE_COMMIT;
	return GPUMEM_OK;
}

static gpumem_status device_open(int index, void **device_out)
{
	*device_out = &devices[index];
	return GPUMEM_OK;
}

static void device_close(void *device)
{
	(void)device;
}

static gpumem_status memory_info(void *device, struct gpumem_memory *memory_out)
{
	struct device *self = device;

	pthread_mutex_lock(&self->mutex);
	memory_out->total_bytes = self->total_bytes;
	memory_out->free_bytes = self->total_bytes - self->used_bytes;
	pthread_mutex_unlock(&self->mutex);
	return GPUMEM_OK;
}

/* Takes bytes from the account, or says that there are none. */
static bool take(struct device *self, uint64_t bytes)
{
	bool room;

	pthread_mutex_lock(&self->mutex);
	room = bytes <= self->total_bytes - self->used_bytes;
	if (room)
		self->used_bytes += bytes;
	pthread_mutex_unlock(&self->mutex);
	return room;
}

static void give(struct device *self, uint64_t bytes)
{
	pthread_mutex_lock(&self->mutex);
	self->used_bytes -= bytes;
	pthread_mutex_unlock(&self->mutex);
}

static gpumem_status device_alloc(void *device, uint64_t bytes,
				  uint64_t *address_out)
{
	void *memory;

	if (!take(device, bytes)) {
		core->error(1, "GOOD_NO_MEMORY", "no %llu bytes are left",
			    (unsigned long long)bytes);
		return GPUMEM_NO_MEMORY;
	}
	memory = aligned_alloc(UNIT, bytes);
	if (!memory) {
		give(device, bytes);
		core->error(2, "GOOD_NO_HOST_MEMORY", "the host has none left");
		return GPUMEM_NO_MEMORY;
	}
	*address_out = (uint64_t)(uintptr_t)memory;
	return GPUMEM_OK;
}

static gpumem_status device_free(void *device, uint64_t address, uint64_t bytes)
{
	free((void *)(uintptr_t)address);
	give(device, bytes);
	return GPUMEM_OK;
}

static const struct gpumem_backend backend = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_backend),
	.name = "good",
	.options = options,
	.init = init,
	.driver_version = driver_version,
	.device_count = device_count,
	.device_info = device_info,
	.device_open = device_open,
	.device_close = device_close,
	.memory_info = memory_info,
	.alloc = device_alloc,
	.free = device_free,
};

/* With hidden visibility this one is seen all the same. */
GPUMEM_API const struct gpumem_backend *gpumem_plugin(void);

const struct gpumem_backend *gpumem_plugin(void)
{
	return &backend;
}
