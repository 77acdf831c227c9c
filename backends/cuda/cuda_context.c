/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What every call has around it: the thread's capture mode and the current
 * context, changed and put back. Works on the calling thread alone, so nobody
 * locks.
 *
 * cuCtxSetCurrent(), SetFlags and Reset are never called: the context is shared
 * with everything else in the process that uses the device.
 */
#include "plugin.h"

gpumem_status gm_cuda_relax(struct cuda_visit *visit)
{
	*visit = (struct cuda_visit){.mode = CU_STREAM_CAPTURE_MODE_RELAXED};
	return gm_cuda_check(
		gm_cuda.ThreadExchangeStreamCaptureMode(&visit->mode),
		"cuThreadExchangeStreamCaptureMode");
}

/* What was pushed can be popped, and a mode that was there put back, unless the
 * driver is ending, when neither matters. */
void gm_cuda_leave(const struct cuda_visit *visit)
{
	CUstreamCaptureMode mode = visit->mode;
	CUcontext context;
	int i;

	for (i = 0; i < visit->pushed; i++)
		(void)gm_cuda.CtxPopCurrent(&context);
	(void)gm_cuda.ThreadExchangeStreamCaptureMode(&mode);
}

static CUresult push(struct cuda_visit *visit, CUcontext context)
{
	CUresult result = gm_cuda.CtxPushCurrent(context);

	if (result == CUDA_SUCCESS) {
		visit->pushed++;
		visit->context = context;
	}
	return result;
}

gpumem_status gm_cuda_enter(struct cuda_visit *visit,
			    const struct cuda_device *device)
{
	gpumem_status status = gm_cuda_relax(visit);

	if (status != GPUMEM_OK)
		return status;
	status =
		gm_cuda_check(push(visit, device->context), "cuCtxPushCurrent");
	if (status != GPUMEM_OK)
		gm_cuda_leave(visit);
	return status;
}

/* A context that is not the device's primary one: the program's own, or that
 * of a part of the device's processors. */
static gpumem_status enter_other(struct cuda_visit *visit, CUcontext context,
				 int *number_out)
{
	CUresult result = push(visit, context);

	if (gm_cuda_gone(result))
		return gm_cuda_fail(GPUMEM_INVALID, result,
				    "the stream's context was destroyed");
	if (result != CUDA_SUCCESS)
		return gm_cuda_check(result, "cuCtxPushCurrent");
	return gm_cuda_check(gm_cuda.CtxGetDevice(number_out),
			     "cuCtxGetDevice");
}

gpumem_status gm_cuda_enter_owner(struct cuda_visit *visit,
				  const struct cuda_device *device,
				  CUstream stream, int *number_out)
{
	CUcontext context = device->context;
	CUresult result = gm_cuda.StreamGetCtx(stream, &context);

	if (gm_cuda_gone(result))
		return gm_cuda_no_stream(stream, result);
	if (result != CUDA_SUCCESS)
		return gm_cuda_check(result, "cuStreamGetCtx");
	if (context != device->context)
		return enter_other(visit, context, number_out);
	*number_out = device->device;
	return GPUMEM_OK;
}
