/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The backend itself: started, its devices counted and described; and the
 * table. Nobody locks.
 */
#include "host_device.h"

#include <stdio.h>
#include <unistd.h>

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

gpumem_status gm_host_config_of(int index, struct host_config *config)
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
		status = gm_host_config_of(index, &config);
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

const struct gpumem_backend gm_host_backend = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_backend),
	.name = "host",
	.options = gm_host_options,
	.init = init,
	.driver_version = driver_version,
	.device_count = device_count,
	.device_info = device_info,
	.device_open = gm_host_device_open,
	.device_close = gm_host_device_close,
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
