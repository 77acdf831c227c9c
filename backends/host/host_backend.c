/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Devices: counted, described, opened, closed; and the table. Like a driver's
 * primary context, a device that is opened again while it is open is the same
 * one. One mutex guards the registry of open devices.
 */
#include "host_device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

/* The workers of the streams live in this process alone. */
static pid_t owner;

bool gm_host_forked(void)
{
	return owner && owner != getpid();
}

static gpumem_status init(const struct gpumem_services *services)
{
	struct host_config config;
	gpumem_status status;

	owner = getpid();
	gm_host_services_set(services);
	status = gm_host_config_read(&config);
	if (status == GPUMEM_OK)
		status = gm_host_fault_option(config.fail);
	if (status == GPUMEM_OK)
		status = gm_host_enter(NULL, HOST_SLOT_init);
	return status;
}

static const char *driver_version(void)
{
	return "host simulator 1";
}

static gpumem_status device_count(int *count_out)
{
	struct host_config config;
	gpumem_status status = gm_host_enter(NULL, HOST_SLOT_device_count);

	if (status == GPUMEM_OK)
		status = gm_host_config_read(&config);
	if (status != GPUMEM_OK)
		return status;
	if (!config.devices)
		return gm_host_fail(GPUMEM_NO_DEVICE,
				    "option host.devices is 0");
	*count_out = config.devices;
	return GPUMEM_OK;
}

/* The options, if they give a device of that number. */
static gpumem_status read_config(int index, struct host_config *config)
{
	gpumem_status status = gm_host_config_read(config);

	if (status != GPUMEM_OK)
		return status;
	if (index < 0 ||
	    (index >= config->devices && !gm_host_is_adopted(index)))
		return gm_host_fail(GPUMEM_NO_DEVICE,
				    "device %d of %d, as option host.devices "
				    "has it",
				    index, config->devices);
	return GPUMEM_OK;
}

static gpumem_status device_info(int index, struct gpumem_device_info *info)
{
	struct host_config config;
	gpumem_status status = gm_host_enter(NULL, HOST_SLOT_device_info);

	if (status == GPUMEM_OK)
		status = read_config(index, &config);
	if (status != GPUMEM_OK)
		return status;
	snprintf(info->product, sizeof(info->product), "gpumem simulated GPU");
	snprintf(info->uuid, sizeof(info->uuid),
		 "67707573-696d-4000-8000-%012x", (unsigned)index);
	info->total_bytes = config.capacity;
	info->granularity_bytes = config.granularity;
	info->alignment_bytes = config.alignment;
	info->max_alloc_bytes = config.max_alloc;
	info->caps = config.caps;
	return GPUMEM_OK;
}

static void release_memory(struct host_device *device)
{
	gm_host_views_clear(device);
	gm_host_range_clear(&device->raws);
	gm_host_range_clear(&device->spaces);
	gm_host_range_clear(&device->kinds);
	gm_host_range_clear(&device->opened);
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
		return gm_host_fail(GPUMEM_LOST,
				    "the simulated device is lost");
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

static gpumem_status device_open(int index, void **device_out)
{
	struct host_config config;
	struct host_device *device = NULL;
	gpumem_status status = read_config(index, &config);

	if (status == GPUMEM_OK)
		status = gm_host_fault_option(config.fail);
	if (status == GPUMEM_OK)
		status = gm_host_enter(NULL, HOST_SLOT_device_open);
	if (status != GPUMEM_OK)
		return status;
	gm_host_sleep(config.latency_ns[HOST_SLOT_device_open]);
	pthread_mutex_lock(&registry);
	status = open_locked(index, &config, &device);
	pthread_mutex_unlock(&registry);
	if (status == GPUMEM_OK)
		*device_out = device;
	return status;
}

static void device_close(void *handle)
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

const struct gpumem_backend gm_host_backend = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_backend),
	.name = "host",
	.options = gm_host_options,
	.init = init,
	.driver_version = driver_version,
	.device_count = device_count,
	.device_info = device_info,
	.device_open = device_open,
	.device_close = device_close,
	.memory_info = gm_host_memory_info,
	.alloc = gm_host_alloc,
	.free = gm_host_free,
	.stream_create = gm_host_stream_create,
	.stream_destroy = gm_host_stream_destroy,
	.stream_sync = gm_host_stream_sync,
	.stream_query = gm_host_stream_query,
	.stream_wait = gm_host_stream_wait,
	.event_create = gm_host_event_create,
	.event_destroy = gm_host_event_destroy,
	.event_record = gm_host_event_record,
	.event_query = gm_host_event_query,
	.event_sync = gm_host_event_sync,
	.va_reserve = gm_host_va_reserve,
	.va_release = gm_host_va_release,
	.page_create = gm_host_page_create,
	.page_destroy = gm_host_page_destroy,
	.map = gm_host_map,
	.unmap = gm_host_unmap,
	.fill = gm_host_fill,
	.copy = gm_host_copy,
	.capture_id = gm_host_capture_id,
	.kind_alloc = gm_host_kind_alloc,
	.kind_free = gm_host_kind_free,
	.peer_query = gm_host_peer_query,
	.peer_enable = gm_host_peer_enable,
	.map_peers = gm_host_map_peers,
	.device_processes = gm_host_device_processes,
	.ipc_export = gm_host_ipc_export,
	.ipc_open = gm_host_ipc_open,
	.ipc_close = gm_host_ipc_close,
	.page_create_shared = gm_host_page_create_shared,
	.page_export = gm_host_page_export,
	.page_import = gm_host_page_import,
	.object_of = gm_host_object_of,
	.view_create = gm_host_view_create,
	.view_destroy = gm_host_view_destroy,
	.device_adopt = gm_host_device_adopt,
};
