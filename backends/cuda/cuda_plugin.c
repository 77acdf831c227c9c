/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The table, and the one function that is exported. */
#include "plugin.h"

static const struct gpumem_backend backend = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_backend),
	.name = "cuda",
	.options = gm_cuda_options,
	.init = gm_cuda_init,
	.driver_version = gm_cuda_driver_version,
	.device_count = gm_cuda_device_count,
	.device_info = gm_cuda_device_info,
	.device_open = gm_cuda_device_open,
	.device_close = gm_cuda_device_close,
	.memory_info = gm_cuda_memory_info,
	.alloc = gm_cuda_alloc,
	.free = gm_cuda_free,
	.stream_create = gm_cuda_stream_create,
	.stream_destroy = gm_cuda_stream_destroy,
	.stream_sync = gm_cuda_stream_sync,
	.stream_query = gm_cuda_stream_query,
	.stream_wait = gm_cuda_stream_wait,
	.event_create = gm_cuda_event_create,
	.event_destroy = gm_cuda_event_destroy,
	.event_record = gm_cuda_event_record,
	.event_query = gm_cuda_event_query,
	.event_sync = gm_cuda_event_sync,
	.va_reserve = gm_cuda_va_reserve,
	.va_release = gm_cuda_va_release,
	.page_create = gm_cuda_page_create,
	.page_destroy = gm_cuda_page_destroy,
	.map = gm_cuda_map,
	.unmap = gm_cuda_unmap,
	.fill = gm_cuda_fill,
	.copy = gm_cuda_copy,
	.capture_id = gm_cuda_capture_id,
	.kind_alloc = gm_cuda_kind_alloc,
	.kind_free = gm_cuda_kind_free,
	.peer_query = gm_cuda_peer_query,
	.peer_enable = gm_cuda_peer_enable,
	.map_peers = gm_cuda_map_peers,
	.device_processes = gm_cuda_device_processes,
	.ipc_export = gm_cuda_ipc_export,
	.ipc_open = gm_cuda_ipc_open,
	.ipc_close = gm_cuda_ipc_close,
	.page_create_shared = gm_cuda_page_create_shared,
	.page_export = gm_cuda_page_export,
	.page_import = gm_cuda_page_import,
};

/* With hidden visibility this one is seen all the same. */
GPUMEM_API const struct gpumem_backend *gpumem_plugin(void);

const struct gpumem_backend *gpumem_plugin(void)
{
	return &backend;
}
