/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See cuda_current.h.
 */
#include "cuda_current.h"
#include "served.h"
#include "store.h"

_Static_assert((int)CUDA_SUCCESS == COUNT_SUCCESS, "");
_Static_assert((int)CUDA_ERROR_OUT_OF_MEMORY == COUNT_NO_MEMORY, "");

bool count_where(const void **context_out, int *device_out)
{
	CUcontext context = NULL;
	CUdevice device = -1;

	if (REAL(cuCtxGetDevice)(&device) != CUDA_SUCCESS ||
	    REAL(cuCtxGetCurrent)(&context) != CUDA_SUCCESS ||
	    !count_is_device(device))
		return false;
	*context_out = context;
	*device_out = device;
	return true;
}

void count_alloc(CUresult result, enum block_space space, enum ledger_kind kind,
		 uint64_t key, uint64_t bytes, const void *stream)
{
	const void *context;
	int device;

	if (!count_where(&context, &device)) {
		if (result == CUDA_SUCCESS)
			preload_note(LEDGER_CUDA, LEDGER_UNTRACKED);
		limit_leave();
		return;
	}
	count_made((int)result, &(struct block){.key = key,
						.bytes = bytes,
						.whole_bytes = bytes,
						.context = context,
						.stream = stream,
						.space = (uint8_t)space,
						.kind = (uint8_t)kind,
						.device = (uint8_t)device});
}

/* What another thread gives back, or a context that ends, may be enough. False:
 * there is no such thing. */
static bool wait_for_others(struct preload_state *state, int device)
{
	uint64_t stamp;

	if (!state->returning &&
	    !(state->ending && store_oldest(state, device, &stamp)))
		return false;
	pthread_cond_wait(&state->returned, &state->mutex);
	return true;
}

/* What the pool that serves has unused, for which the mutex is released. */
static bool trim_served(struct preload_state *state, int device)
{
	uint64_t bytes;

	preload_unlock(state);
	bytes = served_trim(device, 0);
	(void)preload_lock();
	return bytes;
}

static bool give_back(struct preload_state *state, int device)
{
	return pool_return_oldest(state, device) != 0 ||
	       trim_served(state, device) || wait_for_others(state, device);
}

uint64_t cuda_total_bytes(int device)
{
	size_t bytes = 0;

	return REAL(cuDeviceTotalMem_v2)(&bytes, device) == CUDA_SUCCESS ? bytes
									 : 0;
}

bool limit_begin_on(const void *out, enum ledger_kind kind, int device,
		    uint64_t bytes)
{
	return limit_ask(out,
			 &(struct block){.bytes = bytes,
					 .space = BLOCK_ADDRESS,
					 .kind = (uint8_t)kind,
					 .device = (uint8_t)device},
			 give_back);
}

bool limit_begin_pooled(const void *out, int device, uint64_t bytes)
{
	return limit_ask(out,
			 &(struct block){.bytes = bytes,
					 .space = BLOCK_ADDRESS,
					 .kind = LEDGER_VIRTUAL,
					 .device = (uint8_t)device,
					 .pooled = true},
			 give_back);
}

bool limit_begin(const void *out, enum ledger_kind kind, uint64_t bytes)
{
	const void *context;
	int device;

	if (!preload_limited() || !count_where(&context, &device))
		return true;
	return limit_begin_on(out, kind, device, bytes);
}

uint64_t limit_free(uint64_t free_bytes)
{
	const void *context;
	int device;

	if (!preload_limited() || !count_where(&context, &device))
		return free_bytes;
	return limit_left(LEDGER_CUDA, device, free_bytes);
}
