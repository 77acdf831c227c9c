/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Of served.h: what the program gives back. A block leaves the table before it
 * is freed.
 *
 * The stream of each thread has one number for all of them: a block that is
 * freed on it waits for an event of that thread's, so that none gets memory
 * that another's stream still uses.
 */
#include "served.h"

/* Of a block that begins there. */
static bool find_exact(CUdeviceptr address, struct block *block_out)
{
	struct preload_state *state = preload_lock();
	const struct block *found =
		blocks_find(&state->blocks, BLOCK_SERVED, address);

	if (found)
		*block_out = *found;
	preload_unlock(state);
	return found;
}

/* Inside: behind what this thread has queued on the stream that is its own. */
static gpumem_status free_behind(gpumem_device *device, void *address)
{
	gpumem_event *event;
	gpumem_status status =
		served_gpumem.gpumem_event_create(device, &event);

	if (status != GPUMEM_OK)
		return status;
	status = served_gpumem.gpumem_event_record(event, CU_STREAM_PER_THREAD);
	if (status == GPUMEM_OK)
		status = served_gpumem.gpumem_free_after(address, event);
	GPUMEM_IGNORE(served_gpumem.gpumem_event_destroy(event));
	return status;
}

/* Inside. `stream` is one of the pool's context. */
static gpumem_status free_on(const struct served_device *served,
			     const struct block *block, CUstream stream)
{
	void *address = (void *)(uintptr_t)block->key;

	if (stream == CU_STREAM_PER_THREAD && block->stream == stream)
		return free_behind(served->device, address);
	return served_gpumem.gpumem_free(address, served_stream(stream));
}

/* Whose stream it is. */
static CUresult context_of(CUstream stream, CUcontext *context_out)
{
	CUresult result = served_is_default(stream)
				  ? REAL(cuCtxGetCurrent)(context_out)
				  : REAL(cuStreamGetCtx)(stream, context_out);

	return result == CUDA_SUCCESS && !*context_out
		       ? CUDA_ERROR_INVALID_CONTEXT
		       : result;
}

static CUresult wait_for(const void *context)
{
	CUresult result = CUDA_ERROR_INVALID_CONTEXT;
	struct visit visit;

	visit_begin(&visit);
	if (visit_context(&visit, context))
		result = REAL(cuCtxSynchronize)();
	visit_end(&visit);
	return result;
}

/* Takes it out of the table. False: it is not there. */
static bool take_out(CUdeviceptr address, struct block *block_out)
{
	struct preload_state *state = preload_lock();
	const struct block *found =
		blocks_find(&state->blocks, BLOCK_SERVED, address);

	if (found) {
		*block_out = *found;
		served_forget(state, block_out);
	}
	preload_unlock(state);
	return found;
}

/* It was not freed, so the program has it still. */
static CUresult put_back(const struct block *block)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	struct preload_state *state = preload_lock();

	if (!served_insert(state, block))
		preload_note_locked(state, LEDGER_CUDA, LEDGER_UNTRACKED);
	preload_unlock(state);
	served_gpumem.gpumem_last_error(&error);
	return error.native_code ? (CUresult)error.native_code
				 : CUDA_ERROR_INVALID_VALUE;
}

/* NULL: everything that could use it is over. */
static CUresult end_block(CUdeviceptr address, CUstream stream)
{
	CUresult result = CUDA_SUCCESS;
	struct served_device *served;
	gpumem_status status;
	struct block block;

	if (!take_out(address, &block))
		return CUDA_ERROR_INVALID_VALUE;
	served = served_begin(block.device);
	if (!served)
		return CUDA_ERROR_INVALID_VALUE; /* it was closed meanwhile */
	status = stream ? free_on(served, &block, stream)
			: served_gpumem.gpumem_free_own(
				  (void *)(uintptr_t)block.key);
	if (status != GPUMEM_OK)
		result = put_back(&block);
	served_end();
	return result;
}

static const void *own_context(const struct block *block)
{
	struct preload_state *state = preload_lock();
	const void *context = state->serveds.devices[block->device].context;

	preload_unlock(state);
	return context;
}

bool served_free(CUdeviceptr address, CUstream stream, CUresult *result_out)
{
	struct block block;
	CUcontext context;

	if (!find_exact(address, &block))
		return false;
	*result_out = context_of(stream, &context);
	if (*result_out != CUDA_SUCCESS)
		return true;
	/* The library knows streams of its own context only. */
	if (context != own_context(&block)) {
		*result_out = wait_for(context);
		stream = NULL;
	}
	if (*result_out == CUDA_SUCCESS)
		*result_out = end_block(address, stream);
	return true;
}

bool served_free_now(CUdeviceptr address, CUresult *result_out)
{
	CUcontext current = NULL;
	struct block block;

	if (!find_exact(address, &block))
		return false;
	*result_out = wait_for(own_context(&block));
	if (*result_out == CUDA_SUCCESS &&
	    REAL(cuCtxGetCurrent)(&current) == CUDA_SUCCESS && current &&
	    current != own_context(&block))
		*result_out = REAL(cuCtxSynchronize)();
	if (*result_out == CUDA_SUCCESS)
		*result_out = end_block(address, NULL);
	return true;
}
