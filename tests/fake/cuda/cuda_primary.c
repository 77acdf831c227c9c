/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The primary context of each device, which lives as long as somebody retains
 * it.
 */
#include "cuda_fake.h"

static CUresult retain(CUcontext *context_out, CUdevice number)
{
	struct fake_device *device;

	if (!context_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!fake_device_good(number))
		return CUDA_ERROR_INVALID_DEVICE;
	device = &fake.devices[number];
	if (!device->primary)
		device->primary = fake_context_new(number, true);
	if (!device->primary)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (device->primary->lost)
		return device->primary->lost;
	device->retained++;
	*context_out = fake_handle_of(device->primary);
	return CUDA_SUCCESS;
}

static CUresult release(CUdevice number)
{
	struct fake_device *device;

	if (!fake_device_good(number))
		return CUDA_ERROR_INVALID_DEVICE;
	device = &fake.devices[number];
	if (!device->retained)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!--device->retained) {
		fake_context_destroy(device->primary);
		device->primary = NULL;
	}
	return CUDA_SUCCESS;
}

/* Whoever retained it has done so in vain; a new one begins at the next retain.
 */
static CUresult reset(CUdevice number)
{
	struct fake_device *device;

	if (!fake_device_good(number))
		return CUDA_ERROR_INVALID_DEVICE;
	device = &fake.devices[number];
	if (device->primary)
		fake_context_destroy(device->primary);
	device->primary = NULL;
	device->retained = 0;
	return CUDA_SUCCESS;
}

static CUresult get_state(CUdevice number, unsigned *flags_out, int *active_out)
{
	if (!flags_out || !active_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!fake_device_good(number))
		return CUDA_ERROR_INVALID_DEVICE;
	*flags_out = 0;
	*active_out = fake.devices[number].primary != NULL;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context_out, CUdevice device)
{
	FAKE_CALL(cuDevicePrimaryCtxRetain, retain(context_out, device));
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	FAKE_CALL(cuDevicePrimaryCtxRelease_v2, release(device));
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags_out,
				    int *active_out)
{
	FAKE_CALL(cuDevicePrimaryCtxGetState,
		  get_state(device, flags_out, active_out));
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
	FAKE_CALL(cuDevicePrimaryCtxReset_v2, reset(device));
}
