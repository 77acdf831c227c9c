/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A program that uses unified shared memory, over the implementation that
 * opencl_below.c is: 16 MiB of each kind and a buffer, in each way in which the
 * functions can be had. Its argument is the case.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define TRUE(condition)                                                        \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,     \
				#condition);                                   \
			return 1;                                              \
		}                                                              \
	} while (0)

typedef void *host_fn(cl_context, const cl_bitfield *, size_t, cl_uint,
		      cl_int *);
typedef void *device_fn(cl_context, cl_device_id, const cl_bitfield *, size_t,
			cl_uint, cl_int *);
typedef cl_int free_fn(cl_context, void *);

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static host_fn *host;
static device_fn *on_device, *shared;
static free_fn *release, *release_blocking;

static void *function(const char *name, int of_platform)
{
	return of_platform ? clGetExtensionFunctionAddressForPlatform(platform,
								      name)
			   : clGetExtensionFunctionAddress(name);
}

static void find_all(int of_platform)
{
	*(void **)&host = function("clHostMemAllocINTEL", of_platform);
	*(void **)&on_device = function("clDeviceMemAllocINTEL", of_platform);
	*(void **)&shared = function("clSharedMemAllocINTEL", of_platform);
	*(void **)&release = function("clMemFreeINTEL", of_platform);
	*(void **)&release_blocking =
		function("clMemBlockingFreeINTEL", of_platform);
}

/* At the peak 48 MiB and a buffer of 16; what is freed twice is told so. */
static int counted(void)
{
	cl_int code = 1;
	void *a = host(context, NULL, 16 * MIB, 0, NULL), *b, *c;
	cl_mem buffer;

	b = on_device(context, device, NULL, 16 * MIB, 0, &code);
	TRUE(a && b && !code);
	c = shared(context, NULL, NULL, 16 * MIB, 0, &code);
	TRUE(c && !code);
	buffer = clCreateBuffer(context, 0, 16 * MIB, NULL, &code);
	TRUE(buffer && !code);
	memset(b, 1, 16 * MIB);
	TRUE(!release(context, a) && !release_blocking(context, b));
	TRUE(release(context, b) == CL_INVALID_VALUE);
	TRUE(!release(context, NULL));
	TRUE(!release(context, c) && !clReleaseMemObject(buffer));
	return 0;
}

/* Under a limit of 32 MiB. */
static int limited(void)
{
	cl_int code = 0;
	void *a = on_device(context, device, NULL, 20 * MIB, 0, &code), *b;

	TRUE(a && !code);
	TRUE(!shared(context, device, NULL, 13 * MIB, 0, &code));
	TRUE(code == CL_OUT_OF_RESOURCES);
	TRUE(!host(context, NULL, 13 * MIB, 0, NULL));
	TRUE(!clSVMAlloc(context, CL_MEM_READ_WRITE, 13 * MIB, 0));
	TRUE(!clCreateBuffer(context, 0, 13 * MIB, NULL, &code));
	b = host(context, NULL, 12 * MIB, 0, &code);
	TRUE(b && !code && !release(context, a));
	a = shared(context, NULL, NULL, 20 * MIB, 0, &code);
	TRUE(a && !code);
	TRUE(!release(context, a) && !release(context, b));
	return 0;
}

/* One that is not followed. */
static int other(void)
{
	return !function("clSVMAllocARM", 1);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	TRUE(!clGetPlatformIDs(1, &platform, NULL));
	TRUE(!clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	find_all(strcmp(name, "unnamed") != 0);
	TRUE(host && on_device && shared && release && release_blocking);
	if (!strcmp(name, "limited"))
		return limited();
	return strcmp(name, "other") ? counted() : other();
}
