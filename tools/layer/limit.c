/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The limit: of each device, at every instant and however many threads
 * allocate,
 *
 *	current_bytes + in_flight <= limit
 *
 * with the figure of the ledger, under the mutex of the state. What is in
 *flight is in no figure, but an implementation is asked for it, or frees it. An
 *object of which only the implementation knows the size is not in flight: it is
 *there before it is refused. Nothing waits for another thread's call. Without a
 * ledger there is no limit.
 */
#include "state.h"
#include "../preload/limit_value.h"

static struct limit_value limit; /* constant */

/* In a forked child it is 0: a child is made outside calls of OpenCL. */
static __thread struct {
	int row;
	uint64_t bytes;
} own;

void limit_init(void)
{
	limit = limit_value_read(secure_getenv(LIMIT_VARIABLE));
}

bool layer_limited(void)
{
	return limit_value_is(limit);
}

uint64_t layer_limit(uint64_t total_bytes)
{
	return limit_value_of(limit, total_bytes);
}

static uint64_t limit_on(int row)
{
	return layer_limit(layer_state->totals[row]);
}

/* Never more than the limit, if there is one. */
static uint64_t used_of(int row)
{
	return layer_state->ledger->devices[row].current_bytes +
	       layer_state->in_flight[row];
}

bool limit_fits(const struct block *block)
{
	uint64_t most;

	if (!layer_limited() || block->kind == LEDGER_HOST_PTR)
		return true;
	most = limit_on(block->device);
	return block->bytes <= most &&
	       used_of(block->device) <= most - block->bytes;
}

uint64_t layer_row_left(int row, uint64_t total_bytes)
{
	uint64_t left = layer_limit(total_bytes);

	if (row < 0 || !layer_lock())
		return left;
	left = limit_on(row) - used_of(row);
	layer_unlock();
	return left;
}

void limit_refuse(const struct block *wanted)
{
	struct ledger *ledger = layer_state->ledger;
	struct ledger_device *device = &ledger->devices[wanted->device];

	layer_add(&device->kinds[wanted->kind].failures, 1);
	layer_add(&device->refused, 1);
	recorder_oom(&layer_state->recorder, ledger, wanted, true);
}

void limit_begin(const struct block *block)
{
	own.row = block->device;
	own.bytes = block->bytes;
	layer_state->in_flight[own.row] += own.bytes;
}

void limit_end(void)
{
	layer_state->in_flight[own.row] -= own.bytes;
	own.bytes = 0;
}

bool layer_promise(const struct block *wanted)
{
	bool ok;

	if (!layer_lock())
		return true;
	ok = limit_fits(wanted);
	if (ok)
		limit_begin(wanted);
	else
		limit_refuse(wanted);
	layer_unlock();
	return ok;
}

void layer_land(void)
{
	if (!own.bytes || !layer_lock())
		return;
	limit_end();
	layer_unlock();
}
