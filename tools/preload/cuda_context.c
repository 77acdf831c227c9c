/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The end of contexts, and with them of the memory that belongs to them.
 */
#include "count.h"

static bool is_device(CUdevice device)
{
	return device >= 0 && device < LEDGER_DEVICES;
}

CUresult wrap_cuDevicePrimaryCtxRetain(CUcontext *context_out, CUdevice device)
{
	CUresult result = REAL(cuDevicePrimaryCtxRetain)(context_out, device);
	struct preload_state *state;

	if (result != CUDA_SUCCESS || !is_device(device) || !preload_enter())
		return result;
	state = preload_lock();
	state->primary[device] = *context_out;
	preload_unlock(state);
	preload_leave();
	return result;
}

/* A primary context goes with its last user. */
static void after_release(CUdevice device)
{
	struct preload_state *state;
	void *context;
	unsigned flags;
	int active = 1;

	if (REAL(cuDevicePrimaryCtxGetState)(device, &flags, &active) !=
		    CUDA_SUCCESS ||
	    active)
		return;
	state = preload_lock();
	context = state->primary[device];
	state->primary[device] = NULL;
	preload_unlock(state);
	count_context_end(context);
}

CUresult wrap_cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	CUresult result = REAL(cuDevicePrimaryCtxRelease_v2)(device);

	if (result != CUDA_SUCCESS || !is_device(device) || !preload_enter())
		return result;
	after_release(device);
	preload_leave();
	return result;
}

CUresult wrap_cuDevicePrimaryCtxReset_v2(CUdevice device)
{
	CUresult result = REAL(cuDevicePrimaryCtxReset_v2)(device);

	if (result != CUDA_SUCCESS || !is_device(device) || !preload_enter())
		return result;
	after_release(device);
	preload_leave();
	return result;
}

CUresult wrap_cuCtxDestroy_v2(CUcontext context)
{
	CUresult result = REAL(cuCtxDestroy_v2)(context);

	if (result != CUDA_SUCCESS || !preload_enter())
		return result;
	count_context_end(context);
	preload_leave();
	return result;
}
