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

/* Before 5.3 nobody can tell: the runtime itself then refuses what it can. */
gpumem_status gm_hip_enter_owner(struct hip_visit *visit,
				 const struct hip_device *device,
				 hipStream_t stream, int *number_out)
{
	hipError_t error;

	(void)visit; /* the device of the thread stays the device */
	*number_out = device->device;
	if (!gm_hip.StreamGetDevice)
		return GPUMEM_OK;
	error = gm_hip.StreamGetDevice(stream, number_out);
	if (gm_hip_gone(error))
		return gm_hip_no_stream(stream, error);
	return gm_hip_check(error, "hipStreamGetDevice");
}
