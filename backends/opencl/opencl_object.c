/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group OBJECTS: blocks and parts of them as memory objects. What is a buffer
 * is one already. Memory with addresses is made one over its addresses, when it
 * is first asked for, under a mutex for that alone, and kept with the block.
 */
#include "opencl_plugin.h"

#include <pthread.h>

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

/* Under the mutex. */
static gpumem_status make_object(const struct opencl_device *device,
				 struct opencl_block *block)
{
	cl_int result = CL_SUCCESS;
	gpumem_status status;
	cl_mem memory;

	/* Another thread may have been first. */
	status = gm_opencl_block(device, block->address, block->bytes, block);
	if (status != GPUMEM_OK || block->memory)
		return status;
	memory = gm_opencl.clCreateBuffer(
		device->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
		block->bytes, (void *)(uintptr_t)block->address, &result);
	if (result != CL_SUCCESS)
		return gm_opencl_fail(GPUMEM_UNSUPPORTED, result,
				      "the implementation makes no object of "
				      "memory with addresses: option "
				      "opencl.memory:buffer has objects");
	gm_opencl_table_set_memory(block->address, memory);
	block->memory = memory;
	return GPUMEM_OK;
}

/* The block that has all of it, as an object. USM of the device cannot be: the
 * host does not see it. */
static gpumem_status find(const struct opencl_device *device, uint64_t address,
			  uint64_t bytes, struct opencl_block *block)
{
	gpumem_status status;

	status = gm_opencl_block(device, address, bytes, block);
	if (status != GPUMEM_OK || block->memory)
		return status;
	if (device->traits.memory == OPENCL_USM)
		return gm_opencl_fail(GPUMEM_UNSUPPORTED, CL_SUCCESS,
				      "unified shared memory has no objects: "
				      "use its addresses, or option "
				      "opencl.memory:buffer");
	pthread_mutex_lock(&making);
	status = make_object(device, block);
	pthread_mutex_unlock(&making);
	return status;
}

gpumem_status gm_opencl_object_of(void *device, uint64_t address,
				  void **object_out, uint64_t *offset_out)
{
	struct opencl_block block;
	gpumem_status status = find(device, address, 1, &block);

	if (status != GPUMEM_OK)
		return status;
	*object_out = block.memory;
	*offset_out = address - block.address;
	return GPUMEM_OK;
}

/* Some implementations take any offset, and work with another one. */
gpumem_status gm_opencl_view_create(void *handle, uint64_t address,
				    uint64_t bytes, void **view_out)
{
	const struct opencl_device *device = handle;
	uint64_t alignment = device->traits.alignment_bytes;
	struct opencl_block block;
	cl_buffer_region region;
	cl_int result = CL_SUCCESS;
	gpumem_status status;
	cl_mem view;

	status = find(device, address, bytes, &block);
	if (status != GPUMEM_OK)
		return status;
	region.origin = address - block.address;
	region.size = bytes;
	if (region.origin % alignment)
		return gm_opencl_fail(GPUMEM_INVALID, CL_SUCCESS,
				      "a view has to begin at a multiple of "
				      "%llu bytes",
				      (unsigned long long)alignment);
	view = gm_opencl.clCreateSubBuffer(block.memory, CL_MEM_READ_WRITE,
					   CL_BUFFER_CREATE_TYPE_REGION,
					   &region, &result);
	if (result != CL_SUCCESS)
		return gm_opencl_check(result, "clCreateSubBuffer");
	*view_out = view;
	return GPUMEM_OK;
}

/* Work that is queued with the view may count as a reference of its own, so
 * its end has to be known before. */
gpumem_status gm_opencl_view_destroy(void *device, void *view)
{
	cl_uint references = 0;
	gpumem_status status;

	(void)device;
	status = gm_opencl_check(gm_opencl.clGetMemObjectInfo(
					 view, CL_MEM_REFERENCE_COUNT,
					 sizeof(references), &references, NULL),
				 "clGetMemObjectInfo");
	if (status != GPUMEM_OK)
		return status;
	if (references > 1)
		return GPUMEM_BUSY;
	return gm_opencl_check(gm_opencl.clReleaseMemObject(view),
			       "clReleaseMemObject");
}
