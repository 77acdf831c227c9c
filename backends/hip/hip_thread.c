/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What every call has around it: the thread's capture mode and its current
 * device, changed and put back. Works on the calling thread alone: no lock.
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

bool gpu_is_clean(void)
{
	return gpu.PeekAtLastError() == hipSuccess;
}

void gpu_clean(bool was_clean)
{
	if (was_clean)
		(void)gpu.GetLastError();
}

/* Without the function, which 5.0 may lack and runtimes that are not AMD's do
 * not support, a call that may not be made while some thread captures fails
 * with CAPTURING and spoils that capture. */
static gpumem_status exchange(struct gpu_visit *visit)
{
	hipError_t error = hipErrorNotSupported;
	gpumem_status status;

	if (gpu.ThreadExchangeStreamCaptureMode)
		error = gpu.ThreadExchangeStreamCaptureMode(&visit->mode);
	if (error == hipErrorNotSupported) {
		gpu_clean(visit->clean);
		return GPUMEM_OK;
	}
	status = gpu_check(error, "hipThreadExchangeStreamCaptureMode");
	visit->exchanged = status == GPUMEM_OK;
	return status;
}

/* What was there can be put back, unless the runtime is ending, when it does
 * not matter. */
gpumem_status gpu_leave(const struct gpu_visit *visit, gpumem_status status)
{
	hipStreamCaptureMode mode = visit->mode;

	if (visit->moved)
		(void)gpu.SetDevice(visit->device);
	if (visit->exchanged)
		(void)gpu.ThreadExchangeStreamCaptureMode(&mode);
	gpu_clean(visit->clean);
	return status;
}

static gpumem_status move(struct gpu_visit *visit,
			  const struct gpu_device *device)
{
	gpumem_status status =
		gpu_check(gpu.GetDevice(&visit->device), "hipGetDevice");

	if (status != GPUMEM_OK || visit->device == device->device)
		return status;
	status = gpu_check(gpu.SetDevice(device->device),
			   "hipSetDevice to device %d", device->device);
	visit->moved = status == GPUMEM_OK;
	return status;
}

gpumem_status gpu_enter(struct gpu_visit *visit,
			const struct gpu_device *device)
{
	gpumem_status status;

	*visit = (struct gpu_visit){
		.mode = hipStreamCaptureModeRelaxed,
		.context = device->device,
		.clean = gpu_is_clean(),
	};
	status = exchange(visit);
	if (status != GPUMEM_OK) {
		gpu_clean(visit->clean);
		return status;
	}
	status = move(visit, device);
	return status == GPUMEM_OK ? status : gpu_leave(visit, status);
}

/* Before 5.3 nobody can tell: the runtime itself then refuses what it can. */
gpumem_status gpu_enter_owner(struct gpu_visit *visit,
			      const struct gpu_device *device,
			      hipStream_t stream, int *number_out)
{
	hipError_t error;

	(void)visit; /* the device of the thread stays the device */
	*number_out = device->device;
	if (!gpu.StreamGetDevice)
		return GPUMEM_OK;
	error = gpu.StreamGetDevice(stream, number_out);
	if (gpu_gone(error))
		return gpu_no_stream(stream, error);
	return gpu_check(error, "hipStreamGetDevice");
}
