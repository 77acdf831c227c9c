/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Of served.h: blocks. Each is in the table by its address, with the pool that
 * the program named, and is taken out before it is freed.
 *
 * The stream of each thread has one number for all of them: a block that is
 * freed on it waits for an event of that thread's, so that none gets memory
 * that another's stream still uses.
 */
#include "served.h"
#include "store.h"

static bool is_default(CUstream stream)
{
	return stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

/* As the library has it, and the table. */
static void *name_of(CUstream stream)
{
	return stream == CU_STREAM_LEGACY ? NULL : stream;
}

/* ---- the table -------------------------------------------------------------
 */

static void widen(struct serveds *serveds, const struct block *block)
{
	uint64_t end = block->key + block->bytes;

	if (!serveds->first || block->key < serveds->first)
		serveds->first = block->key;
	if (end > serveds->end)
		serveds->end = end;
}

/* With the mutex. False: no memory. */
static bool insert(struct preload_state *state, const struct block *block)
{
	struct ledger *ledger = preload_ledger(state, LEDGER_CUDA);

	if (!ledger)
		return false;
	count_unused(&ledger->devices[block->device], -block->bytes);
	if (!count_insert(state, block)) {
		count_unused(&ledger->devices[block->device], block->bytes);
		return false;
	}
	count_kept(&ledger->devices[block->device]);
	state->serveds.devices[block->device].bytes += block->bytes;
	state->serveds.blocks++;
	widen(&state->serveds, block);
	named_take(state, named_by(state, block->link), block->bytes);
	return true;
}

void served_forget(struct preload_state *state, const struct block *block)
{
	struct block gone = *block;
	struct ledger_device *device =
		&state->ledgers[LEDGER_CUDA]->devices[gone.device];

	count_remove(state, &gone);
	count_unused(device, gone.bytes);
	count_kept(device);
	state->serveds.devices[gone.device].bytes -= gone.bytes;
	state->serveds.blocks--;
	named_give(named_by(state, gone.link), gone.bytes);
}

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

bool served_find(CUdeviceptr address, struct block *block_out)
{
	struct preload_state *state = preload_lock();
	const struct block *found = NULL;

	if (state->serveds.blocks && address >= state->serveds.first &&
	    address < state->serveds.end)
		found = blocks_around(&state->blocks, BLOCK_SERVED, address);
	if (found)
		*block_out = *found;
	preload_unlock(state);
	return found;
}

/* ---- allocation ------------------------------------------------------------
 */

struct request {
	size_t bytes;
	CUmemoryPool pool;
	CUstream stream;
	const void *context;
	int device;
};

/* Whether the stream and the pool are of the current context and its device. */
static bool is_served(struct request *request)
{
	CUcontext context;

	if (!served_is_on() ||
	    !count_where(&request->context, &request->device))
		return false;
	if (!is_default(request->stream) &&
	    (REAL(cuStreamGetCtx)(request->stream, &context) != CUDA_SUCCESS ||
	     context != request->context))
		return false;
	return request->pool ||
	       REAL(cuDeviceGetMemPool)(&request->pool, request->device) ==
		       CUDA_SUCCESS;
}

/* With the mutex: the block's row, if its pool may have so much. */
static bool prepare(struct preload_state *state, const struct request *request,
		    struct block *block, bool *full_out)
{
	const struct named_pool *name =
		named_on(state, request->pool, request->device);

	if (!name)
		return false;
	*full_out = name->most_bytes &&
		    (request->bytes > name->most_bytes ||
		     name->bytes > name->most_bytes - request->bytes);
	*block = (struct block){.bytes = request->bytes,
				.whole_bytes = request->bytes,
				.link = named_link(state, name),
				.stream = name_of(request->stream),
				.refs = ++state->serveds.number,
				.space = BLOCK_SERVED,
				.kind = LEDGER_ASYNC,
				.device = (uint8_t)request->device};
	return true;
}

/* There is no memory: the program's call has failed, once. */
static void failed(const struct block *block)
{
	struct preload_state *state;
	struct ledger *ledger;

	if (!served_was_refused()) {
		count_made(COUNT_NO_MEMORY, block);
		return;
	}
	state = preload_lock();
	ledger = preload_ledger(state, LEDGER_CUDA);
	if (ledger)
		count_refused(state, ledger, block);
	preload_unlock(state);
}

static bool is_no_memory(gpumem_status status)
{
	return status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT ||
	       status == GPUMEM_NO_HOST_MEMORY;
}

/* Inside. */
static gpumem_status take(struct served_device *served, struct block *block)
{
	struct preload_state *state;
	void *address;
	gpumem_status status;
	bool ok;

	(void)served_was_refused();
	status = served_gpumem.gpumem_alloc(served->pool, block->bytes,
					    (void *)(uintptr_t)block->stream,
					    &address);
	if (status != GPUMEM_OK)
		return status;
	block->key = (uintptr_t)address;
	state = preload_lock();
	ok = insert(state, block);
	if (ok)
		count_one(&state->ledgers[LEDGER_CUDA]
				   ->devices[block->device]
				   .pool.served);
	preload_unlock(state);
	if (ok)
		return GPUMEM_OK;
	GPUMEM_IGNORE(served_gpumem.gpumem_free_own(address));
	return GPUMEM_UNSUPPORTED;
}

/* False: the driver is to do it, and to say what is wrong. */
static bool serve(const struct request *request, struct block *block)
{
	struct served_device *served = served_begin_open(request->device);
	gpumem_status status = GPUMEM_UNSUPPORTED;

	if (!served)
		return false;
	if (served->context == request->context)
		status = take(served, block);
	served_end();
	if (is_no_memory(status))
		failed(block);
	return status == GPUMEM_OK || is_no_memory(status);
}

bool served_alloc(CUdeviceptr *address_out, size_t bytes, CUmemoryPool pool,
		  CUstream stream, CUresult *result_out)
{
	struct request request = {
		.bytes = bytes, .pool = pool, .stream = stream};
	struct preload_state *state;
	struct block block;
	bool known, full;

	if (!address_out || !bytes || !is_served(&request))
		return false;
	state = preload_lock();
	known = prepare(state, &request, &block, &full);
	preload_unlock(state);
	if (!known)
		return false;
	if (full)
		failed(&block);
	else if (!serve(&request, &block))
		return false;
	*result_out = block.key ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	if (block.key)
		*address_out = block.key;
	return true;
}

/* ---- free ------------------------------------------------------------------
 */

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
	return served_gpumem.gpumem_free(address, name_of(stream));
}

/* Whose stream it is. */
static CUresult context_of(CUstream stream, CUcontext *context_out)
{
	CUresult result = is_default(stream)
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

	if (!insert(state, block))
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
