/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The types of OpenCL that gpumem uses: see cl.h.
 */
#ifndef GPUMEM_VENDOR_OPENCL_CL_PLATFORM_H
#define GPUMEM_VENDOR_OPENCL_CL_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

/* Here functions are called in C's own way. */
#define CL_API_CALL
#define CL_CALLBACK

typedef uint8_t cl_uchar;
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;

typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_event *cl_event;

/* ---- What is asked, or asked for ---------------------------------------- */

typedef cl_uint cl_platform_info;
typedef cl_bitfield cl_device_type;
typedef cl_uint cl_device_info;
typedef intptr_t cl_device_partition_property;
typedef cl_bitfield cl_device_svm_capabilities;
typedef intptr_t cl_context_properties;
typedef cl_uint cl_context_info;
typedef cl_bitfield cl_command_queue_properties;
typedef cl_uint cl_command_queue_info;
typedef cl_uint cl_event_info;
typedef cl_bitfield cl_mem_flags;
typedef cl_bitfield cl_svm_mem_flags;
typedef cl_bitfield cl_mem_migration_flags;
typedef cl_bitfield cl_mem_properties;
typedef cl_uint cl_mem_info;
typedef cl_uint cl_buffer_create_type;
typedef intptr_t cl_pipe_properties;
typedef cl_uint cl_channel_order;
typedef cl_uint cl_channel_type;
typedef cl_uint cl_mem_object_type;

typedef struct _cl_buffer_region {
	size_t origin;
	size_t size;
} cl_buffer_region;

typedef struct _cl_image_format {
	cl_channel_order image_channel_order;
	cl_channel_type image_channel_data_type;
} cl_image_format;

typedef struct _cl_image_desc {
	cl_mem_object_type image_type;
	size_t image_width;
	size_t image_height;
	size_t image_depth;
	size_t image_array_size;
	size_t image_row_pitch;
	size_t image_slice_pitch;
	cl_uint num_mip_levels;
	cl_uint num_samples;
	union {
		cl_mem buffer;
		cl_mem mem_object;
	};
} cl_image_desc;

#endif
