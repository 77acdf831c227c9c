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

bool served_insert(struct preload_state *state, const struct block *block)
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
	if (!served_is_default(request->stream) &&
	    (REAL(cuStreamGetCtx)(request->stream, &context) != CUDA_SUCCESS ||
	     context != request->context))
		return false;
	return request->pool ||
	       REAL(cuDeviceGetMemPool)(&request->pool, request->device) ==
		       CUDA_SUCCESS;
}

/* With the mutex: the block's row, and its pool has promised it, if that may
 * have so much. */
static bool prepare(struct preload_state *state, const struct request *request,
		    struct block *block, bool *full_out)
{
	struct named_pool *name =
		named_on(state, request->pool, request->device);

	if (!name)
		return false;
	*full_out = !named_promise(name, request->bytes);
	*block = (struct block){.bytes = request->bytes,
				.whole_bytes = request->bytes,
				.link = named_link(state, name),
				.stream = served_stream(request->stream),
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
	ok = served_insert(state, block);
	if (ok) {
		named_settle(named_by(state, block->link), block->bytes);
		count_one(&state->ledgers[LEDGER_CUDA]
				   ->devices[block->device]
				   .pool.served);
	}
	preload_unlock(state);
	if (ok)
		return GPUMEM_OK;
	GPUMEM_IGNORE(served_gpumem.gpumem_free_own(address));
	return GPUMEM_UNSUPPORTED;
}

static void break_promise(const struct block *block)
{
	struct preload_state *state = preload_lock();

	named_settle(named_by(state, block->link), block->bytes);
	preload_unlock(state);
}

/* False: the driver is to do it, and to say what is wrong. */
static bool serve(const struct request *request, struct block *block)
{
	struct served_device *served = served_begin_open(request->device);
	gpumem_status status = GPUMEM_UNSUPPORTED;

	if (served && served->context == request->context)
		status = take(served, block);
	if (served)
		served_end();
	if (status != GPUMEM_OK)
		break_promise(block);
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
