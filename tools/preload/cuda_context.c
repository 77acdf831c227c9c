/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The beginning of contexts, and their end, with which goes the memory that
 * belongs to them.
 */
#include "pool.h"
#include "served.h"

static bool is_device(CUdevice device)
{
	return device >= 0 && device < LEDGER_DEVICES;
}

/* ---- they begin ------------------------------------------------------------
 */

static void created(CUresult result, const CUcontext *context)
{
	struct preload_state *state;

	if (result == CUDA_SUCCESS) {
		state = preload_lock();
		epoch_add_context(&state->epochs, *context);
		preload_unlock(state);
	}
	preload_leave();
}

CUresult wrap_cuCtxCreate(CUcontext *context_out, unsigned flags,
			  CUdevice device)
{
	bool ours = pool_enter();
	CUresult result = REAL(cuCtxCreate)(context_out, flags, device);

	if (ours)
		created(result, context_out);
	return result;
}

CUresult wrap_cuCtxCreate_v2(CUcontext *context_out, unsigned flags,
			     CUdevice device)
{
	bool ours = pool_enter();
	CUresult result = REAL(cuCtxCreate_v2)(context_out, flags, device);

	if (ours)
		created(result, context_out);
	return result;
}

CUresult wrap_cuCtxCreate_v3(CUcontext *context_out,
			     CUexecAffinityParam *affinities, int count,
			     unsigned flags, CUdevice device)
{
	bool ours = pool_enter();
	CUresult result = REAL(cuCtxCreate_v3)(context_out, affinities, count,
					       flags, device);

	if (ours)
		created(result, context_out);
	return result;
}

CUresult wrap_cuCtxCreate_v4(CUcontext *context_out, void *params,
			     unsigned flags, CUdevice device)
{
	bool ours = pool_enter();
	CUresult result =
		REAL(cuCtxCreate_v4)(context_out, params, flags, device);

	if (ours)
		created(result, context_out);
	return result;
}

/* The streams of such a context belong to two. */
CUresult wrap_cuGreenCtxCreate(void **green_out, void *resources,
			       CUdevice device, unsigned flags)
{
	preload_stop("cuGreenCtxCreate");
	return REAL(cuGreenCtxCreate)(green_out, resources, device, flags);
}

static CUresult retain(struct preload_state *state, CUcontext *context_out,
		       CUdevice device)
{
	CUresult result;

	pthread_mutex_lock(&state->primaries);
	result = REAL(cuDevicePrimaryCtxRetain)(context_out, device);
	if (result == CUDA_SUCCESS) {
		(void)preload_lock();
		state->primary[device] = *context_out;
		state->serveds.retained[device]++;
		epoch_add_context(&state->epochs, *context_out);
		preload_unlock(state);
	}
	pthread_mutex_unlock(&state->primaries);
	return result;
}

CUresult wrap_cuDevicePrimaryCtxRetain(CUcontext *context_out, CUdevice device)
{
	struct preload_state *state;
	CUresult result;

	if (!is_device(device) || !preload_enter())
		return REAL(cuDevicePrimaryCtxRetain)(context_out, device);
	state = preload_lock();
	preload_unlock(state);
	result = retain(state, context_out, device);
	preload_leave();
	return result;
}

/* ---- they end --------------------------------------------------------------
 */

static void forget_primary(CUdevice device)
{
	struct preload_state *state = preload_lock();

	state->primary[device] = NULL;
	preload_unlock(state);
}

/* The pool that serves is a user of it, too, but not the last one while it has
 * no blocks. */
static void close_served(CUdevice device, bool resets)
{
	struct preload_state *state = preload_lock();
	unsigned *retained = &state->serveds.retained[device];
	bool last;

	if (!resets && *retained)
		--*retained;
	last = !*retained;
	preload_unlock(state);
	if (last || resets)
		served_close(device, resets);
}

/* A primary context goes with its last user, or is emptied for all of them. No
 * other can begin meanwhile. */
static CUresult end_primary(CUdevice device, bool resets,
			    PFN_cuDevicePrimaryCtxReset_v11000 end)
{
	struct preload_state *state = preload_lock();
	const void *context = state->primary[device];
	unsigned flags;
	int active = 1;
	CUresult result;

	preload_unlock(state);
	pthread_mutex_lock(&state->primaries);
	close_served(device, resets);
	pool_context_ending(context);
	result = end(device);
	if (result == CUDA_SUCCESS)
		(void)REAL(cuDevicePrimaryCtxGetState)(device, &flags, &active);
	pool_context_ended(context,
			   !active || (resets && result == CUDA_SUCCESS));
	if (!active)
		forget_primary(device);
	pthread_mutex_unlock(&state->primaries);
	preload_leave();
	return result;
}

#define END_PRIMARY(name, resets)                                              \
	CUresult wrap_##name(CUdevice device)                                  \
	{                                                                      \
		if (!is_device(device) || !preload_enter())                    \
			return REAL(name)(device);                             \
		return end_primary(device, resets, REAL(name));                \
	}

END_PRIMARY(cuDevicePrimaryCtxRelease, false)
END_PRIMARY(cuDevicePrimaryCtxRelease_v2, false)
END_PRIMARY(cuDevicePrimaryCtxReset, true)
END_PRIMARY(cuDevicePrimaryCtxReset_v2, true)

#define END_CONTEXT(name)                                                      \
	CUresult wrap_##name(CUcontext context)                                \
	{                                                                      \
		CUresult result;                                               \
                                                                               \
		if (!preload_enter())                                          \
			return REAL(name)(context);                            \
		pool_context_ending(context);                                  \
		result = REAL(name)(context);                                  \
		pool_context_ended(context, result == CUDA_SUCCESS);           \
		preload_leave();                                               \
		return result;                                                 \
	}

END_CONTEXT(cuCtxDestroy)
END_CONTEXT(cuCtxDestroy_v2)

/* Nobody can tell whether it is the end; what is kept there goes with it. */
CUresult wrap_cuCtxDetach(CUcontext context)
{
	preload_stop("cuCtxDetach");
	if (pool_enter()) {
		pool_forget(context);
		preload_leave();
	}
	return REAL(cuCtxDetach)(context);
}
