/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The current device, changed for a call and put back. Works on the calling
 * thread alone: no lock.
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

void gpu_leave(const struct gpu_call *call)
{
	if (call->place.moved)
		(void)gpu.SetDevice(call->place.device);
}

gpumem_status gpu_enter(struct gpu_call *call, const struct gpu_device *device)
{
	struct gpu_place *place = &call->place;
	gpumem_status status =
		gpu_check(gpu.GetDevice(&place->device), "hipGetDevice");

	call->context = device->device;
	if (status != GPUMEM_OK || place->device == device->device)
		return status;
	status = gpu_check(gpu.SetDevice(device->device),
			   "hipSetDevice to device %d", device->device);
	place->moved = status == GPUMEM_OK;
	return status;
}

/* Before 5.3 nobody can tell: the runtime itself then refuses what it can. */
gpumem_status gpu_enter_owner(struct gpu_call *call,
			      const struct gpu_device *device,
			      hipStream_t stream, int *number_out)
{
	hipError_t error;

	(void)call; /* the device of the thread stays the device */
	*number_out = device->device;
	if (!gpu.StreamGetDevice)
		return GPUMEM_OK;
	error = gpu.StreamGetDevice(stream, number_out);
	if (gpu_gone(error))
		return gpu_no_stream(stream, error);
	return gpu_check(error, "hipStreamGetDevice");
}
