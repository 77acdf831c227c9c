/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What every call has around it: the thread's capture mode and its current
 * device, changed and put back. Works on the calling thread alone, so nobody
 * locks.
 *
 * The runtime also keeps the thread's last error for hipGetLastError(), which
 * programs ask after a launch. What a call of ours leaves there is taken away,
 * unless there was one before. (Up to ROCm 6 any call that succeeds forgets the
 * error before it, ours too: it cannot be put back.)
 *
 * Nothing like hipDeviceReset() is ever called: all of the device is shared
 * with everything else in the process that uses it.
 */
#include "plugin.h"

/* HIP's other name for the default stream, which older headers lack. */
#define STREAM_LEGACY ((hipStream_t)1)

bool gm_hip_is_clean(void)
{
	return gm_hip.PeekAtLastError() == hipSuccess;
}

void gm_hip_clean(bool was_clean)
{
	if (was_clean)
		(void)gm_hip.GetLastError();
}

/* Without the function, which 5.0 may lack and runtimes that are not AMD's do
 * not support, a call that may not be made while some thread captures fails
 * with CAPTURING and spoils that capture. */
static gpumem_status exchange(struct hip_visit *visit)
{
	hipError_t error = hipErrorNotSupported;
	gpumem_status status;

	if (gm_hip.ThreadExchangeStreamCaptureMode)
		error = gm_hip.ThreadExchangeStreamCaptureMode(&visit->mode);
	if (error == hipErrorNotSupported) {
		gm_hip_clean(visit->clean);
		return GPUMEM_OK;
	}
	status = gm_hip_check(error, "hipThreadExchangeStreamCaptureMode");
	visit->exchanged = status == GPUMEM_OK;
	return status;
}

/* What was there can be put back, unless the runtime is ending, when it does
 * not matter. */
void gm_hip_leave(const struct hip_visit *visit)
{
	hipStreamCaptureMode mode = visit->mode;

	if (visit->moved)
		(void)gm_hip.SetDevice(visit->device);
	if (visit->exchanged)
		(void)gm_hip.ThreadExchangeStreamCaptureMode(&mode);
	gm_hip_clean(visit->clean);
}

static gpumem_status move(struct hip_visit *visit,
			  const struct hip_device *device)
{
	gpumem_status status =
		gm_hip_check(gm_hip.GetDevice(&visit->device), "hipGetDevice");

	if (status != GPUMEM_OK || visit->device == device->device)
		return status;
	status = gm_hip_check(gm_hip.SetDevice(device->device),
			      "hipSetDevice to device %d", device->device);
	visit->moved = status == GPUMEM_OK;
	return status;
}

gpumem_status gm_hip_enter(struct hip_visit *visit,
			   const struct hip_device *device)
{
	gpumem_status status;

	*visit = (struct hip_visit){
		.mode = hipStreamCaptureModeRelaxed,
		.clean = gm_hip_is_clean(),
	};
	status = exchange(visit);
	if (status != GPUMEM_OK) {
		gm_hip_clean(visit->clean);
		return status;
	}
	status = move(visit, device);
	if (status != GPUMEM_OK)
		gm_hip_leave(visit);
	return status;
}

/* Over NVIDIA's driver the calls of virtual memory go on working when a device
 * is lost. This one tells, costs next to nothing and concerns no stream, so it
 * spoils no capture. What AMD's runtime makes of a lost device was not seen. */
gpumem_status gm_hip_enter_good(struct hip_visit *visit,
				const struct hip_device *device)
{
	gpumem_status status = gm_hip_enter(visit, device);
	int least, greatest;

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(
		gm_hip.CtxGetStreamPriorityRange(&least, &greatest),
		"a look at the device");
	if (status != GPUMEM_OK)
		gm_hip_leave(visit);
	return status;
}

/* The default streams, by any of their names, are those of whatever device is
 * current. */
static bool has_no_device(hipStream_t stream)
{
	return !stream || stream == STREAM_LEGACY ||
	       stream == hipStreamPerThread;
}

/* What the runtime says of a handle that it does not know. */
static bool is_unknown(hipError_t error)
{
	return error == hipErrorContextIsDestroyed ||
	       error == hipErrorInvalidContext ||
	       error == hipErrorInvalidHandle || error == hipErrorInvalidValue;
}

static gpumem_status no_stream(hipStream_t stream, hipError_t error)
{
	return gm_hip_fail(GPUMEM_INVALID, error,
			   "%p is no stream, or it was destroyed",
			   (void *)stream);
}

/*
 * The runtime counts its captures from 1. Two states have no number: a capture
 * that something has spoiled, which lasts until it is ended, and the default
 * stream while another one is captured that it would have to wait for. Either
 * must be left alone as much as any capture, so each gets a number of its own
 * that the runtime does not reach:
 *
 *     2^63 + the stream's handle
 */
#define UNNUMBERED (UINT64_C(1) << 63)

gpumem_status gm_hip_capture(hipStream_t stream, uint64_t *id_out)
{
	hipStreamCaptureStatus capture = hipStreamCaptureStatusNone;
	unsigned long long id = 0;
	hipError_t error = gm_hip.StreamGetCaptureInfo(stream, &capture, &id);

	if (is_unknown(error) && !has_no_device(stream))
		return no_stream(stream, error);
	if (error == hipErrorStreamCaptureImplicit)
		capture = hipStreamCaptureStatusInvalidated;
	else if (error != hipSuccess)
		return gm_hip_check(error, "hipStreamGetCaptureInfo");
	if (capture == hipStreamCaptureStatusNone)
		*id_out = 0;
	else if (capture == hipStreamCaptureStatusActive)
		*id_out = id;
	else
		*id_out = UNNUMBERED | (uint64_t)(uintptr_t)stream;
	return GPUMEM_OK;
}

/* To be asked before anything else is done with a stream: asking is the one
 * thing that never spoils a capture. */
static gpumem_status check_capture(hipStream_t stream, bool to_queue)
{
	gpumem_status status;
	uint64_t id = 0;

	status = gm_hip_capture(stream, &id);
	if (status != GPUMEM_OK || !id || (to_queue && id < UNNUMBERED))
		return status;
	if (!stream || stream == STREAM_LEGACY)
		return gm_hip_fail(GPUMEM_CAPTURING, hipSuccess,
				   "the default stream cannot be used while "
				   "another stream is being captured that "
				   "was not made with hipStreamNonBlocking");
	return gm_hip_fail(GPUMEM_CAPTURING, hipSuccess,
			   "the stream is being captured into a graph");
}

/* Before 5.3 nobody can tell: the runtime itself then refuses what it can. */
static gpumem_status check_device(const struct hip_device *device,
				  hipStream_t stream)
{
	hipDevice_t found = device->device;
	hipError_t error;

	if (!gm_hip.StreamGetDevice || has_no_device(stream))
		return GPUMEM_OK;
	error = gm_hip.StreamGetDevice(stream, &found);
	if (is_unknown(error))
		return no_stream(stream, error);
	if (error != hipSuccess)
		return gm_hip_check(error, "hipStreamGetDevice");
	if (found != device->device)
		return gm_hip_fail(GPUMEM_INVALID, hipSuccess,
				   "the stream belongs to another device: "
				   "number %d, not %d",
				   found, device->device);
	return GPUMEM_OK;
}

static gpumem_status enter(struct hip_visit *visit,
			   const struct hip_device *device, hipStream_t stream,
			   bool to_queue)
{
	gpumem_status status = gm_hip_enter(visit, device);

	if (status != GPUMEM_OK)
		return status;
	status = check_capture(stream, to_queue);
	if (status == GPUMEM_OK)
		status = check_device(device, stream);
	if (status != GPUMEM_OK)
		gm_hip_leave(visit);
	return status;
}

gpumem_status gm_hip_enter_stream(struct hip_visit *visit,
				  const struct hip_device *device,
				  hipStream_t stream)
{
	return enter(visit, device, stream, false);
}

gpumem_status gm_hip_enter_queue(struct hip_visit *visit,
				 const struct hip_device *device,
				 hipStream_t stream)
{
	return enter(visit, device, stream, true);
}
