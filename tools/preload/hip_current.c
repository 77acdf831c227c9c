/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See hip_current.h.
 */
#include "hip_current.h"
#include "hip_graph.h"

_Static_assert((int)hipSuccess == COUNT_SUCCESS, "");
_Static_assert((int)hipErrorOutOfMemory == COUNT_NO_MEMORY, "");

#define TOO_MUCH ((size_t)1 << 62) /* bytes */

/* Stand for the contexts of the devices: their addresses are what counts. */
static const char contexts[LEDGER_DEVICES];

int hip_device(void)
{
	int device = -1;

	if (REAL(hipGetDevice)(&device) != hipSuccess ||
	    !count_is_device(device))
		return -1;
	return device;
}

uint64_t hip_total_bytes(int device)
{
	size_t bytes = 0;

	if (REAL(hipDeviceTotalMem)(&bytes, device) == hipSuccess)
		return bytes;
	(void)REAL(hipGetLastError)(); /* which is the question's */
	return 0;
}

static bool is_limited(enum ledger_kind kind)
{
	return count_is_on_device(kind) || kind == LEDGER_MANAGED;
}

/* The runtime is to know how the call ended, as hipGetLastError() tells it: it
 * is asked for what no device has. */
static void refuse(void)
{
	void *address = NULL;

	if (REAL(hipMalloc)(&address, TOO_MUCH) == hipSuccess && address)
		(void)REAL(hipFree)(address);
}

bool hip_alloc_begin_on(struct hip_alloc *alloc, const void *out, int device)
{
	alloc->device = device;
	if (device < 0 || !is_limited(alloc->kind))
		return true;
	hip_graph_refresh();
	if (limit_ask(out,
		      &(struct block){.bytes = alloc->bytes,
				      .space = BLOCK_HIP_ADDRESS,
				      .kind = (uint8_t)alloc->kind,
				      .device = (uint8_t)device},
		      NULL))
		return true;
	refuse();
	return false;
}

bool hip_alloc_begin(struct hip_alloc *alloc, const void *out)
{
	return hip_alloc_begin_on(alloc, out, hip_device());
}

static enum block_space space_of(enum ledger_kind kind)
{
	return kind == LEDGER_VIRTUAL	   ? BLOCK_HIP_HANDLE
	       : kind == LEDGER_ARRAY	   ? BLOCK_HIP_ARRAY
	       : kind == LEDGER_REGISTERED ? BLOCK_HIP_REGISTERED
					   : BLOCK_HIP_ADDRESS;
}

/* A reset of the device leaves memory of the host, handles and arrays. */
static const void *context_of(const struct hip_alloc *alloc)
{
	return alloc->kind != LEDGER_VIRTUAL && alloc->kind != LEDGER_ARRAY &&
			       is_limited(alloc->kind)
		       ? &contexts[alloc->device]
		       : NULL;
}

void hip_alloc_end(const struct hip_alloc *alloc, hipError_t result,
		   const void *address)
{
	if (alloc->device < 0) {
		if (result == hipSuccess && address)
			preload_note(LEDGER_HIP, LEDGER_UNTRACKED);
		return;
	}
	count_made((int)result,
		   &(struct block){.key = (uintptr_t)address,
				   .bytes = alloc->bytes,
				   .whole_bytes = alloc->bytes,
				   .context = context_of(alloc),
				   .stream = alloc->stream,
				   .refs = 1,
				   .space = (uint8_t)space_of(alloc->kind),
				   .kind = (uint8_t)alloc->kind,
				   .device = (uint8_t)alloc->device});
}

void hip_device_gone(int device)
{
	struct preload_state *state;

	if (device < 0)
		return;
	state = preload_lock();
	count_context_gone(state, &contexts[device]);
	preload_unlock(state);
}
