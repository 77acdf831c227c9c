/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See whole.h: how a whole is taken apart, and kept.
 */
#include "whole_inside.h"

/* From that whole on the driver knows nothing of it. */
static bool unmap_later(struct preload_state *state, struct block *whole)
{
	if (!state->wholes.learned || state->wholes.off || !pool_is_on(state) ||
	    !state->ledgers[LEDGER_CUDA] || !pool_quiet(state))
		return false;
	whole->kind = WHOLE_UNMAPPED;
	whole_own.handle = whole->key;
	return true;
}

/* Of a whole by the driver. */
static void unmap_now(struct preload_state *state, const struct block *whole)
{
	whole_own = (struct whole_own){.gone = whole->link,
				       .gone_handle = whole->key};
	whole_forget(state, whole);
}

bool whole_unmap(CUdeviceptr address, size_t bytes, CUresult *result_out)
{
	struct preload_state *state = preload_lock();
	struct block *whole;
	bool ok;

	whole_other(state);
	whole = whole_by_address(state, address);
	if (whole && whole->kind == WHOLE_LIVE && whole->bytes == bytes &&
	    !whole->known) {
		ok = unmap_later(state, whole);
		*result_out = CUDA_SUCCESS;
		if (!ok)
			unmap_now(state, whole);
	} else {
		whole_expose(state, address);
		ok = whole_is_kept(state, BLOCK_KEPT, address, result_out);
	}
	preload_unlock(state);
	return ok;
}

/* Not by who takes it apart. */
static void release_other(struct preload_state *state, uint64_t handle)
{
	struct block *whole;

	whole_other(state);
	whole = whole_by_handle(state, handle);
	if (whole && whole->kind == WHOLE_LIVE)
		whole_forget(state, whole);
	else
		whole_touch(state, whole);
}

bool whole_release(CUmemGenericAllocationHandle handle, CUresult *result_out)
{
	struct preload_state *state = preload_lock();
	struct block *whole = whole_own_at(state, WHOLE_UNMAPPED);
	bool ok = whole && whole->key == handle;

	if (ok) {
		whole->kind = WHOLE_RELEASED;
		*result_out = CUDA_SUCCESS;
	} else if (whole_own.gone && whole_own.gone_handle == handle &&
		   !whole_own.released) {
		whole_own.released = true;
	} else {
		release_other(state, handle);
		ok = whole_is_kept(state, BLOCK_KEPT_HANDLE, handle,
				   result_out);
	}
	preload_unlock(state);
	return ok;
}

void whole_released(void)
{
	struct preload_state *state = preload_lock();
	struct block *whole = whole_own_at(state, WHOLE_RELEASED);

	if (whole)
		whole->whole_bytes = limit_hand_over();
	else
		limit_end(state);
	preload_unlock(state);
}

/* False: the driver is to free its addresses. */
static bool keep(struct preload_state *state, const struct block *whole)
{
	int device = whole_kind_of(whole)->prop.location.id;
	struct cached kept = {.address = whole->link,
			      .bytes = whole->bytes,
			      .handle = whole->key,
			      .context = whole->context,
			      .device = device};

	kept.stamp = pool_frees(state, device);
	if (!store_add(state, &kept)) {
		whole_settle(state, whole);
		return false;
	}
	state->in_flight[LEDGER_CUDA][device] -= whole->whole_bytes;
	whole_forget(state, whole);
	pool_trim(state, device);
	return true;
}

/* What was kept, if nothing is any more. */
static void trim_all(struct preload_state *state)
{
	if (!state->ledgers[LEDGER_CUDA] ||
	    (!state->wholes.off && !preload_stopped()))
		return;
	for (int i = 0; i < LEDGER_DEVICES; i++)
		pool_trim(state, i);
}

bool whole_free(CUdeviceptr address, size_t bytes, CUresult *result_out)
{
	struct preload_state *state = preload_lock();
	struct block *whole = whole_own_at(state, WHOLE_RELEASED);
	bool ok = whole_goes_on(whole, address, bytes);

	if (ok) {
		*result_out = CUDA_SUCCESS;
		ok = keep(state, whole);
	} else if (whole_own.gone == address && whole_own.released) {
		state->wholes.learned = true;
		whole_own.gone = 0;
	} else {
		whole_other(state);
		whole_touch(state, whole_by_address(state, address));
		ok = whole_is_kept(state, BLOCK_KEPT, address, result_out);
	}
	trim_all(state);
	preload_unlock(state);
	return ok;
}
