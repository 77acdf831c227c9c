/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See segment.h. The driver is called without the mutex where it waits. A block
 * of the table whose `link` is not 0 is a part of that number.
 */
#include "segment.h"
#include "store.h"

/* NCCL tries whether a block of so much can be shared with another process, and
 * all processes have to find the same: it is always a whole one. */
#define TRIED_BYTES ((size_t)2 << 20)

/* Whether some part may be the answer. */
static bool is_wanted(const CUdeviceptr *address_out, size_t bytes)
{
	return address_out && bytes && bytes != TRIED_BYTES &&
	       !preload_parts_ended();
}

static struct ledger_device *counts_of(struct preload_state *state, int device)
{
	return &state->ledgers[LEDGER_CUDA]->devices[device];
}

/* ---- allocation ------------------------------------------------------------
 */

/* With the mutex: a part that was taken is the program's. */
static bool hand_out(struct preload_state *state, uint32_t number, size_t bytes,
		     CUdeviceptr *address_out)
{
	const struct part *part = parts_at(&state->parts, number);
	const struct segment *segment = parts_segment_of(&state->parts, number);
	struct ledger_device *counts = counts_of(state, segment->device);
	struct block block = {.key = part->address,
			      .bytes = bytes,
			      .whole_bytes = part->bytes,
			      .link = number,
			      .context = segment->context,
			      .space = BLOCK_ADDRESS,
			      .kind = LEDGER_ALLOC,
			      .device = segment->device};

	count_uncached(counts, block.whole_bytes);
	if (!count_insert(state, &block)) {
		count_cached(counts, block.whole_bytes);
		parts_give(&state->parts, number, 0,
			   pool_frees(state, block.device));
		return false;
	}
	count_one(&counts->pool.parts);
	*address_out = block.key;
	return true;
}

/* With the mutex. */
static bool take(struct preload_state *state, size_t bytes,
		 CUdeviceptr *address_out)
{
	const void *context;
	struct visit visit;
	uint32_t number = 0;
	int device;

	if (!pool_is_on(state) || !state->parts.segment_count ||
	    !count_where(&context, &device))
		return false;
	epoch_add_context(&state->epochs, context);
	visit_begin(&visit);
	if (epoch_quiet(&state->epochs, &visit, false))
		number = parts_take(&state->parts, context, device, bytes,
				    epoch_done(&state->epochs, &visit));
	visit_end(&visit);
	if (!number || !hand_out(state, number, bytes, address_out))
		return false;
	count_one(&counts_of(state, device)->pool.hits);
	return true;
}

bool segment_take(CUdeviceptr *address_out, size_t bytes)
{
	struct preload_state *state;
	bool ok;

	if (!preload_parts() || !is_wanted(address_out, bytes))
		return false;
	state = preload_lock();
	ok = take(state, bytes, address_out);
	preload_unlock(state);
	return ok;
}

/* With the mutex: the driver has made it. */
static bool add(struct preload_state *state, const struct cached *segment,
		size_t bytes, CUdeviceptr *address_out)
{
	uint32_t number;

	if (!preload_ledger(state, LEDGER_CUDA))
		return false;
	number = parts_add(&state->parts, segment, bytes);
	if (!number)
		return false;
	count_cached(counts_of(state, segment->device), segment->bytes);
	return hand_out(state, number, bytes, address_out);
}

static bool may_make(const void *context)
{
	struct preload_state *state = preload_lock();
	bool ok = pool_is_on(state);

	if (ok)
		epoch_add_context(&state->epochs, context);
	ok = ok && pool_quiet(state);
	preload_unlock(state);
	return ok;
}

/* With that in flight. False: it has not so much, or it could not be followed.
 */
static bool make(struct cached *segment, size_t bytes, CUdeviceptr *address_out,
		 CUresult *result_out)
{
	struct preload_state *state;
	CUdeviceptr address = 0;
	bool ok;

	*result_out = REAL(cuMemAlloc_v2)(&address, segment->bytes);
	if (*result_out == CUDA_ERROR_OUT_OF_MEMORY) {
		limit_leave();
		return false;
	}
	if (*result_out != CUDA_SUCCESS) {
		count_alloc(*result_out, BLOCK_ADDRESS, LEDGER_ALLOC, 0, bytes,
			    NULL);
		return true;
	}
	segment->address = address;
	state = preload_lock();
	ok = add(state, segment, bytes, address_out);
	limit_end(state);
	if (!ok && !parts_around(&state->parts, address))
		preload_note_locked(state, LEDGER_CUDA, LEDGER_UNTRACKED);
	preload_unlock(state);
	return ok;
}

bool segment_make(CUdeviceptr *address_out, size_t bytes, CUresult *result_out)
{
	struct cached segment = {.bytes = parts_segment_bytes(bytes)};

	if (!is_wanted(address_out, bytes) || !segment.bytes ||
	    !preload_find_parts() ||
	    !count_where(&segment.context, &segment.device) ||
	    !may_make(segment.context) ||
	    !limit_try(segment.device, segment.bytes) ||
	    !make(&segment, bytes, address_out, result_out))
		return false;
	if (*result_out == CUDA_SUCCESS)
		pool_missed();
	return true;
}

/* ---- waiting ---------------------------------------------------------------
 */

/* With the mutex, which it releases meanwhile; no context ends. */
static void wait_for_all(struct preload_state *state)
{
	const void *contexts[EPOCH_LANES];
	unsigned count = epoch_contexts(&state->epochs, contexts);
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	struct visit visit;

	state->returning++;
	preload_unlock(state);
	/* A capture that begins meanwhile is not to end by it. */
	(void)REAL(cuThreadExchangeStreamCaptureMode)(&mode);
	visit_begin(&visit);
	for (unsigned i = 0; i < count; i++)
		if (visit_context(&visit, contexts[i]))
			(void)REAL(cuCtxSynchronize)();
	visit_end(&visit);
	(void)REAL(cuThreadExchangeStreamCaptureMode)(&mode);
	(void)preload_lock();
	if (!--state->returning)
		pthread_cond_broadcast(&state->returned);
}

/* With the mutex. */
static bool would_help(struct preload_state *state, size_t bytes)
{
	const void *context;
	uint64_t epoch;
	int device;

	if (!pool_is_on(state) || !count_where(&context, &device) ||
	    !parts_find(&state->parts, context, device, bytes, PARTS_NOT_YET))
		return false;
	epoch = pool_epoch(state);
	if (epoch)
		parts_begin(&state->parts, epoch);
	return epoch;
}

bool segment_wait(CUdeviceptr *address_out, size_t bytes)
{
	struct preload_state *state;
	bool ok;

	if (!preload_parts() || !is_wanted(address_out, bytes))
		return false;
	state = preload_lock();
	ok = would_help(state, bytes);
	if (ok)
		wait_for_all(state);
	ok = ok && take(state, bytes, address_out);
	preload_unlock(state);
	return ok;
}

/* ---- free ------------------------------------------------------------------
 */

/* With the mutex, which it releases while the driver is asked whether it would
 * free now: it says so of no block at all. A thread that has no context frees
 * blocks nevertheless. */
static CUresult ask(struct preload_state *state, const struct block *block)
{
	CUresult result = CUDA_SUCCESS;
	const struct block *found;
	CUcontext current = NULL;

	preload_unlock(state);
	(void)REAL(cuCtxGetCurrent)(&current);
	if (current)
		result = REAL(cuMemFree_v2)(0);
	(void)preload_lock();
	found = blocks_find(&state->blocks, BLOCK_ADDRESS, block->key);
	if (result == CUDA_SUCCESS && (!found || found->link != block->link))
		result = CUDA_ERROR_INVALID_VALUE;
	return result;
}

/* With the mutex. */
static CUresult free_part(struct preload_state *state,
			  const struct block *block)
{
	uint64_t epoch = pool_is_on(state) ? pool_epoch(state) : 0;
	CUresult result = epoch ? CUDA_SUCCESS : ask(state, block);

	if (result != CUDA_SUCCESS)
		return result;
	if (epoch)
		parts_begin(&state->parts, epoch);
	else
		epoch = PARTS_NOT_YET;
	count_remove(state, block);
	count_cached(counts_of(state, block->device), block->whole_bytes);
	parts_give(&state->parts, (uint32_t)block->link, epoch,
		   pool_frees(state, block->device));
	pool_trim(state, block->device);
	return CUDA_SUCCESS;
}

bool segment_free(CUdeviceptr address, CUresult *result_out)
{
	const struct block *found;
	struct preload_state *state;
	struct block block;
	bool ours;

	if (!preload_parts())
		return false;
	state = preload_lock();
	found = blocks_find(&state->blocks, BLOCK_ADDRESS, address);
	if (found) {
		block = *found;
		ours = block.link;
		if (ours)
			*result_out = free_part(state, &block);
	} else {
		ours = parts_around(&state->parts, address);
		*result_out = CUDA_ERROR_INVALID_VALUE;
	}
	preload_unlock(state);
	return ours;
}
