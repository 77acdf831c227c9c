/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What every call has around it: the thread's capture mode and the device that
 * is current, changed and put back. Works on the calling thread alone: no lock.
 */
#include "plugin.h"

/* Some runtimes of AMD's do not have it: a call that may not be made while some
 * thread captures then fails with CAPTURING and spoils that capture. */
struct gpu_call gpu_begin_anywhere(void)
{
	struct gpu_call call = {
		.mode = GPU_CAPTURE_RELAXED,
		.clean = gpu_is_clean(),
	};
	gpu_result result = GPU_NOT_SUPPORTED;

	if (gpu.ThreadExchangeStreamCaptureMode)
		result = gpu.ThreadExchangeStreamCaptureMode(&call.mode);
	call.exchanged = result == GPU_SUCCESS;
	if (result != GPU_NOT_SUPPORTED)
		call.status = gpu_check(result, PREFIX
					"ThreadExchangeStreamCaptureMode");
	return call;
}

/* What was there can be put back, unless the driver is ending, when it does not
 * matter. */
gpumem_status gpu_end(const struct gpu_call *call)
{
	gpu_capture_mode mode = call->mode;

	gpu_leave(call);
	if (call->exchanged)
		(void)gpu.ThreadExchangeStreamCaptureMode(&mode);
	gpu_clean(call->clean);
	return call->status;
}

struct gpu_call gpu_begin(const struct gpu_device *device)
{
	struct gpu_call call = gpu_begin_anywhere();

	if (call.status == GPUMEM_OK)
		call.status = gpu_enter(&call, device);
	return call;
}

/* The calls of virtual memory do not look at the context, and go on working
 * when a device is lost. Of all that tells this one is the cheapest (22 ns on
 * NVIDIA's driver), and it concerns no stream, so it spoils no capture. What
 * AMD's runtime makes of a lost device was not seen. */
gpumem_status gpu_look(void)
{
	int least, greatest;

	return gpu_check(gpu.CtxGetStreamPriorityRange(&least, &greatest),
			 "a look at the device");
}

struct gpu_call gpu_begin_good(const struct gpu_device *device)
{
	struct gpu_call call = gpu_begin(device);

	if (call.status == GPUMEM_OK)
		call.status = gpu_look();
	return call;
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

static gpumem_status check_owner(struct gpu_call *call,
				 const struct gpu_device *device,
				 gpu_stream stream)
{
	gpumem_status status;
	int owner;

	if (is_default(stream))
		return GPUMEM_OK;
	status = gpu_enter_owner(call, device, stream, &owner);
	if (status != GPUMEM_OK || owner == device->device)
		return status;
	return gpu_fail(GPUMEM_INVALID, GPU_SUCCESS,
			"the stream belongs to another device: number %d, not "
			"%d",
			owner, device->device);
}

static struct gpu_call begin(const struct gpu_device *device, gpu_stream stream,
			     bool to_queue)
{
	struct gpu_call call = gpu_begin(device);

	if (call.status == GPUMEM_OK)
		call.status = check_capture(stream, to_queue);
	if (call.status == GPUMEM_OK)
		call.status = check_owner(&call, device, stream);
	return call;
}

struct gpu_call gpu_begin_stream(const struct gpu_device *device,
				 gpu_stream stream)
{
	return begin(device, stream, false);
}

struct gpu_call gpu_begin_queue(const struct gpu_device *device,
				gpu_stream stream)
{
	return begin(device, stream, true);
}
