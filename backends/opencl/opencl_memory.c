/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * alloc and free: the budget and the table around memory of either kind. No
 * locks; the table locks itself.
 */
#include "opencl_plugin.h"

static gpumem_status make(struct opencl_device *device,
			  struct opencl_block *block)
{
	return device->traits.memory == OPENCL_BUFFER
		       ? gm_opencl_buffer_make(device, block)
		       : gm_opencl_pointer_make(device, block);
}

static gpumem_status end(struct opencl_device *device,
			 const struct opencl_block *block)
{
	return device->traits.memory == OPENCL_BUFFER
		       ? gm_opencl_buffer_end(device, block)
		       : gm_opencl_pointer_end(block);
}

gpumem_status gm_opencl_alloc(void *handle, uint64_t bytes,
			      uint64_t *address_out)
{
	struct opencl_device *device = handle;
	struct opencl_block block = {.bytes = bytes, .device = device};
	gpumem_status status;

	if (bytes > device->traits.max_alloc_bytes)
		return gm_opencl_fail(
			GPUMEM_INVALID, CL_SUCCESS,
			"%llu bytes, where one allocation may have at most "
			"%llu",
			(unsigned long long)bytes,
			(unsigned long long)device->traits.max_alloc_bytes);
	status = gm_opencl_budget_take(device, bytes);
	if (status != GPUMEM_OK)
		return status;
	status = make(device, &block);
	if (status != GPUMEM_OK)
		goto give;
	status = gm_opencl_table_add(&block);
	if (status != GPUMEM_OK)
		goto end_block;
	*address_out = block.address;
	return GPUMEM_OK;

end_block:
	(void)end(device, &block);
give:
	gm_opencl_budget_give(device, bytes);
	return status;
}

/* Whatever the implementation says: the table must name no closed device. */
void gm_opencl_free_all(struct opencl_device *device)
{
	struct opencl_block block;

	while (gm_opencl_table_any(device, &block)) {
		gm_opencl_table_leave(block.address);
		(void)end(device, &block);
		gm_opencl_table_left(NULL);
		gm_opencl_budget_give(device, block.bytes);
	}
}

/* Out of the table first: once the implementation has it, another thread may
 * be given the same address. */
gpumem_status gm_opencl_free(void *handle, uint64_t address, uint64_t bytes)
{
	struct opencl_device *device = handle;
	struct opencl_block block;
	gpumem_status status;

	status = gm_opencl_block(device, address, bytes, &block);
	if (status != GPUMEM_OK)
		return status;
	if (block.address != address || block.bytes != bytes)
		return gm_opencl_fail(GPUMEM_INVALID, CL_SUCCESS,
				      "no allocation has just the %llu bytes "
				      "at 0x%llx",
				      (unsigned long long)bytes,
				      (unsigned long long)address);
	gm_opencl_table_leave(address);
	status = end(device, &block);
	gm_opencl_table_left(status == GPUMEM_OK ? NULL : &block);
	if (status == GPUMEM_OK)
		gm_opencl_budget_give(device, bytes);
	return status;
}
