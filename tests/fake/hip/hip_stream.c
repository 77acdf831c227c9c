/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Streams and events. Handles are the driver's own: 0 is the null stream of
 * the current device, 2 the stream per thread.
 */
#include "hip_fake.h"

#include <stdlib.h>

static hipError_t create(hipStream_t *stream_out, unsigned flags)
{
	if (!stream_out)
		return hipErrorInvalidValue;
	return hip_error_of(cu.cuStreamCreate((CUstream *)stream_out, flags));
}

/* Neither the null stream nor that of a thread can be destroyed. */
static hipError_t destroy(hipStream_t stream)
{
	if (!stream || stream == hipStreamPerThread)
		return hipErrorInvalidHandle;
	return hip_error_of(cu.cuStreamDestroy_v2((CUstream)stream));
}

hipError_t hipStreamCreate(hipStream_t *stream_out)
{
	HIP_CALL_ON(NULL, hipStreamCreate, create(stream_out, 0));
}

hipError_t hipStreamCreateWithFlags(hipStream_t *stream_out, unsigned flags)
{
	HIP_CALL_ON(NULL, hipStreamCreateWithFlags, create(stream_out, flags));
}

hipError_t hipStreamDestroy(hipStream_t stream)
{
	HIP_CALL_ON(stream, hipStreamDestroy, destroy(stream));
}

hipError_t hipStreamQuery(hipStream_t stream)
{
	HIP_CALL_ON(stream, hipStreamQuery,
		    hip_error_of(cu.cuStreamQuery((CUstream)stream)));
}

hipError_t hipStreamSynchronize(hipStream_t stream)
{
	HIP_CALL_ON(stream, hipStreamSynchronize,
		    hip_error_of(cu.cuStreamSynchronize((CUstream)stream)));
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event,
			      unsigned flags)
{
	HIP_CALL_ON(stream, hipStreamWaitEvent,
		    hip_error_of(cu.cuStreamWaitEvent((CUstream)stream,
						      (CUevent)event, flags)));
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags_out)
{
	HIP_CALL_ON(
		NULL, hipStreamGetFlags,
		hip_error_of(cu.cuStreamGetFlags((CUstream)stream, flags_out)));
}

#if FAKEHIP_MAJOR >= 6
static hipError_t device_of(hipDevice_t *device_out)
{
	if (!device_out)
		return hipErrorInvalidValue;
	return hip_error_of(cu.cuCtxGetDevice(device_out));
}

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device_out)
{
	HIP_CALL_ON(stream, hipStreamGetDevice, device_of(device_out));
}
#endif

/* ---- Functions of the host ------------------------------------------------
 */

struct callback {
	hipStreamCallback_t function;
	hipStream_t stream;
	void *argument;
};

static void run_callback(void *argument)
{
	struct callback callback = *(struct callback *)argument;

	free(argument);
	callback.function(callback.stream, hipSuccess, callback.argument);
}

static hipError_t launch(hipStream_t stream, hipHostFn_t function,
			 void *argument)
{
	if (!function)
		return hipErrorInvalidValue;
	return hip_error_of(
		cu.cuLaunchHostFunc((CUstream)stream, function, argument));
}

static hipError_t add_callback(hipStream_t stream, hipStreamCallback_t function,
			       void *argument, unsigned flags)
{
	struct callback *callback;
	hipError_t error;

	if (!function || flags)
		return hipErrorInvalidValue;
	callback = malloc(sizeof(*callback));
	if (!callback)
		return hipErrorOutOfMemory;
	*callback = (struct callback){function, stream, argument};
	error = launch(stream, run_callback, callback);
	if (error != hipSuccess)
		free(callback);
	return error;
}

hipError_t hipStreamAddCallback(hipStream_t stream,
				hipStreamCallback_t function, void *argument,
				unsigned flags)
{
	HIP_CALL_ON(stream, hipStreamAddCallback,
		    add_callback(stream, function, argument, flags));
}

#if FAKEHIP_MAJOR >= 6
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function,
			     void *argument)
{
	HIP_CALL_ON(stream, hipLaunchHostFunc,
		    launch(stream, function, argument));
}
#endif
