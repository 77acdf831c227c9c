/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The table, and the one function that is exported. OpenCL has no pages, no
 * captures and no sharing that could be built upon. Kinds of memory are left
 * out since all devices of a backend could have to use them, and here each has
 * a context of its own.
 */
#include "opencl_plugin.h"

static const struct gpumem_backend backend = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_backend),
	.name = "opencl",
	.options = gm_opencl_options,
	.init = gm_opencl_init,
	.driver_version = gm_opencl_driver_version,
	.device_count = gm_opencl_device_count,
	.device_info = gm_opencl_device_info,
	.device_open = gm_opencl_device_open,
	.device_close = gm_opencl_device_close,
	.memory_info = gm_opencl_memory_info,
	.alloc = gm_opencl_alloc,
	.free = gm_opencl_free,
	.stream_create = gm_opencl_stream_create,
	.stream_destroy = gm_opencl_stream_destroy,
	.stream_sync = gm_opencl_stream_sync,
	.stream_query = gm_opencl_stream_query,
	.stream_wait = gm_opencl_stream_wait,
	.event_create = gm_opencl_event_create,
	.event_destroy = gm_opencl_event_destroy,
	.event_record = gm_opencl_event_record,
	.event_query = gm_opencl_event_query,
	.event_sync = gm_opencl_event_sync,
	.fill = gm_opencl_fill,
	.copy = gm_opencl_copy,
	.object_of = gm_opencl_object_of,
	.view_create = gm_opencl_view_create,
	.view_destroy = gm_opencl_view_destroy,
	.device_adopt = gm_opencl_device_adopt,
};

/* With hidden visibility this one is seen all the same. */
GPUMEM_API const struct gpumem_backend *gpumem_plugin(void);

const struct gpumem_backend *gpumem_plugin(void)
{
	return &backend;
}
