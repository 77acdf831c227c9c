/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The whole library over PoCL with the layer of tests/fake in between, and a
 * context and queues of the program's own, in order and out of order. The few
 * functions that a test calls itself are declared here, so that it compiles
 * without OpenCL headers; it skips where the plugin was not built, or PoCL is
 * not installed. For the main thread.
 */
#ifndef OPENCL_LAYERED_H
#define OPENCL_LAYERED_H

#include "../../fake/opencl/fakecl.h"
#include "../lib/fixture.h"
#include <dlfcn.h>
#include <stdlib.h>

enum { QUEUES = 2, OUT_OF_ORDER = 1 };
enum { OUT_OF_RESOURCES = -5, OUT_OF_HOST_MEMORY = -6 };

#define CL_LIST(X)                                                             \
	X(int, clGetPlatformIDs, (unsigned room, void **out, unsigned *count)) \
	X(int, clGetDeviceIDs,                                                 \
	  (void *platform, uint64_t type, unsigned room, void **out,           \
	   unsigned *count))                                                   \
	X(void *, clCreateContext,                                             \
	  (const intptr_t *properties, unsigned count, void *const *devices,   \
	   void *notify, void *user, int *error))                              \
	X(void *, clCreateCommandQueue,                                        \
	  (void *context, void *device, uint64_t properties, int *error))

#define LAYER_LIST(X)                                                          \
	X(fakecl_audit)                                                        \
	X(fakecl_be_honest)                                                    \
	X(fakecl_calls)                                                        \
	X(fakecl_fault)                                                        \
	X(fakecl_heal)                                                         \
	X(fakecl_lie)                                                          \
	X(fakecl_meanwhile)                                                    \
	X(fakecl_moves)                                                        \
	X(fakecl_pretend)                                                      \
	X(fakecl_trail)

static struct {
#define POINTER(type, name, parameters) type(*name) parameters;
	CL_LIST(POINTER)
#define LAYER_POINTER(name) __typeof__(name) *name;
	LAYER_LIST(LAYER_POINTER)
} cl;

static void *context, *native, *queue[QUEUES];

static void set_environment(void)
{
	static const char icd[] = "/etc/OpenCL/vendors/pocl.icd";
	const char *folder = getenv("top_builddir");
	char plugins[4096], layer[4096];

	folder = folder ? folder : ".";
	snprintf(plugins, sizeof(plugins), "%s/backends/.libs", folder);
	snprintf(layer, sizeof(layer),
		 "%s/tests/fake/opencl/.libs/opencl-layer.so", folder);
	if (access(layer, F_OK))
		skip_all("configured without opencl");
	if (access(icd, F_OK))
		skip_all("PoCL is not installed");
	setenv("OCL_ICD_VENDORS", icd, 1);
	setenv("POCL_DEVICES", "basic", 1);
	setenv("POCL_MEMORY_LIMIT", "1", 1);
	setenv("OPENCL_LAYERS", layer, 1);
	setenv("GPUMEM_PLUGIN_PATH", plugins, 1);
}

static void find_functions(void)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	void *layer = dlopen(getenv("OPENCL_LAYERS"), RTLD_NOW | RTLD_LOCAL);
	void *address;

	if (!library)
		skip_all("no OpenCL loader is installed");
	if (!layer)
		bail("%s", dlerror());
#define FIND_IN(where, name)                                                   \
	address = dlsym(where, #name);                                         \
	if (!address)                                                          \
		bail("there is no %s", #name);                                 \
	memcpy(&cl.name, &address, sizeof(address));
#define FIND_CL(type, name, parameters) FIND_IN(library, name)
#define FIND_LAYER(name) FIND_IN(layer, name)
	CL_LIST(FIND_CL)
	LAYER_LIST(FIND_LAYER)
}

static void open_native(void)
{
	void *platform = NULL;
	int error = 0;

	if (cl.clGetPlatformIDs(1, &platform, NULL) ||
	    cl.clGetDeviceIDs(platform, 0xFFFFFFFF, 1, &native, NULL))
		bail("PoCL has no device");
	if (!cl.fakecl_calls("clGetPlatformIDs"))
		skip_all("the OpenCL loader knows no layers");
	context = cl.clCreateContext(NULL, 1, &native, NULL, NULL, &error);
	for (int i = 0; i < QUEUES && !error; i++)
		queue[i] = cl.clCreateCommandQueue(
			context, native, i ? OUT_OF_ORDER : 0, &error);
	if (error)
		bail("OpenCL says %d", error);
}

/* From now on the function answers the question so. */
LIB_USE void lie(const char *name, unsigned what, const void *value,
		 size_t bytes)
{
	if (!cl.fakecl_lie(name, what, value, bytes))
		bail("the layer has no answer for %s", name);
}

/* Of the device, numbers. */
LIB_USE void lie_u32(unsigned what, uint32_t value)
{
	lie("clGetDeviceInfo", what, &value, sizeof(value));
}

LIB_USE void lie_u64(unsigned what, uint64_t value)
{
	lie("clGetDeviceInfo", what, &value, sizeof(value));
}

LIB_USE void lie_text(unsigned what, const char *value)
{
	lie("clGetDeviceInfo", what, value, strlen(value) + 1);
}

/* References that are held and were not before, or the other way round. */
LIB_USE int64_t left(const struct fakecl_held *before)
{
	struct fakecl_held after;

	cl.fakecl_audit(&after);
	return llabs(after.contexts - before->contexts) +
	       llabs(after.queues - before->queues) +
	       llabs(after.memory - before->memory) +
	       llabs(after.svm - before->svm) +
	       llabs(after.events - before->events);
}

LIB_USE void layered_start(void)
{
	set_environment();
	find_functions();
	open_native();
}

#endif
