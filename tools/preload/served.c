/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See served.h: the pools of devices, when they are opened and closed, and who
 * may call the library meanwhile. Which call of the program's gets what is
 * served_alloc.c's.
 */
#include "served.h"
#include "store.h"

#include <stdio.h>
#include <string.h>

PRELOAD_LOCAL bool inside;
PRELOAD_LOCAL struct limit_flight aside; /* of the call that this one is in */

bool served_inside(void)
{
	return inside;
}

bool served_is_on(void)
{
	return preload_adopting() && preload_pooling() && !preload_stopped();
}

/* ---- who is inside ---------------------------------------------------------
 */

static void enter(void)
{
	aside = limit_set_aside();
	inside = true;
}

static void leave(void)
{
	inside = false;
	limit_take_up(aside);
}

/* With the mutex. Nobody is inside, and nobody else gets there. */
static void begin_change(struct preload_state *state)
{
	while (state->serveds.changing)
		pthread_cond_wait(&state->returned, &state->mutex);
	state->serveds.changing = true;
	while (state->serveds.users)
		pthread_cond_wait(&state->returned, &state->mutex);
}

static void end_change(struct preload_state *state)
{
	state->serveds.changing = false;
	pthread_cond_broadcast(&state->returned);
}

struct served_device *served_begin(int device)
{
	struct preload_state *state = preload_lock();
	struct served_device *served = &state->serveds.devices[device];

	while (state->serveds.changing)
		pthread_cond_wait(&state->returned, &state->mutex);
	if (!served->pool)
		served = NULL;
	else
		state->serveds.users++;
	preload_unlock(state);
	if (served)
		enter();
	return served;
}

void served_end(void)
{
	struct preload_state *state;

	leave();
	state = preload_lock();
	if (!--state->serveds.users)
		pthread_cond_broadcast(&state->returned);
	preload_unlock(state);
}

/* ---- open ------------------------------------------------------------------
 */

/* With the mutex, once there is a ledger. */
static void tell(struct preload_state *state, const char *why)
{
	struct ledger *ledger = preload_ledger(state, LEDGER_CUDA);

	if (ledger)
		snprintf(ledger->unserved, sizeof(ledger->unserved), "%s", why);
}

static gpumem_status make_pool(gpumem_device *device, void **pool_out)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pool;
	gpumem_status status;

	config.name = "gpumem-run";
	status = served_gpumem.gpumem_pool_create(device, &config, &pool);
	if (status == GPUMEM_OK)
		*pool_out = pool;
	return status;
}

/* The pool's own thread gives back what is idle when nobody calls. The library
 * may be one that the program uses, too, which has options of its own. */
static gpumem_status create_pool(gpumem_device *device, void **pool_out)
{
	struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);
	const char *before = NULL;
	gpumem_status status =
		served_gpumem.gpumem_option_get("decay_thread", &option);

	if (status != GPUMEM_OK)
		return status;
	if (!strcmp(option.source, "program"))
		before = strcmp(option.value, "on") ? "off" : "on";
	status = served_gpumem.gpumem_option_set("decay_thread", "on");
	if (status == GPUMEM_OK)
		status = make_pool(device, pool_out);
	GPUMEM_IGNORE(served_gpumem.gpumem_option_set("decay_thread", before));
	return status;
}

static gpumem_status add_peer(gpumem_pool *pool, int number)
{
	gpumem_device *peer;
	char name[16];
	gpumem_status status;

	snprintf(name, sizeof(name), "cuda:%d", number);
	status = served_gpumem.gpumem_device_open(name, &peer);
	if (status != GPUMEM_OK)
		return status;
	status = served_gpumem.gpumem_pool_add_peer(pool, peer);
	/* The pool keeps it open. */
	GPUMEM_IGNORE(served_gpumem.gpumem_device_close(peer));
	return status;
}

static gpumem_status add_peers(gpumem_pool *pool, uint32_t peers)
{
	gpumem_status status = GPUMEM_OK;

	for (int i = 0; status == GPUMEM_OK && peers >> i; i++)
		if (peers >> i & 1)
			status = add_peer(pool, i);
	return status;
}

static void close_device(const struct served_device *served)
{
	if (served->pool)
		GPUMEM_IGNORE(served_gpumem.gpumem_pool_destroy(
			served->pool, GPUMEM_DESTROY_FORCE));
	GPUMEM_IGNORE(served_gpumem.gpumem_device_close(served->device));
}

static gpumem_status open_device(int number, struct served_device *served)
{
	void *context = NULL, *native;
	gpumem_device *device;
	char name[16];
	gpumem_status status;

	snprintf(name, sizeof(name), "cuda:%d", number);
	status = served_gpumem.gpumem_device_open(name, &device);
	if (status != GPUMEM_OK)
		return status;
	served->device = device;
	status = served_gpumem.gpumem_device_native(device, &context, &native);
	if (status == GPUMEM_OK)
		status = create_pool(device, &served->pool);
	if (status == GPUMEM_OK)
		status = add_peers(served->pool, served->peers);
	served->context = context;
	return status;
}

/* Without the mutex, while it is changing. NULL, or why not. */
static const char *open(struct preload_state *state, int number,
			struct served_device *opened)
{
	const char *why = NULL;

	if (!state->serveds.library_open && !served_open_library(&why))
		return why;
	state->serveds.library_open = true;
	enter();
	if (open_device(number, opened) != GPUMEM_OK) {
		why = served_gpumem.gpumem_error_text();
		if (opened->device)
			close_device(opened);
		opened->device = opened->pool = NULL;
	}
	leave();
	return why;
}

/* With the mutex, which it releases meanwhile. */
static void open_once(struct preload_state *state, int number)
{
	struct served_device *served = &state->serveds.devices[number];
	struct served_device opened = {.tried = true};
	char why[sizeof(state->ledgers[0]->unserved)] = "";
	const char *text;

	begin_change(state);
	if (!served->pool && !served->tried) {
		opened.peers = served->peers;
		preload_unlock(state);
		text = open(state, number, &opened);
		snprintf(why, sizeof(why), "%s", text ? text : "");
		(void)preload_lock();
		*served = opened;
		if (*why)
			tell(state, why);
	}
	end_change(state);
}

struct served_device *served_begin_open(int device)
{
	struct preload_state *state = preload_lock();
	struct served_device *served = &state->serveds.devices[device];

	if (!served->pool && !served->tried)
		open_once(state, device);
	preload_unlock(state);
	return served_begin(device);
}

bool served_add_peer(int device, int peer)
{
	struct preload_state *state;
	struct served_device *served;
	bool ok = true;

	if (!served_is_on() || device == peer)
		return true;
	served = served_begin(device);
	if (served) {
		ok = add_peer(served->pool, peer) == GPUMEM_OK;
		served_end();
	}
	state = preload_lock();
	if (ok)
		state->serveds.devices[device].peers |= UINT32_C(1) << peer;
	preload_unlock(state);
	return ok;
}

/* ---- close -----------------------------------------------------------------
 */

/* With the mutex: what the program has of it ends with it. */
static void drop_blocks(struct preload_state *state, int device)
{
	struct served_device *served = &state->serveds.devices[device];
	struct block block;

	while (served->bytes &&
	       blocks_first(&state->blocks, BLOCK_SERVED, device, &block))
		served_forget(state, &block);
}

void served_close(int device, bool all)
{
	struct preload_state *state = preload_lock();
	struct served_device *served = &state->serveds.devices[device];
	struct served_device closed;

	if (!served->pool) {
		served->tried = false;
		preload_unlock(state);
		return;
	}
	begin_change(state);
	if (served->pool && (all || !served->bytes)) {
		drop_blocks(state, device);
		closed = *served;
		*served = (struct served_device){.peers = closed.peers};
		preload_unlock(state);
		enter();
		close_device(&closed);
		leave();
		(void)preload_lock();
	}
	end_change(state);
	preload_unlock(state);
}

/* ---- giving back -----------------------------------------------------------
 */

uint64_t served_trim(int device, uint64_t keep_bytes)
{
	struct served_device *served;
	uint64_t bytes = 0;

	if (inside)
		return 0;
	served = served_begin(device);
	if (!served)
		return 0;
	GPUMEM_IGNORE(served_gpumem.gpumem_pool_trim(served->pool, keep_bytes,
						     &bytes));
	served_end();
	return bytes;
}

void served_drop_stream(CUstream stream)
{
	CUcontext context;

	if (REAL(cuStreamGetCtx)(stream, &context) != CUDA_SUCCESS)
		return;
	for (int i = 0; i < LEDGER_DEVICES; i++) {
		struct served_device *served = served_begin(i);

		if (!served)
			continue;
		if (served->context == context)
			GPUMEM_IGNORE(served_gpumem.gpumem_pool_drop_stream(
				served->pool, stream));
		served_end();
	}
}
