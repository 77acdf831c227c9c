/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See whole_inside.h: the table, and what is said to the driver later than the
 * program said it.
 */
#include "whole_inside.h"

__thread struct whole_own whole_own __attribute__((tls_model("initial-exec")));

/* ---- the table -------------------------------------------------------------
 */

struct block *whole_by_handle(struct preload_state *state, uint64_t handle)
{
	return handle ? blocks_find(&state->blocks, BLOCK_WHOLE, handle) : NULL;
}

struct block *whole_by_address(struct preload_state *state, uint64_t address)
{
	struct block *range = blocks_find(&state->blocks, BLOCK_RANGE, address);

	return range ? whole_by_handle(state, range->link) : NULL;
}

void whole_forget(struct preload_state *state, const struct block *whole)
{
	uint64_t handle = whole->key, address = whole->link;
	struct block gone;

	if (whole_own.handle == handle)
		whole_own.handle = 0;
	(void)blocks_take(&state->blocks, BLOCK_WHOLE, handle, &gone);
	if (address)
		(void)blocks_take(&state->blocks, BLOCK_RANGE, address, &gone);
}

/* It has an address now. False: no memory. */
bool whole_add_range(struct preload_state *state, uint64_t handle,
		     uint64_t address, uint64_t bytes)
{
	struct block range = {.key = address,
			      .bytes = bytes,
			      .whole_bytes = bytes,
			      .link = handle,
			      .space = BLOCK_RANGE};
	struct block *whole;

	if (!blocks_put(&state->blocks, &range))
		return false;
	whole = whole_by_handle(state, handle);
	whole->link = address;
	return true;
}

/* ---- what the driver was not told -------------------------------------------
 */

static void check(CUresult result, bool *ok)
{
	*ok = *ok && result == CUDA_SUCCESS;
}

/* The driver makes up for it, and the whole is none any more. */
void whole_settle(struct preload_state *state, const struct block *whole)
{
	uint64_t address = whole->link, handle = whole->key;
	size_t bytes = whole->bytes;
	unsigned at = whole->kind;
	bool ok = true;

	if (at >= WHOLE_UNMAPPED) {
		check(REAL(cuMemUnmap)(address, bytes), &ok);
		state->wholes.off = true;
		for (int i = 0; i < LEDGER_DEVICES; i++)
			state->tight[i] = true;
	}
	if (at == WHOLE_RELEASED) {
		check(REAL(cuMemRelease)(handle), &ok);
		state->in_flight[LEDGER_CUDA]
				[whole_kind_of(whole)->prop.location.id] -=
			whole->whole_bytes;
	}
	if (at == WHOLE_CREATED_AGAIN)
		check(REAL(cuMemAddressFree)(address, bytes), &ok);
	if (at == WHOLE_MAPPED_AGAIN)
		check(REAL(cuMemMap)(address, bytes, 0, handle, 0), &ok);
	if (!ok)
		preload_note_locked(state, LEDGER_CUDA, LEDGER_UNTRACKED);
	whole_forget(state, whole);
}

void whole_return(struct preload_state *state, const struct cached *block)
{
	bool ok = true;

	check(REAL(cuMemUnmap)(block->address, block->bytes), &ok);
	check(REAL(cuMemRelease)(block->handle), &ok);
	check(REAL(cuMemAddressFree)(block->address, block->bytes), &ok);
	if (!ok)
		preload_note_locked(state, LEDGER_CUDA, LEDGER_UNTRACKED);
}

/* With the mutex. */
void whole_other(struct preload_state *state)
{
	struct block *whole = whole_by_handle(state, whole_own.handle);

	/* The program keeps addresses of memory that it released. */
	if (whole_own.gone && whole_own.released)
		state->wholes.off = true;
	whole_own.gone = 0;
	if (whole && whole->kind != WHOLE_LIVE)
		whole_settle(state, whole);
	whole_own.handle = 0;
}

void whole_other_call(void)
{
	struct preload_state *state;

	if (!whole_own.handle && !whole_own.gone)
		return;
	state = preload_lock();
	whole_other(state);
	preload_unlock(state);
}

/* The one that this thread is at work on, if it is in that state. */
struct block *whole_own_at(struct preload_state *state, enum whole_state at)
{
	struct block *whole = whole_by_handle(state, whole_own.handle);

	return whole && whole->kind == at ? whole : NULL;
}

void whole_touch(struct preload_state *state, struct block *whole)
{
	if (whole && whole->kind == WHOLE_LIVE)
		whole->known = true;
	else if (whole)
		whole_settle(state, whole);
}

void whole_expose(struct preload_state *state, CUdeviceptr address)
{
	const struct block *range =
		blocks_around(&state->blocks, BLOCK_RANGE, address);

	if (range)
		whole_touch(state, whole_by_handle(state, range->link));
}

bool whole_expose_handle(CUmemGenericAllocationHandle handle)
{
	struct preload_state *state = preload_lock();
	CUresult result;
	bool gone;

	whole_other(state);
	whole_touch(state, whole_by_handle(state, handle));
	gone = whole_is_kept(state, BLOCK_KEPT_HANDLE, handle, &result);
	preload_unlock(state);
	return !gone;
}

bool whole_is_kept(const struct preload_state *state, enum block_space space,
		   uint64_t key, CUresult *result_out)
{
	*result_out = CUDA_ERROR_INVALID_VALUE;
	return blocks_find(&state->blocks, space, key);
}

void whole_stop(void)
{
	struct preload_state *state = preload_lock();

	state->wholes.off = true;
	preload_unlock(state);
}
