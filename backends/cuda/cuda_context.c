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

/* The default streams, by any of their names, are those of whatever context is
 * current, which is the device's own. */
static bool has_no_context(CUstream stream)
{
	return !stream || stream == CU_STREAM_LEGACY ||
	       stream == CU_STREAM_PER_THREAD;
}

/* All that can be known of a handle that the driver does not know. */
static gpumem_status no_stream(CUstream stream, CUresult result)
{
	return gm_cuda_fail(GPUMEM_INVALID, result,
			    "%p is no stream, or its context was destroyed",
			    (void *)stream);
}

/*
 * The driver counts its captures from 1. Two states have no number: a capture
 * that something has spoiled, which lasts until it is ended, and the legacy
 * default stream while another one is captured that it would have to wait for.
 * Either must be left alone as much as any capture, so each gets a number of
 * its own that the driver does not reach:
 *
 *     2^63 + the stream's handle
 */
#define UNNUMBERED (UINT64_C(1) << 63)

gpumem_status gm_cuda_capture(CUstream stream, uint64_t *id_out)
{
	CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
	cuuint64_t id = 0;
	CUresult result = gm_cuda.StreamGetCaptureInfo(stream, &capture, &id);

	if (gm_cuda_gone(result) && !has_no_context(stream))
		return no_stream(stream, result);
	if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
		capture = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
	else if (result != CUDA_SUCCESS)
		return gm_cuda_check(result, "cuStreamGetCaptureInfo");
	if (capture == CU_STREAM_CAPTURE_STATUS_NONE)
		*id_out = 0;
	else if (capture == CU_STREAM_CAPTURE_STATUS_ACTIVE)
		*id_out = id;
	else
		*id_out = UNNUMBERED | (uint64_t)(uintptr_t)stream;
	return GPUMEM_OK;
}

/* To be asked before anything else is done with a stream: asking is the one
 * thing that never spoils a capture. */
static gpumem_status check_capture(CUstream stream, bool to_queue)
{
	gpumem_status status;
	uint64_t id = 0;

	status = gm_cuda_capture(stream, &id);
	if (status != GPUMEM_OK || !id || (to_queue && id < UNNUMBERED))
		return status;
	if (!stream || stream == CU_STREAM_LEGACY)
		return gm_cuda_fail(GPUMEM_CAPTURING, CUDA_SUCCESS,
				    "the default stream cannot be used while "
				    "another stream is being captured that "
				    "was not made with "
				    "CU_STREAM_NON_BLOCKING");
	return gm_cuda_fail(GPUMEM_CAPTURING, CUDA_SUCCESS,
			    "the stream is being captured into a graph");
}

/* A context that is not the device's primary one: the program's own, or that
 * of a part of the device's processors. */
static gpumem_status enter_other(struct cuda_visit *visit,
				 const struct cuda_device *device,
				 CUcontext context)
{
	CUresult result = push(visit, context);
	CUdevice found;

	if (gm_cuda_gone(result))
		return gm_cuda_fail(GPUMEM_INVALID, result,
				    "the stream's context was destroyed");
	if (result != CUDA_SUCCESS)
		return gm_cuda_check(result, "cuCtxPushCurrent");
	result = gm_cuda.CtxGetDevice(&found);
	if (result != CUDA_SUCCESS)
		return gm_cuda_check(result, "cuCtxGetDevice");
	if (found != device->device)
		return gm_cuda_fail(GPUMEM_INVALID, CUDA_SUCCESS,
				    "the stream belongs to another device: "
				    "number %d, not %d",
				    found, device->device);
	return GPUMEM_OK;
}

static gpumem_status enter_context(struct cuda_visit *visit,
				   const struct cuda_device *device,
				   CUstream stream)
{
	CUcontext context = device->context;
	CUresult result;

	if (has_no_context(stream))
		return GPUMEM_OK;
	result = gm_cuda.StreamGetCtx(stream, &context);
	if (gm_cuda_gone(result))
		return no_stream(stream, result);
	if (result != CUDA_SUCCESS)
		return gm_cuda_check(result, "cuStreamGetCtx");
	return context == device->context ? GPUMEM_OK
					  : enter_other(visit, device, context);
}

static gpumem_status enter(struct cuda_visit *visit,
			   const struct cuda_device *device, CUstream stream,
			   bool to_queue)
{
	gpumem_status status = gm_cuda_enter(visit, device);

	if (status != GPUMEM_OK)
		return status;
	status = check_capture(stream, to_queue);
	if (status == GPUMEM_OK)
		status = enter_context(visit, device, stream);
	if (status != GPUMEM_OK)
		gm_cuda_leave(visit);
	return status;
}

gpumem_status gm_cuda_enter_stream(struct cuda_visit *visit,
				   const struct cuda_device *device,
				   CUstream stream)
{
	return enter(visit, device, stream, false);
}

gpumem_status gm_cuda_enter_queue(struct cuda_visit *visit,
				  const struct cuda_device *device,
				  CUstream stream)
{
	return enter(visit, device, stream, true);
}
