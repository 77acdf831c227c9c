/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Enters a device for a call that uses a stream or creates memory, on top of
 * each plugin's own gpu_enter(). Works on the calling thread alone: no lock.
 */
#include "plugin.h"

/* The calls of virtual memory do not look at the context, and go on working
 * when a device is lost. Of all that tells this one is the cheapest (22 ns on
 * NVIDIA's driver), and it concerns no stream, so it spoils no capture. What
 * AMD's runtime makes of a lost device was not seen. */
gpumem_status gpu_enter_good(struct gpu_visit *visit,
			     const struct gpu_device *device)
{
	gpumem_status status = gpu_enter(visit, device);
	int least, greatest;

	if (status != GPUMEM_OK)
		return status;
	status = gpu_check(gpu.CtxGetStreamPriorityRange(&least, &greatest),
			   "a look at the device");
	return status == GPUMEM_OK ? status : gpu_leave(visit, status);
}

/* The default streams, by any of their names, are those of whatever context is
 * current, which is the device's own. */
static bool is_default(gpu_stream stream)
{
	return !stream || stream == GPU_STREAM_LEGACY ||
	       stream == GPU_STREAM_PER_THREAD;
}

/* All that can be known of a handle that the driver does not know. */
gpumem_status gpu_no_stream(gpu_stream stream, gpu_result result)
{
	return gpu_fail(GPUMEM_INVALID, result,
			"%p is no stream, or it was destroyed", (void *)stream);
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

gpumem_status gpu_capture(gpu_stream stream, uint64_t *id_out)
{
	gpu_capture_status capture = GPU_CAPTURE_NONE;
	gpu_capture_number id = 0;
	gpu_result result = gpu.StreamGetCaptureInfo(stream, &capture, &id);

	if (gpu_gone(result) && !is_default(stream))
		return gpu_no_stream(stream, result);
	if (result == GPU_CAPTURE_IMPLICIT)
		capture = GPU_CAPTURE_INVALIDATED;
	else if (result != GPU_SUCCESS)
		return gpu_check(result, PREFIX "StreamGetCaptureInfo");
	if (capture == GPU_CAPTURE_NONE)
		*id_out = 0;
	else if (capture == GPU_CAPTURE_ACTIVE)
		*id_out = id;
	else
		*id_out = UNNUMBERED | (uint64_t)(uintptr_t)stream;
	return GPUMEM_OK;
}

/* To be asked before anything else is done with a stream: asking is the one
 * thing that never spoils a capture. */
static gpumem_status check_capture(gpu_stream stream, bool to_queue)
{
	gpumem_status status;
	uint64_t id = 0;

	status = gpu_capture(stream, &id);
	if (status != GPUMEM_OK || !id || (to_queue && id < UNNUMBERED))
		return status;
	if (!stream || stream == GPU_STREAM_LEGACY)
		return gpu_fail(GPUMEM_CAPTURING, GPU_SUCCESS,
				"the default stream cannot be used while "
				"another stream is being captured that was not "
				"made with " NON_BLOCKING);
	return gpu_fail(GPUMEM_CAPTURING, GPU_SUCCESS,
			"the stream is being captured into a graph");
}

static gpumem_status check_owner(struct gpu_visit *visit,
				 const struct gpu_device *device,
				 gpu_stream stream)
{
	gpumem_status status;
	int owner;

	if (is_default(stream))
		return GPUMEM_OK;
	status = gpu_enter_owner(visit, device, stream, &owner);
	if (status != GPUMEM_OK || owner == device->device)
		return status;
	return gpu_fail(GPUMEM_INVALID, GPU_SUCCESS,
			"the stream belongs to another device: number %d, not "
			"%d",
			owner, device->device);
}

static gpumem_status enter(struct gpu_visit *visit,
			   const struct gpu_device *device, gpu_stream stream,
			   bool to_queue)
{
	gpumem_status status = gpu_enter(visit, device);

	if (status != GPUMEM_OK)
		return status;
	status = check_capture(stream, to_queue);
	if (status == GPUMEM_OK)
		status = check_owner(visit, device, stream);
	return status == GPUMEM_OK ? status : gpu_leave(visit, status);
}

gpumem_status gpu_enter_stream(struct gpu_visit *visit,
			       const struct gpu_device *device,
			       gpu_stream stream)
{
	return enter(visit, device, stream, false);
}

gpumem_status gpu_enter_queue(struct gpu_visit *visit,
			      const struct gpu_device *device,
			      gpu_stream stream)
{
	return enter(visit, device, stream, true);
}
