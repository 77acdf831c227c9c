/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The current context, changed for a call and put back. Works on the calling
 * thread alone: no lock.
 *
 * cuCtxSetCurrent(), SetFlags and Reset are never called: the context is shared
 * with everything else in the process that uses the device.
 */
#include "plugin.h"

void gpu_leave(const struct gpu_call *call)
{
	CUcontext context;

	for (int i = 0; i < call->place.pushed; i++)
		(void)gpu.CtxPopCurrent(&context);
}

static CUresult push(struct gpu_call *call, CUcontext context)
{
	CUresult result = gpu.CtxPushCurrent(context);

	if (result == CUDA_SUCCESS) {
		call->place.pushed++;
		call->context = context;
	}
	return result;
}

gpumem_status gpu_enter(struct gpu_call *call, const struct gpu_device *device)
{
	return gpu_check(push(call, device->context), "cuCtxPushCurrent");
}

/* A context that is not the device's primary one: the program's own, or that
 * of a part of the device's processors. */
static gpumem_status enter_other(struct gpu_call *call, CUcontext context,
				 int *number_out)
{
	CUresult result = push(call, context);

	if (gpu_gone(result))
		return gpu_fail(GPUMEM_INVALID, result,
				"the stream's context was destroyed");
	if (result != CUDA_SUCCESS)
		return gpu_check(result, "cuCtxPushCurrent");
	return gpu_check(gpu.CtxGetDevice(number_out), "cuCtxGetDevice");
}

gpumem_status gpu_enter_owner(struct gpu_call *call,
			      const struct gpu_device *device, CUstream stream,
			      int *number_out)
{
	CUcontext context = device->context;
	CUresult result = gpu.StreamGetCtx(stream, &context);

	if (gpu_gone(result))
		return gpu_no_stream(stream, result);
	if (result != CUDA_SUCCESS)
		return gpu_check(result, "cuStreamGetCtx");
	if (context != device->context)
		return enter_other(call, context, number_out);
	*number_out = device->device;
	return GPUMEM_OK;
}
