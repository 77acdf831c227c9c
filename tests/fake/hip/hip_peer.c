/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Peer access of blocks, and waiting for all of a device.
 */
#include "hip_fake.h"

static hipError_t enable(int peer, unsigned flags)
{
	CUcontext context;
	hipError_t error = hip_context_of(peer, &context);

	if (error != hipSuccess)
		return error;
	if (peer == hip_device)
		return hipErrorInvalidDevice;
	return hip_error_of(cu.cuCtxEnablePeerAccess(context, flags));
}

static hipError_t disable(int peer)
{
	CUcontext context;
	hipError_t error = hip_context_of(peer, &context);

	if (error != hipSuccess)
		return error;
	return hip_error_of(cu.cuCtxDisablePeerAccess(context));
}

hipError_t hipDeviceCanAccessPeer(int *yes_out, int device, int peer)
{
	HIP_CALL(hipDeviceCanAccessPeer,
		 hip_error_of(cu.cuDeviceCanAccessPeer(yes_out, device, peer)));
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
	HIP_CALL_ON(NULL, hipDeviceEnablePeerAccess, enable(peer, flags));
}

hipError_t hipDeviceDisablePeerAccess(int peer)
{
	HIP_CALL_ON(NULL, hipDeviceDisablePeerAccess, disable(peer));
}

hipError_t hipDeviceSynchronize(void)
{
	HIP_CALL_ON(NULL, hipDeviceSynchronize,
		    hip_error_of(cu.cuCtxSynchronize()));
}
