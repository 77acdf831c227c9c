/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Devices opened and closed: a context with that device alone, or the
 * program's, and two queues of our own. The default stream is one of them. The
 * other one has only what alloc queues to have memory at once, so that waiting
 * for that is not waiting for the program's work. No locks.
 */
#include "opencl_plugin.h"

#include <stdlib.h>
#include <string.h>

static gpumem_status find(cl_platform_id platform, const char *name,
			  void *function_out)
{
	void *address = gm_opencl.clGetExtensionFunctionAddressForPlatform(
		platform, name);

	if (!address)
		return gm_opencl_fail(GPUMEM_UNSUPPORTED, CL_SUCCESS,
				      "the platform has no function %s, "
				      "although its device says so: see option "
				      "opencl.memory",
				      name);
	memcpy(function_out, &address, sizeof(address));
	return GPUMEM_OK;
}

static gpumem_status find_usm(struct opencl_device *device)
{
	cl_platform_id platform = device->unit->platform;
	gpumem_status status;

	if (device->traits.memory != OPENCL_USM)
		return GPUMEM_OK;
	status = find(platform, "clDeviceMemAllocINTEL", &device->usm_alloc);
	if (status == GPUMEM_OK)
		status = find(platform, "clMemFreeINTEL", &device->usm_free);
	if (status == GPUMEM_OK)
		status = find(platform, "clEnqueueMemFillINTEL",
			      &device->usm_fill);
	if (status == GPUMEM_OK)
		status = find(platform, "clEnqueueMemcpyINTEL",
			      &device->usm_copy);
	return status;
}

static gpumem_status make_queue(const struct opencl_device *device,
				cl_command_queue *queue_out)
{
	cl_int result = CL_SUCCESS;

	*queue_out = gm_opencl.clCreateCommandQueue(
		device->context, device->unit->id, 0, &result);
	return gm_opencl_check(result, "clCreateCommandQueue");
}

static gpumem_status hold_context(struct opencl_device *device,
				  cl_context context)
{
	cl_context_properties properties[] = {
		CL_CONTEXT_PLATFORM,
		(cl_context_properties)device->unit->platform, 0};
	cl_int result = CL_SUCCESS;

	if (context) {
		device->context = context;
		return gm_opencl_check(gm_opencl.clRetainContext(context),
				       "clRetainContext");
	}
	device->context = gm_opencl.clCreateContext(
		properties, 1, &device->unit->id, NULL, NULL, &result);
	return gm_opencl_check(result, "clCreateContext");
}

static gpumem_status begin(struct opencl_device *device, cl_context context)
{
	gpumem_status status = hold_context(device, context);

	if (status != GPUMEM_OK)
		return status;
	status = make_queue(device, &device->queue);
	if (status != GPUMEM_OK)
		goto release_context;
	status = make_queue(device, &device->commit);
	if (status != GPUMEM_OK)
		goto release_queue;
	return GPUMEM_OK;

release_queue:
	(void)gm_opencl.clReleaseCommandQueue(device->queue);
release_context:
	(void)gm_opencl.clReleaseContext(device->context);
	return status;
}

gpumem_status gm_opencl_device_open(int index, void **device_out)
{
	struct opencl_device *device = calloc(1, sizeof(*device));
	struct opencl_place place;
	gpumem_status status;

	if (!device)
		return gm_opencl_fail(GPUMEM_NO_HOST_MEMORY, CL_SUCCESS,
				      "no host memory for a device");
	status = gm_opencl_place(index, &place);
	if (status != GPUMEM_OK)
		goto free_device;
	device->unit = place.unit;
	status = gm_opencl_read_traits(place.unit, &device->traits);
	if (status == GPUMEM_OK)
		status = find_usm(device);
	if (status == GPUMEM_OK)
		status = begin(device, place.context);
	if (status != GPUMEM_OK)
		goto free_device;
	pthread_mutex_init(&device->enqueue, NULL);
	pthread_mutex_init(&device->buffers, NULL);
	*device_out = device;
	return GPUMEM_OK;

free_device:
	free(device);
	return status;
}

/* There is nobody to tell what fails. */
void gm_opencl_device_close(void *handle)
{
	struct opencl_device *device = handle;

	gm_opencl_free_all(device);
	(void)gm_opencl.clReleaseCommandQueue(device->commit);
	(void)gm_opencl.clReleaseCommandQueue(device->queue);
	(void)gm_opencl.clReleaseContext(device->context);
	pthread_mutex_destroy(&device->buffers);
	pthread_mutex_destroy(&device->enqueue);
	free(device);
}

gpumem_status gm_opencl_device_native(void *handle, void **context_out,
				      void **native_device_out)
{
	const struct opencl_device *device = handle;

	*context_out = device->context;
	*native_device_out = device->unit->id;
	return GPUMEM_OK;
}
