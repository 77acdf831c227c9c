/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See count.h. A block's bytes are in the ledger while it is in the table or
 * the cache, exactly: both change under the mutex of the state. A pooled block
 * is in what is kept, and in no kind: what it serves is.
 */
#include "count.h"
#include "limit.h"

#include <stdatomic.h>

static void add(_Atomic uint64_t *value, uint64_t more)
{
	atomic_store(value, atomic_load(value) + more);
}

static void raise_peak(_Atomic uint64_t *peak, uint64_t value)
{
	if (value > atomic_load(peak))
		atomic_store(peak, value);
}

bool count_is_on_device(unsigned kind)
{
	static const bool kinds[LEDGER_KINDS] = {
#define ON_DEVICE(name, key, text, on_device) on_device,
		LEDGER_KIND_LIST(ON_DEVICE)
#undef ON_DEVICE
	};

	return kinds[kind];
}

enum ledger_api count_api(const struct block *block)
{
	return block->space >= BLOCK_HIP ? LEDGER_HIP : LEDGER_CUDA;
}

/* It has been charged, so there is one. */
static struct ledger *ledger_of(const struct preload_state *state,
				const struct block *block)
{
	return state->ledgers[count_api(block)];
}

void count_cached(struct ledger_device *device, uint64_t bytes)
{
	add(&device->pool.current_bytes, bytes);
	raise_peak(&device->pool.peak_bytes, device->pool.current_bytes);
	add(&device->reserved_bytes, bytes);
}

void count_uncached(struct ledger_device *device, uint64_t bytes)
{
	add(&device->pool.current_bytes, -bytes);
	add(&device->reserved_bytes, -bytes);
}

void count_unused(struct ledger_device *device, uint64_t more)
{
	add(&device->pool.unused_bytes, more);
	add(&device->pool.current_bytes, more);
	add(&device->reserved_bytes, more);
	raise_peak(&device->reserved_peak_bytes, device->reserved_bytes);
}

void count_kept(struct ledger_device *device)
{
	raise_peak(&device->pool.peak_bytes, device->pool.current_bytes);
}

void count_one(_Atomic uint64_t *value)
{
	add(value, 1);
}

static void charge(struct ledger *ledger, const struct block *block)
{
	struct ledger_device *device = &ledger->devices[block->device];
	struct ledger_counts *counts = &device->kinds[block->kind];

	if (block->pooled) {
		count_unused(device, block->whole_bytes);
		return;
	}
	add(&counts->current_bytes, block->bytes);
	raise_peak(&counts->peak_bytes, counts->current_bytes);
	if (!count_is_on_device(block->kind))
		return;
	add(&device->current_bytes, block->bytes);
	raise_peak(&device->peak_bytes, device->current_bytes);
	add(&device->reserved_bytes, block->whole_bytes);
	raise_peak(&device->reserved_peak_bytes, device->reserved_bytes);
}

static void discharge(struct preload_state *state, struct block *block)
{
	struct ledger_device *device =
		&ledger_of(state, block)->devices[block->device];

	if (block->pooled) {
		count_unused(device, -block->whole_bytes);
		return;
	}
	recorder_stamp(&state->recorder, block);
	add(&device->kinds[block->kind].current_bytes, -block->bytes);
	if (!count_is_on_device(block->kind))
		return;
	add(&device->current_bytes, -block->bytes);
	add(&device->reserved_bytes, -block->whole_bytes);
}

bool count_is_device(int device)
{
	return device >= 0 && device < LEDGER_DEVICES;
}

bool count_insert(struct preload_state *state, const struct block *block)
{
	struct ledger *ledger = preload_ledger(state, count_api(block));

	if (!ledger || !blocks_put(&state->blocks, block))
		return false;
	charge(ledger, block);
	if (block->pooled)
		return true;
	add(&ledger->devices[block->device].kinds[block->kind].allocs, 1);
	recorder_alloc(&state->recorder, ledger,
		       blocks_find(&state->blocks, block->space, block->key));
	return true;
}

/* A block that was discharged is free now. */
static void freed(struct preload_state *state, const struct block *block)
{
	if (block->pooled)
		return;
	add(&ledger_of(state, block)
		     ->devices[block->device]
		     .kinds[block->kind]
		     .frees,
	    1);
	recorder_free(&state->recorder, block);
}

void count_remove(struct preload_state *state, const struct block *block)
{
	struct block gone;

	if (!blocks_take(&state->blocks, block->space, block->key, &gone))
		return;
	discharge(state, &gone);
	freed(state, &gone);
}

void count_refused(struct preload_state *state, struct ledger *ledger,
		   const struct block *block)
{
	if (block->pooled)
		return;
	count_one(&ledger->devices[block->device].kinds[block->kind].failures);
	count_one(&ledger->devices[block->device].refused);
	recorder_oom(&state->recorder, ledger, block, true);
}

static void failed(int result, const struct block *block)
{
	struct preload_state *state = preload_lock();
	struct ledger *ledger =
		block->pooled ? NULL : preload_ledger(state, count_api(block));

	if (ledger)
		count_one(&ledger->devices[block->device]
				   .kinds[block->kind]
				   .failures);
	if (ledger && result == COUNT_NO_MEMORY)
		recorder_oom(&state->recorder, ledger, block, false);
	limit_end(state);
	preload_unlock(state);
}

void count_made(int result, const struct block *block)
{
	struct preload_state *state;
	bool ok;

	if (result != COUNT_SUCCESS) {
		failed(result, block);
		return;
	}
	if (!block->key) {
		limit_leave(); /* nothing was asked for */
		return;
	}
	state = preload_lock();
	ok = count_insert(state, block);
	limit_end(state);
	preload_unlock(state);
	if (!ok)
		preload_note(count_api(block), LEDGER_UNTRACKED);
}

void count_alloc_on(int result, enum ledger_kind kind, int device,
		    enum block_space space, uint64_t key, uint64_t bytes)
{
	if (count_is_device(device))
		count_made(result, &(struct block){.key = key,
						   .bytes = bytes,
						   .whole_bytes = bytes,
						   .refs = 1,
						   .space = (uint8_t)space,
						   .kind = (uint8_t)kind,
						   .device = (uint8_t)device});
}

void count_untracked(enum ledger_api api)
{
	struct preload_state *state = preload_lock();

	(void)preload_ledger(state, api);
	preload_note_locked(state, api, LEDGER_UNTRACKED);
	preload_unlock(state);
}

bool count_take(enum block_space space, uint64_t key, struct block *block)
{
	struct preload_state *state = preload_lock();
	bool known = blocks_take(&state->blocks, space, key, block);

	if (known) {
		discharge(state, block);
		limit_take(state, block);
	} else {
		*block = (struct block){.space = (uint8_t)space};
	}
	preload_unlock(state);
	return known;
}

void count_free(int result, const struct block *block)
{
	struct preload_state *state;

	if (!block->key) {
		if (result == COUNT_SUCCESS)
			preload_note(count_api(block), LEDGER_UNKNOWN);
		return;
	}
	state = preload_lock();
	if (result == COUNT_SUCCESS)
		freed(state, block);
	else if (blocks_put(&state->blocks, block))
		charge(ledger_of(state, block), block);
	limit_end(state);
	preload_unlock(state);
}

void count_context_gone(struct preload_state *state, const void *context)
{
	struct block block;

	while (blocks_take_of(&state->blocks, context, &block)) {
		discharge(state, &block);
		freed(state, &block);
	}
}
