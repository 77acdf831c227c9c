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

uint64_t gm_cuda_context_id(CUcontext context)
{
	unsigned long long id = 0;

	if (!gpu.CtxGetId || gpu.CtxGetId(context, &id) != CUDA_SUCCESS)
		return 0;
	return id;
}

/* The address of an adopted context that was destroyed may be another's by now.
 * The question takes nothing from anybody, and no call is a hot one. It comes
 * first: a driver pushed a context that was destroyed, and crashed (seen). */
gpumem_status gpu_enter(struct gpu_call *call, const struct gpu_device *device)
{
	if (device->context_id &&
	    gm_cuda_context_id(device->context) != device->context_id)
		return gpu_check(CUDA_ERROR_CONTEXT_IS_DESTROYED, "cuCtxGetId");
	return gpu_check(push(call, device->context), "cuCtxPushCurrent");
}

gpumem_status gm_cuda_enter(struct gpu_call *call, CUcontext context,
			    const char *gone, int *number_out)
{
	CUresult result = CUDA_SUCCESS;
	unsigned long long id;

	if (gpu.CtxGetId)
		result = gpu.CtxGetId(context, &id);
	if (!gpu_gone(result))
		result = push(call, context);
	if (gpu_gone(result))
		return gpu_fail(GPUMEM_INVALID, result, "%s", gone);
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
		return gm_cuda_enter(call, context,
				     "the stream's context was destroyed",
				     number_out);
	*number_out = device->device;
	return GPUMEM_OK;
}
