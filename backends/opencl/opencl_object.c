/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group OBJECTS: blocks and parts of them as memory objects. What is a buffer
 * is one already; memory with addresses has none. No locks.
 */
#include "opencl_plugin.h"

static gpumem_status find(const struct opencl_device *device, uint64_t address,
			  uint64_t bytes, struct opencl_block *block)
{
	gpumem_status status;

	status = gm_opencl_block(device, address, bytes, block);
	if (status != GPUMEM_OK || block->memory)
		return status;
	return gm_opencl_fail(GPUMEM_UNSUPPORTED, CL_SUCCESS,
			      "memory with addresses has no objects: option "
			      "opencl.memory:buffer has");
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
	/* On a lost device it is the view's end all the same. */
	if (status != GPUMEM_OK && status != GPUMEM_LOST)
		return status;
	if (references > 1)
		return GPUMEM_BUSY;
	return gm_opencl_check(gm_opencl.clReleaseMemObject(view),
			       "clReleaseMemObject");
}
