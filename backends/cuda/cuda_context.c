/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What every call has around it: the thread's capture mode and the current
 * context, changed and put back. Works on the calling thread alone: no lock.
 *
 * cuCtxSetCurrent(), SetFlags and Reset are never called: the context is shared
 * with everything else in the process that uses the device.
 */
#include "plugin.h"

gpumem_status gm_cuda_relax(struct gpu_visit *visit)
{
	*visit = (struct gpu_visit){.mode = CU_STREAM_CAPTURE_MODE_RELAXED};
	return gpu_check(gpu.ThreadExchangeStreamCaptureMode(&visit->mode),
			 "cuThreadExchangeStreamCaptureMode");
}

/* What was pushed can be popped, and a mode that was there put back, unless the
 * driver is ending, when neither matters. */
gpumem_status gpu_leave(const struct gpu_visit *visit, gpumem_status status)
{
	CUstreamCaptureMode mode = visit->mode;
	CUcontext context;
	int i;

	for (i = 0; i < visit->pushed; i++)
		(void)gpu.CtxPopCurrent(&context);
	(void)gpu.ThreadExchangeStreamCaptureMode(&mode);
	return status;
}

static CUresult push(struct gpu_visit *visit, CUcontext context)
{
	CUresult result = gpu.CtxPushCurrent(context);

	if (result == CUDA_SUCCESS) {
		visit->pushed++;
		visit->context = context;
	}
	return result;
}

gpumem_status gpu_enter(struct gpu_visit *visit,
			const struct gpu_device *device)
{
	gpumem_status status = gm_cuda_relax(visit);

	if (status != GPUMEM_OK)
		return status;
	status = gpu_check(push(visit, device->context), "cuCtxPushCurrent");
	return status == GPUMEM_OK ? status : gpu_leave(visit, status);
}

/* A context that is not the device's primary one: the program's own, or that
 * of a part of the device's processors. */
static gpumem_status enter_other(struct gpu_visit *visit, CUcontext context,
				 int *number_out)
{
	CUresult result = push(visit, context);

	if (gpu_gone(result))
		return gpu_fail(GPUMEM_INVALID, result,
				"the stream's context was destroyed");
	if (result != CUDA_SUCCESS)
		return gpu_check(result, "cuCtxPushCurrent");
	return gpu_check(gpu.CtxGetDevice(number_out), "cuCtxGetDevice");
}

gpumem_status gpu_enter_owner(struct gpu_visit *visit,
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
		return enter_other(visit, context, number_out);
	*number_out = device->device;
	return GPUMEM_OK;
}
