/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Of served.h: what the library takes of the driver for its pools, and gives
 * back, in a thread of the program's. The limit is asked as by any allocation;
 * it is not the program's, so it is counted as kept. What the pool's own thread
 * gives back is found in the table as anything is.
 */
#include "served.h"
#include "store.h"

#include <dlfcn.h>
#include <stdatomic.h>

PRELOAD_LOCAL bool refused;

bool served_was_refused(void)
{
	bool was = refused;

	refused = false;
	return was;
}

static bool ask(const void *out, int device, uint64_t bytes)
{
	if (limit_begin_pooled(out, device, bytes))
		return true;
	refused = true;
	return false;
}

static void made(CUresult result, enum block_space space, uint64_t key,
		 uint64_t bytes, int device)
{
	count_made((int)result, &(struct block){.key = key,
						.bytes = bytes,
						.whole_bytes = bytes,
						.refs = 1,
						.space = (uint8_t)space,
						.kind = LEDGER_VIRTUAL,
						.device = (uint8_t)device,
						.known = true,
						.pooled = true});
}

CUresult served_create(CUmemGenericAllocationHandle *handle_out, size_t bytes,
		       const CUmemAllocationProp *prop,
		       unsigned long long flags)
{
	int device = prop->location.id;
	CUresult result;

	if (!ask(handle_out, device, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = REAL(cuMemCreate)(handle_out, bytes, prop, flags);
	if (result == CUDA_ERROR_OUT_OF_MEMORY && pool_empty(device) != 0)
		result = REAL(cuMemCreate)(handle_out, bytes, prop, flags);
	made(result, BLOCK_HANDLE, result == CUDA_SUCCESS ? *handle_out : 0,
	     bytes, device);
	return result;
}

CUresult served_release(CUmemGenericAllocationHandle handle)
{
	CUresult result;

	count_release(LEDGER_CUDA, handle);
	result = REAL(cuMemRelease)(handle);
	limit_leave();
	return result;
}

/* ---- without virtual memory ------------------------------------------------
 */

static _Atomic(const void *) own_file; /* of the library's plugin; NULL: none */

static const void *file_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) ? info.dli_fbase : NULL;
}

bool served_owns(CUdeviceptr address, const void *caller)
{
	struct preload_state *state = preload_lock();
	const struct block *found =
		blocks_find(&state->blocks, BLOCK_ADDRESS, address);
	bool owns = found && found->pooled;

	preload_unlock(state);
	return owns && file_of(caller) != atomic_load(&own_file);
}

CUresult served_take(CUdeviceptr *address_out, size_t bytes, const void *caller)
{
	const void *context;
	CUresult result;
	int device;

	atomic_store(&own_file, file_of(caller));
	if (!count_where(&context, &device))
		return REAL(cuMemAlloc_v2)(address_out, bytes);
	if (!ask(address_out, device, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = REAL(cuMemAlloc_v2)(address_out, bytes);
	if (pool_relieve(result))
		result = REAL(cuMemAlloc_v2)(address_out, bytes);
	made(result, BLOCK_ADDRESS, result == CUDA_SUCCESS ? *address_out : 0,
	     bytes, device);
	return result;
}

CUresult served_give(CUdeviceptr address)
{
	struct block block;
	CUresult result;

	count_take(BLOCK_ADDRESS, address, &block);
	result = REAL(cuMemFree_v2)(address);
	count_free((int)result, &block);
	return result;
}
