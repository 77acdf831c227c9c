/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See limit.h. All under the mutex of the state; what this thread has in flight
 * is its own.
 */
#include "limit.h"

/* In a forked child it is 0: a child is made outside calls of the driver. */
PRELOAD_LOCAL struct limit_flight own;

/* There is a ledger. */
static uint64_t used(const struct preload_state *state, enum ledger_api api,
		     int device)
{
	const struct ledger_device *counts =
		&state->ledgers[api]->devices[device];

	return counts->reserved_bytes +
	       counts->kinds[LEDGER_MANAGED].current_bytes +
	       state->in_flight[api][device];
}

static uint64_t ask_total(enum ledger_api api, int device)
{
#ifdef PRELOAD_CUDA
	if (api == LEDGER_CUDA)
		return cuda_total_bytes(device);
#endif
#ifdef PRELOAD_HIP
	if (api == LEDGER_HIP)
		return hip_total_bytes(device);
#endif
	(void)api;
	(void)device;
	return 0;
}

/* Without the mutex, before what a limit in percent is of that device has to be
 * known. */
static void learn_total(enum ledger_api api, int device)
{
	struct preload_state *state;
	uint64_t total;

	if (!preload_limit().billionths)
		return;
	state = preload_lock();
	total = state->totals[api][device];
	preload_unlock(state);
	if (total || !(total = ask_total(api, device)))
		return;
	state = preload_lock();
	state->totals[api][device] = total;
	preload_unlock(state);
}

static uint64_t limit_on(const struct preload_state *state, enum ledger_api api,
			 int device)
{
	return limit_value_of(preload_limit(), state->totals[api][device]);
}

static bool fits(const struct preload_state *state, const struct block *wanted)
{
	uint64_t limit = limit_on(state, count_api(wanted), wanted->device);

	return wanted->bytes <= limit &&
	       used(state, count_api(wanted), wanted->device) <=
		       limit - wanted->bytes;
}

static bool make_room(struct preload_state *state, const struct block *wanted,
		      limit_giver *give)
{
	uint64_t limit = limit_on(state, count_api(wanted), wanted->device);

	while (!fits(state, wanted))
		if (wanted->bytes > limit || !give ||
		    !give(state, wanted->device))
			return false;
	return true;
}

static void begin(struct preload_state *state, const struct block *block,
		  uint64_t bytes)
{
	own.api = count_api(block);
	own.device = block->device;
	own.bytes = bytes;
	state->in_flight[own.api][own.device] += bytes;
}

bool limit_ask(const void *out, const struct block *wanted, limit_giver *give)
{
	struct preload_state *state;
	struct ledger *ledger;
	bool ok;

	if (!preload_limited() || !out)
		return true;
	learn_total(count_api(wanted), wanted->device);
	state = preload_lock();
	ledger = preload_ledger(state, count_api(wanted));
	ok = !ledger || make_room(state, wanted, give);
	if (ledger && ok)
		begin(state, wanted, wanted->bytes);
	else if (ledger)
		count_refused(state, ledger, wanted);
	preload_unlock(state);
	return ok;
}

bool limit_passed(const struct preload_state *state, enum ledger_api api,
		  int device)
{
	return preload_limited() && state->ledgers[api] &&
	       used(state, api, device) > limit_on(state, api, device);
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
		begin(state, block, block->whole_bytes);
	else if (block->kind == LEDGER_MANAGED)
		begin(state, block, block->bytes);
}

void limit_end(struct preload_state *state)
{
	state->in_flight[own.api][own.device] -= own.bytes;
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

struct limit_flight limit_set_aside(void)
{
	struct limit_flight flight = own;

	own.bytes = 0;
	return flight;
}

void limit_take_up(struct limit_flight flight)
{
	own = flight;
}

uint64_t limit_total(uint64_t total_bytes)
{
	uint64_t limit;

	if (!preload_limited() || !total_bytes)
		return total_bytes;
	limit = limit_value_of(preload_limit(), total_bytes);
	return limit < total_bytes ? limit : total_bytes;
}

uint64_t limit_left(enum ledger_api api, int device, uint64_t free_bytes)
{
	struct preload_state *state;
	uint64_t left, live = 0;

	if (!preload_limited())
		return free_bytes;
	learn_total(api, device);
	state = preload_lock();
	left = limit_on(state, api, device);
	if (state->ledgers[api])
		live = used(state, api, device) -
		       state->ledgers[api]->devices[device].pool.current_bytes;
	preload_unlock(state);
	left = live < left ? left - live : 0;
	return left < free_bytes ? left : free_bytes;
}
