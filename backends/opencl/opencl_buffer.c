/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory without addresses: buffers. Each gets as many addresses of this
 * process as it has bytes, behind which there is nothing, so that no pointer
 * of the program is among them, and following one faults.
 *
 * Buffers of one device are made and freed one at a time, under a mutex: when
 * several threads do it at once and have them committed, NVIDIA's
 * implementation (driver 580) crashes or hangs in a thread of its own.
 */
#include "opencl_plugin.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* mmap has its own alignment; for more, there is more, and the rest goes. */
static gpumem_status reserve(uint64_t bytes, uint64_t alignment, void **out)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t more = alignment > page ? alignment : 0;
	uint64_t start, good;
	void *base = mmap(NULL, bytes + more, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return gm_opencl_fail(GPUMEM_NO_HOST_MEMORY, CL_SUCCESS,
				      "no addresses for %llu bytes: %s",
				      (unsigned long long)bytes,
				      strerror(errno));
	start = (uint64_t)(uintptr_t)base;
	good = (start + alignment - 1) & ~(alignment - 1);
	if (good > start)
		(void)munmap(base, good - start);
	if (start + more > good)
		(void)munmap((void *)(uintptr_t)(good + bytes),
			     start + more - good);
	*out = (void *)(uintptr_t)good;
	return GPUMEM_OK;
}

/*
 * Implementations take the memory at the first use, when nobody expects a
 * failure. To ask for a move of the buffer to the device, as it is, makes many
 * of them take it now. Only our own queue is waited for, which has nothing
 * else.
 */
static gpumem_status commit(struct opencl_device *device, cl_mem memory)
{
	cl_event event;
	cl_int result;

	if (device->unit->version < 12 || !gm_opencl.clEnqueueMigrateMemObjects)
		return GPUMEM_OK;
	pthread_mutex_lock(&device->enqueue);
	result = gm_opencl.clEnqueueMigrateMemObjects(
		device->commit, 1, &memory,
		CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, NULL, &event);
	pthread_mutex_unlock(&device->enqueue);
	if (result != CL_SUCCESS)
		goto out;
	result = gm_opencl.clWaitForEvents(1, &event);
	(void)gm_opencl.clReleaseEvent(event);
out:
	return gm_opencl_check_memory(result, "clEnqueueMigrateMemObjects");
}

static gpumem_status create(struct opencl_device *device,
			    struct opencl_block *block)
{
	cl_int result = CL_SUCCESS;
	gpumem_status status;

	block->memory =
		gm_opencl.clCreateBuffer(device->context, CL_MEM_READ_WRITE,
					 block->bytes, NULL, &result);
	status = gm_opencl_check_memory(result, "clCreateBuffer of %llu bytes",
					(unsigned long long)block->bytes);
	if (status != GPUMEM_OK)
		return status;
	status = commit(device, block->memory);
	if (status != GPUMEM_OK)
		(void)gm_opencl.clReleaseMemObject(block->memory);
	return status;
}

gpumem_status gm_opencl_buffer_make(struct opencl_device *device,
				    struct opencl_block *block)
{
	gpumem_status status;

	status = reserve(block->bytes, device->traits.alignment_bytes,
			 &block->base);
	if (status != GPUMEM_OK)
		return status;
	block->address = (uint64_t)(uintptr_t)block->base;
	pthread_mutex_lock(&device->buffers);
	status = create(device, block);
	pthread_mutex_unlock(&device->buffers);
	if (status != GPUMEM_OK)
		(void)munmap(block->base, block->bytes);
	return status;
}

gpumem_status gm_opencl_buffer_end(struct opencl_device *device,
				   const struct opencl_block *block)
{
	gpumem_status status;

	pthread_mutex_lock(&device->buffers);
	status = gm_opencl_check(gm_opencl.clReleaseMemObject(block->memory),
				 "clReleaseMemObject");
	pthread_mutex_unlock(&device->buffers);
	if (status == GPUMEM_OK)
		(void)munmap(block->base, block->bytes);
	return status;
}
