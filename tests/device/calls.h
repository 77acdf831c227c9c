/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the programs of this folder that speak CUDA themselves have in common:
 * calls that must succeed, and the device's primary context made current, which
 * is for their own calls only; the library needs none.
 */
#ifndef GPUMEM_TESTS_DEVICE_CALLS_H
#define GPUMEM_TESTS_DEVICE_CALLS_H

#include "must.h"
#include <cuda.h>

static inline void check_call(CUresult result, const char *what)
{
	const char *name = "unknown";

	if (!result)
		return;
	(void)cuGetErrorName(result, &name);
	bail("%s: %s", what, name);
}

#define CALL(call) check_call(call, #call)

/* The first device, its context current in this thread. */
static inline CUdevice start_cuda(void)
{
	CUcontext context;
	CUdevice device;

	if (cuInit(0))
		skip_all("no CUDA driver, or no device");
	CALL(cuDeviceGet(&device, 0));
	CALL(cuDevicePrimaryCtxRetain(&context, device));
	CALL(cuCtxPushCurrent(context));
	return device;
}

static inline CUfunction load_kernel(const char *ptx, const char *name)
{
	CUfunction kernel;
	CUmodule module;

	CALL(cuModuleLoadData(&module, ptx));
	CALL(cuModuleGetFunction(&kernel, module, name));
	return kernel;
}

#endif
