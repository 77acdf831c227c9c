/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The table, and the one function that is exported. */
#include "plugin.h"

static const struct gpumem_backend backend = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_backend),
	.name = "hip",
	.options = gm_hip_options,
	.init = gm_hip_init,
	.driver_version = gm_hip_driver_version,
	.device_count = gm_hip_device_count,
	.device_info = gm_hip_device_info,
	.device_open = gm_hip_device_open,
	.device_close = gm_hip_device_close,
	.memory_info = gm_hip_memory_info,
	.alloc = gm_hip_alloc,
	.free = gm_hip_free,
	.stream_create = gm_hip_stream_create,
	.stream_destroy = gm_hip_stream_destroy,
	.stream_sync = gm_hip_stream_sync,
	.stream_query = gm_hip_stream_query,
	.stream_wait = gm_hip_stream_wait,
	.event_create = gm_hip_event_create,
	.event_destroy = gm_hip_event_destroy,
	.event_record = gm_hip_event_record,
	.event_query = gm_hip_event_query,
	.event_sync = gm_hip_event_sync,
	.va_reserve = gm_hip_va_reserve,
	.va_release = gm_hip_va_release,
	.page_create = gm_hip_page_create,
	.page_destroy = gm_hip_page_destroy,
	.map = gm_hip_map,
	.unmap = gm_hip_unmap,
	.fill = gm_hip_fill,
	.copy = gm_hip_copy,
	.capture_id = gm_hip_capture_id,
	.kind_alloc = gm_hip_kind_alloc,
	.kind_free = gm_hip_kind_free,
	.peer_query = gm_hip_peer_query,
	.peer_enable = gm_hip_peer_enable,
	.map_peers = gm_hip_map_peers,
	.device_processes = gm_hip_device_processes,
	.ipc_export = gm_hip_ipc_export,
	.ipc_open = gm_hip_ipc_open,
	.ipc_close = gm_hip_ipc_close,
	.page_create_shared = gm_hip_page_create_shared,
	.page_export = gm_hip_page_export,
	.page_import = gm_hip_page_import,
};

/* With hidden visibility this one is seen all the same. */
GPUMEM_API const struct gpumem_backend *gpumem_plugin(void);

const struct gpumem_backend *gpumem_plugin(void)
{
	return &backend;
}
