/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Open devices: made, found by their number, and taken down. Like a driver's
 * primary context, a device that is opened again while it is open is the same
 * one. One mutex guards the registry of open devices.
 */
#include "host_device.h"

#include <errno.h>
#include <stdlib.h>

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static struct host_device *open_devices[HOST_DEVICES_MAX];
static _Atomic uint64_t outside[HOST_DEVICES_MAX];

struct host_device *gm_host_device_find(int index)
{
	struct host_device *device = NULL;

	pthread_mutex_lock(&registry);
	if (index >= 0 && index < HOST_DEVICES_MAX)
		device = open_devices[index];
	if (!device)
		pthread_mutex_unlock(&registry);
	return device;
}

void gm_host_device_leave(void)
{
	pthread_mutex_unlock(&registry);
}

void gm_host_devices_lock(void)
{
	pthread_mutex_lock(&registry);
}

struct host_device *gm_host_device_at(int index)
{
	return open_devices[index];
}

uint64_t gm_host_outside_bytes(int index)
{
	return atomic_load_explicit(&outside[index], memory_order_relaxed);
}

void gm_host_outside_set(int index, uint64_t bytes)
{
	atomic_store(&outside[index], bytes);
}

static void release_memory(struct host_device *device)
{
	gm_host_views_clear(device);
	gm_host_range_clear(&device->raws);
	gm_host_range_clear(&device->spaces);
	gm_host_range_clear(&device->kinds);
	gm_host_range_clear(&device->opened);
	gm_host_pins_clear(device);
	gm_host_phys_free(&device->phys);
	pthread_mutex_destroy(&device->memory);
}

/* A context, with its default stream. */
static gpumem_status make(int index, const struct host_config *config,
			  struct host_device **device_out)
{
	struct host_device *device = calloc(1, sizeof(*device));
	gpumem_status status;

	if (!device)
		return gm_host_fail_system(ENOMEM, "memory for a device");
	device->index = index;
	device->config = *config;
	device->opens = 1;
	pthread_mutex_init(&device->memory, NULL);
	status = gm_host_phys_init(&device->phys);
	if (status != GPUMEM_OK)
		goto free_device;
	gm_host_table_init(&device->streams, sizeof(struct host_stream),
			   HOST_KIND_STREAM, index);
	gm_host_table_init(&device->events, gm_host_event_bytes,
			   HOST_KIND_EVENT, index);
	status = gm_host_stream_open(device, &device->default_stream);
	if (status != GPUMEM_OK)
		goto free_tables;
	*device_out = device;
	return GPUMEM_OK;

free_tables:
	gm_host_table_free(&device->events);
	gm_host_table_free(&device->streams);
	gm_host_phys_free(&device->phys);
free_device:
	pthread_mutex_destroy(&device->memory);
	free(device);
	return status;
}

/* Waits for all work, then nothing of the device is left. */
static void unmake(struct host_device *device)
{
	for (uint32_t i = 0; i < device->streams.made; i++) {
		struct host_stream *stream =
			gm_host_table_at(&device->streams, i);
		uint64_t handle = atomic_load(&stream->object.handle);

		if (handle && gm_host_table_retract(stream, handle))
			gm_host_stream_close(stream);
	}
	gm_host_stream_free_all(&device->streams);
	gm_host_table_free(&device->streams);
	gm_host_table_free(&device->events);
	release_memory(device);
	free(device);
}

static gpumem_status open_locked(int index, const struct host_config *config,
				 struct host_device **device_out)
{
	struct host_device *device = open_devices[index];
	gpumem_status status;

	if (device && atomic_load(&device->lost))
		return gm_host_fail_lost(device);
	if (device) {
		device->opens++;
		*device_out = device;
		return GPUMEM_OK;
	}
	status = make(index, config, &device);
	if (status != GPUMEM_OK)
		return status;
	open_devices[index] = device;
	*device_out = device;
	return GPUMEM_OK;
}

gpumem_status gm_host_device_open(int index, void **device_out)
{
	struct host_config config;
	struct host_device *device = NULL;
	gpumem_status status = gm_host_config_of(index, &config);

	if (status == GPUMEM_OK)
		status = gm_host_fault_option(config.fail);
	if (status == GPUMEM_OK)
		status = gm_host_enter(NULL, GPUMEM_SLOT_device_open);
	if (status != GPUMEM_OK)
		return status;
	gm_host_sleep(config.latency_ns[GPUMEM_SLOT_device_open]);
	pthread_mutex_lock(&registry);
	status = open_locked(index, &config, &device);
	pthread_mutex_unlock(&registry);
	if (status == GPUMEM_OK)
		*device_out = device;
	return status;
}

void gm_host_device_close(void *handle)
{
	struct host_device *device = handle;
	bool last;

	pthread_mutex_lock(&registry);
	last = --device->opens == 0;
	if (last)
		open_devices[device->index] = NULL;
	pthread_mutex_unlock(&registry);
	if (last)
		unmake(device);
}
