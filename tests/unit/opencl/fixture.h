/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of the opencl backend share: the plugin as it was built, over
 * PoCL, which is two devices here, and the few OpenCL functions that a test
 * calls itself, declared here so that every test compiles without headers. They
 * skip where the plugin was not built or PoCL is not installed. For the main
 * thread, but for what the plugin says.
 */
#ifndef OPENCL_FIXTURE_H
#define OPENCL_FIXTURE_H

#include "../gpu/plugin.h"

#define OPENCL_USE GPU_USE
#define KIB UINT64_C(1024)
#define POCL_ICD "/etc/OpenCL/vendors/pocl.icd"

enum { QUEUE_IN_ORDER = 0, QUEUE_OUT_OF_ORDER = 1 };

#define CL_LIST(X)                                                             \
	X(int, clGetPlatformIDs, (unsigned room, void **out, unsigned *count)) \
	X(int, clGetDeviceIDs,                                                 \
	  (void *platform, uint64_t type, unsigned room, void **out,           \
	   unsigned *count))                                                   \
	X(void *, clCreateContext,                                             \
	  (const intptr_t *properties, unsigned count, void *const *devices,   \
	   void *notify, void *user, int *error))                              \
	X(int, clReleaseContext, (void *context))                              \
	X(void *, clCreateCommandQueue,                                        \
	  (void *context, void *device, uint64_t properties, int *error))      \
	X(int, clReleaseCommandQueue, (void *queue))                           \
	X(int, clFinish, (void *queue))                                        \
	X(int, clRetainMemObject, (void *memory))                              \
	X(int, clReleaseMemObject, (void *memory))                             \
	X(int, clEnqueueReadBuffer,                                            \
	  (void *queue, void *memory, unsigned blocking, size_t offset,        \
	   size_t bytes, void *to, unsigned count, void *const *events,        \
	   void **event))                                                      \
	X(int, clEnqueueWriteBuffer,                                           \
	  (void *queue, void *memory, unsigned blocking, size_t offset,        \
	   size_t bytes, const void *from, unsigned count,                     \
	   void *const *events, void **event))                                 \
	X(int, clEnqueueMarkerWithWaitList,                                    \
	  (void *queue, unsigned count, void *const *events, void **event))    \
	X(int, clEnqueueBarrierWithWaitList,                                   \
	  (void *queue, unsigned count, void *const *events, void **event))    \
	X(int, clFlush, (void *queue))                                         \
	X(void *, clCreateUserEvent, (void *context, int *error))              \
	X(int, clSetUserEventStatus, (void *event, int status))                \
	X(int, clReleaseEvent, (void *event))

static struct {
#define CL_POINTER(type, name, parameters) type(*name) parameters;
	CL_LIST(CL_POINTER)
#undef CL_POINTER
} cl;

static const char *memory_option = "auto", *capacity_option = "0";

static bool option(const char *key, char *value_out, size_t bytes)
{
	const char *value = "libOpenCL.so.1";

	if (strcmp(key, "opencl.memory") == 0)
		value = memory_option;
	else if (strcmp(key, "opencl.capacity") == 0)
		value = capacity_option;
	snprintf(value_out, bytes, "%s", value);
	return true;
}

static void find_functions(void)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		skip_all("no OpenCL loader is installed");
#define CL_FIND(type, name, parameters) find(library, #name, &cl.name);
	CL_LIST(CL_FIND)
#undef CL_FIND
}

static void opencl_start(void)
{
	if (access(POCL_ICD, F_OK))
		skip_all("PoCL is not installed");
	setenv("OCL_ICD_VENDORS", POCL_ICD, 1);
	setenv("POCL_DEVICES", "pthread pthread", 1);
	plugin_load("backends/.libs/opencl.so", "configured without opencl");
	find_functions();
	plugin_start();
}

OPENCL_USE uint64_t take(void *device, uint64_t bytes)
{
	uint64_t address = 0;

	if (gpu->alloc(device, bytes, &address) != GPUMEM_OK)
		bail("alloc: %s", said.text);
	return address;
}

OPENCL_USE uint64_t free_bytes(void *device)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);

	if (gpu->memory_info(device, &memory) != GPUMEM_OK)
		bail("memory_info: %s", said.text);
	return memory.free_bytes;
}

/* The platform's own devices, and a context of the program's. */
OPENCL_USE void *native_device(unsigned index)
{
	void *platform = NULL, *devices[2] = {NULL, NULL};
	unsigned count = 0;

	if (cl.clGetPlatformIDs(1, &platform, NULL) ||
	    cl.clGetDeviceIDs(platform, 0xFFFFFFFF, 2, devices, &count) ||
	    count < 2)
		bail("PoCL shows %u devices", count);
	return devices[index];
}

OPENCL_USE void *new_context(void *device)
{
	int error = -1;
	void *context =
		cl.clCreateContext(NULL, 1, &device, NULL, NULL, &error);

	if (error)
		bail("clCreateContext: %d", error);
	return context;
}

OPENCL_USE void *new_queue(void *context, void *device, uint64_t properties)
{
	int error = -1;
	void *queue =
		cl.clCreateCommandQueue(context, device, properties, &error);

	if (error)
		bail("clCreateCommandQueue: %d", error);
	return queue;
}

/* The sentence has this in it. */
OPENCL_USE void says(const char *part)
{
	if (!ok(strstr(said.text, part) != NULL, "and says \"%s\"", part))
		diag("%s", said.text);
}

#endif
