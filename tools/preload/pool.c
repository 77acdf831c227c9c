/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See pool.h. The driver's own cuMemFree() waits for the device, so it is
 * called without the mutex; what else is asked of the driver here does not
 * wait.
 */
#include "pool.h"
#include "served.h"
#include "store.h"

#define SLACK_BYTES ((uint64_t)32 << 20)
#define STALE_FREES 4096 /* of its device, since a block was freed */

/* Whether blocks are kept and handed out now. */
static bool is_on(const struct preload_state *state)
{
	return !state->ending && !preload_stopped();
}

/* How often the program freed what is kept of that device. */
static uint64_t frees_of(const struct preload_state *state, int device)
{
	return state->ledgers[LEDGER_CUDA]
		->devices[device]
		.kinds[LEDGER_ALLOC]
		.frees;
}

/* ---- giving back -----------------------------------------------------------
 */

/* With the mutex, which it releases while the driver frees. No context ends
 * meanwhile: its blocks would be another's. */
static void free_block(struct preload_state *state, const struct cached *block)
{
	struct visit visit;
	bool ok;

	state->returning++;
	state->in_flight[LEDGER_CUDA][block->device] += block->bytes;
	preload_unlock(state);
	visit_begin(&visit);
	ok = visit_context(&visit, block->context) &&
	     REAL(cuMemFree_v2)(block->address) == CUDA_SUCCESS;
	visit_end(&visit);
	if (!ok)
		preload_note(LEDGER_CUDA, LEDGER_UNTRACKED);
	(void)preload_lock();
	state->in_flight[LEDGER_CUDA][block->device] -= block->bytes;
	if (!--state->returning)
		pthread_cond_broadcast(&state->returned);
}

/* With the mutex, as free_block(). The program has freed it before: a capture
 * that goes on now is not to end by it. */
static void give_back(struct preload_state *state, const struct cached *block)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	(void)REAL(cuThreadExchangeStreamCaptureMode)(&mode);
	free_block(state, block);
	(void)REAL(cuThreadExchangeStreamCaptureMode)(&mode);
}

uint64_t pool_return_oldest(struct preload_state *state, int device)
{
	struct cached block;

	if (!store_take_oldest(state, device, &block))
		return 0;
	give_back(state, &block);
	return block.bytes;
}

static bool is_too_much(struct preload_state *state, int device)
{
	const struct ledger_device *counts =
		&state->ledgers[LEDGER_CUDA]->devices[device];
	uint64_t stamp;

	if (!store_oldest(state, device, &stamp))
		return false;
	return preload_stopped() || state->tight[device] ||
	       limit_passed(state, LEDGER_CUDA, device) ||
	       frees_of(state, device) - stamp > STALE_FREES ||
	       counts->reserved_bytes > counts->peak_bytes +
						counts->peak_bytes / 32 +
						SLACK_BYTES;
}

/* Gives back to the driver what is too much. */
static void trim(struct preload_state *state, int device)
{
	while (is_too_much(state, device) &&
	       pool_return_oldest(state, device) != 0)
		continue;
	state->tight[device] = false;
}

uint64_t pool_return_all(int device)
{
	struct preload_state *state = preload_lock();
	uint64_t bytes, sum = 0;

	while ((bytes = pool_return_oldest(state, device)) != 0)
		sum += bytes;
	preload_unlock(state);
	return sum;
}

uint64_t pool_empty(int device)
{
	return pool_return_all(device) + served_trim(device, 0);
}

bool pool_relieve(CUresult result)
{
	const void *context;
	int device;

	return result == CUDA_ERROR_OUT_OF_MEMORY &&
	       count_where(&context, &device) && pool_empty(device) != 0;
}

uint64_t pool_kept(void)
{
	struct preload_state *state;
	const void *context;
	uint64_t bytes = 0;
	int device;

	if (!count_where(&context, &device))
		return 0;
	state = preload_lock();
	if (state->ledgers[LEDGER_CUDA])
		bytes = state->ledgers[LEDGER_CUDA]
				->devices[device]
				.pool.current_bytes;
	preload_unlock(state);
	return bytes;
}

/* ---- allocation ------------------------------------------------------------
 */

/* Takes one that nothing uses any more; false: there is none. */
static bool take(struct preload_state *state, const void *context, int device,
		 uint64_t bytes, struct cached *block_out)
{
	struct visit visit;
	bool found;

	visit_begin(&visit);
	/* Whoever allocates while a stream is captured, or after a kernel
	 * failed, hears of it from the driver. */
	found = epoch_quiet(&state->epochs, &visit, false) &&
		store_take(state, context, device, bytes, cache_limit(bytes),
			   epoch_done(&state->epochs, &visit), block_out);
	visit_end(&visit);
	return found;
}

/* With the mutex. */
static bool alloc(struct preload_state *state, const void *context, int device,
		  size_t bytes, struct cached *block_out)
{
	struct block block;

	epoch_add_context(&state->epochs, context);
	if (!cache_oldest(&state->cache, device) ||
	    !take(state, context, device, bytes, block_out))
		return false;
	block = (struct block){.key = block_out->address,
			       .bytes = bytes,
			       .whole_bytes = block_out->bytes,
			       .context = context,
			       .space = BLOCK_ADDRESS,
			       .kind = LEDGER_ALLOC,
			       .device = (uint8_t)device};
	if (!count_insert(state, &block)) {
		(void)store_add(state, block_out);
		return false;
	}
	count_one(&state->ledgers[LEDGER_CUDA]->devices[device].pool.hits);
	return true;
}

bool pool_alloc(CUdeviceptr *address_out, size_t bytes)
{
	struct preload_state *state;
	struct cached block;
	const void *context;
	bool ok;
	int device;

	if (!address_out || !bytes || !preload_pooling() ||
	    !count_where(&context, &device))
		return false;
	state = preload_lock();
	ok = is_on(state) && alloc(state, context, device, bytes, &block);
	preload_unlock(state);
	if (ok)
		*address_out = block.address;
	return ok;
}

void pool_missed(void)
{
	struct preload_state *state;
	size_t free_bytes, bytes;
	const void *context;
	int device;
	bool known;

	if (!preload_pooling() || !count_where(&context, &device))
		return;
	known = REAL(cuMemGetInfo_v2)(&free_bytes, &bytes) == CUDA_SUCCESS;
	state = preload_lock();
	if (is_on(state) && state->ledgers[LEDGER_CUDA]) {
		count_one(&state->ledgers[LEDGER_CUDA]
				   ->devices[device]
				   .pool.misses);
		/* The driver needs some for modules and launches. */
		state->tight[device] = known && free_bytes < bytes / 64;
	}
	preload_unlock(state);
}

/* ---- free ------------------------------------------------------------------
 */

static bool is_quiet(struct preload_state *state, struct visit *visit)
{
	return (!visit->own || epoch_knows(&state->epochs, visit->own)) &&
	       epoch_quiet(&state->epochs, visit, true);
}

/* Begins an epoch with a free; 0: it cannot be known when it is over. */
static uint64_t begin_epoch(struct preload_state *state)
{
	struct visit visit;
	uint64_t epoch = 0;

	visit_begin(&visit);
	/* An event that is recorded in a captured stream would be a part of
	 * its graph, also where a function that is not known began it. */
	if (is_quiet(state, &visit))
		epoch = epoch_begin(&state->epochs, &visit);
	visit_end(&visit);
	return epoch;
}

static bool keep(struct preload_state *state, const struct block *block)
{
	struct cached cached = {.address = block->key,
				.bytes = block->whole_bytes,
				.context = block->context,
				.stamp = frees_of(state, block->device),
				.device = block->device};

	cached.epoch = begin_epoch(state);
	if (!cached.epoch || !store_add(state, &cached))
		return false;
	count_remove(state, block);
	return true;
}

bool pool_free(CUdeviceptr address, CUresult *result_out)
{
	struct preload_state *state;
	const struct block *found;
	struct block block;
	bool ok = false;

	if (!preload_pooling())
		return false;
	state = preload_lock();
	found = blocks_find(&state->blocks, BLOCK_ADDRESS, address);
	if (found && found->kind == LEDGER_ALLOC && !found->known &&
	    is_on(state)) {
		block = *found;
		ok = keep(state, &block);
	}
	if (ok || (found && preload_stopped()))
		trim(state, ok ? block.device : found->device);
	*result_out = CUDA_SUCCESS;
	if (!found && blocks_find(&state->blocks, BLOCK_KEPT, address)) {
		*result_out = CUDA_ERROR_INVALID_VALUE;
		ok = true;
	}
	preload_unlock(state);
	return ok;
}

bool pool_expose(CUdeviceptr address)
{
	struct preload_state *state = preload_lock();
	struct block *block =
		blocks_around(&state->blocks, BLOCK_ADDRESS, address);
	bool gone =
		!block && blocks_around(&state->blocks, BLOCK_KEPT, address);

	if (block)
		block->known = true;
	preload_unlock(state);
	return !gone;
}
