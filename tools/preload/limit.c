/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See limit.h. All under the mutex of the state; what this thread has in flight
 * is its own.
 */
#include "limit.h"
#include "count.h"

/* In a forked child it is 0: a child is made outside calls of the driver. */
PRELOAD_LOCAL struct {
	int device;
	uint64_t bytes;
} own;

static const struct ledger_device *device_of(const struct preload_state *state,
					     int device)
{
	return &state->ledger->devices[device];
}

static uint64_t used(const struct preload_state *state, int device)
{
	const struct ledger_device *counts = device_of(state, device);

	return counts->reserved_bytes +
	       counts->kinds[LEDGER_MANAGED].current_bytes +
	       state->in_flight[device];
}

static bool fits(const struct preload_state *state, int device, uint64_t bytes)
{
	uint64_t limit = preload_limit();

	return bytes <= limit && used(state, device) <= limit - bytes;
}

/* What another thread gives back, or a context that ends, may be enough. False:
 * there is no such thing. */
static bool wait_for_others(struct preload_state *state, int device)
{
	if (!state->returning &&
	    !(state->ending && cache_oldest(&state->cache, device)))
		return false;
	pthread_cond_wait(&state->returned, &state->mutex);
	return true;
}

static bool make_room(struct preload_state *state, int device, uint64_t bytes)
{
	while (!fits(state, device, bytes))
		if (bytes > preload_limit() ||
		    (!pool_return_oldest(state, device) &&
		     !wait_for_others(state, device)))
			return false;
	return true;
}

static void begin(struct preload_state *state, int device, uint64_t bytes)
{
	own.device = device;
	own.bytes = bytes;
	state->in_flight[device] += bytes;
}

bool limit_begin_on(const void *out, enum ledger_kind kind, int device,
		    uint64_t bytes)
{
	struct preload_state *state;
	struct ledger *ledger;
	bool ok;

	if (!preload_limit() || !out)
		return true;
	state = preload_lock();
	ledger = preload_ledger(state);
	ok = !ledger || make_room(state, device, bytes);
	if (ledger && ok) {
		begin(state, device, bytes);
	} else if (ledger) {
		count_refused(state, ledger,
			      &(struct block){.bytes = bytes,
					      .kind = (uint8_t)kind,
					      .device = (uint8_t)device});
	}
	preload_unlock(state);
	return ok;
}

bool limit_begin(const void *out, enum ledger_kind kind, uint64_t bytes)
{
	const void *context;
	int device;

	if (!preload_limit() || !count_where(&context, &device))
		return true;
	return limit_begin_on(out, kind, device, bytes);
}

/* Rows begin at multiples of 512 bytes. */
uint64_t limit_rows(uint64_t width, uint64_t height)
{
	uint64_t pitch, bytes;

	if (__builtin_add_overflow(width, 511, &pitch) ||
	    __builtin_mul_overflow(pitch & ~UINT64_C(511), height, &bytes))
		return UINT64_MAX;
	return bytes;
}

void limit_take(struct preload_state *state, const struct block *block)
{
	if (count_is_on_device(block->kind))
		begin(state, block->device, block->whole_bytes);
	else if (block->kind == LEDGER_MANAGED)
		begin(state, block->device, block->bytes);
}

void limit_end(struct preload_state *state)
{
	state->in_flight[own.device] -= own.bytes;
	own.bytes = 0;
}

void limit_leave(void)
{
	struct preload_state *state;

	if (!own.bytes)
		return;
	state = preload_lock();
	limit_end(state);
	preload_unlock(state);
}

uint64_t limit_hand_over(void)
{
	uint64_t bytes = own.bytes;

	own.bytes = 0;
	return bytes;
}

uint64_t limit_total(uint64_t total_bytes)
{
	uint64_t limit = preload_limit();

	return limit && limit < total_bytes ? limit : total_bytes;
}

uint64_t limit_free(uint64_t free_bytes)
{
	struct preload_state *state;
	uint64_t left = preload_limit(), live = 0;
	const void *context;
	int device;

	if (!left || !count_where(&context, &device))
		return free_bytes;
	state = preload_lock();
	if (state->ledger)
		live = used(state, device) -
		       device_of(state, device)->pool.current_bytes;
	preload_unlock(state);
	left = live < left ? left - live : 0;
	return left < free_bytes ? left : free_bytes;
}
