/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory with addresses of the implementation's own: shared virtual memory
 * (SVM) or unified shared memory of the device (USM). No locks.
 *
 * More than the alignment of the largest type (128 bytes) need not be given,
 * and by some is refused; so none is asked for. Where a pointer comes with less
 * than was promised, the device gets a little more memory from then on, and
 * blocks begin at the first good address in it.
 */
#include "opencl_plugin.h"

static void *take(const struct opencl_device *device, uint64_t bytes,
		  cl_int *result)
{
	void *base;

	if (device->traits.memory == OPENCL_USM)
		return device->usm_alloc(device->context, device->unit->id,
					 NULL, bytes, 0, result);
	base = gm_opencl.clSVMAlloc(device->context, CL_MEM_READ_WRITE, bytes,
				    0);
	*result = base ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
	return base;
}

static cl_int give(const struct opencl_device *device, void *base)
{
	if (device->traits.memory == OPENCL_USM)
		return device->usm_free(device->context, base);
	gm_opencl.clSVMFree(device->context, base);
	return CL_SUCCESS;
}

static uint64_t first_good(const struct opencl_device *device, void *base)
{
	uint64_t alignment = device->traits.alignment_bytes;

	return ((uint64_t)(uintptr_t)base + alignment - 1) & ~(alignment - 1);
}

static gpumem_status take_checked(struct opencl_device *device, uint64_t bytes,
				  void **base_out)
{
	cl_int result = CL_SUCCESS;
	void *base = take(device, bytes, &result);

	if (result == CL_SUCCESS && !base)
		result = CL_MEM_OBJECT_ALLOCATION_FAILURE;
	if (result == CL_SUCCESS)
		*base_out = base;
	return gm_opencl_check_memory(result, "%s of %llu bytes",
				      device->traits.memory == OPENCL_USM
					      ? "clDeviceMemAllocINTEL"
					      : "clSVMAlloc",
				      (unsigned long long)bytes);
}

gpumem_status gm_opencl_pointer_make(struct opencl_device *device,
				     struct opencl_block *block)
{
	uint64_t more = device->traits.alignment_bytes;
	gpumem_status status;
	void *base;

	if (!atomic_load(&device->misaligned)) {
		status = take_checked(device, block->bytes, &base);
		if (status != GPUMEM_OK)
			return status;
		if (first_good(device, base) == (uint64_t)(uintptr_t)base)
			goto done;
		atomic_store(&device->misaligned, true);
		(void)give(device, base);
	}
	status = take_checked(device, block->bytes + more, &base);
	if (status != GPUMEM_OK)
		return status;
done:
	block->base = base;
	block->address = first_good(device, base);
	return GPUMEM_OK;
}

gpumem_status gm_opencl_pointer_end(const struct opencl_block *block)
{
	return gm_opencl_check(give(block->device, block->base),
			       "clMemFreeINTEL");
}
