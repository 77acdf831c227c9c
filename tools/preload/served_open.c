/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Of served.h: the pool of a device is opened when the program first allocates
 * there, and closed before its context ends. While that goes on nobody is
 * inside.
 */
#include "served.h"

#include <stdio.h>
#include <string.h>

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

/* Of the library, which may be one that the program uses, too. */
struct setting {
	const char *key;
	char value[24], before[24]; /* "": the program has not set it */
};

static gpumem_status set(struct setting *setting)
{
	struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);
	gpumem_status status =
		served_gpumem.gpumem_option_get(setting->key, &option);

	if (status != GPUMEM_OK)
		return status;
	if (!strcmp(option.source, "program"))
		snprintf(setting->before, sizeof(setting->before), "%s",
			 option.value);
	return served_gpumem.gpumem_option_set(setting->key, setting->value);
}

static void set_back(const struct setting *setting)
{
	GPUMEM_IGNORE(served_gpumem.gpumem_option_set(
		setting->key, *setting->before ? setting->before : NULL));
}

/* The pool's own thread gives back what is idle when nobody calls. What a
 * thread's cache has goes after up to eleven eighths of a period, which is
 * seven tenths of the whole, so that all of it is gone by then. */
static gpumem_status create_pool(gpumem_device *device, void **pool_out)
{
	struct setting thread = {"decay_thread", "on", ""};
	struct setting period = {"decay_ms", "", ""};
	gpumem_status status;

	snprintf(period.value, sizeof(period.value), "%llu",
		 (unsigned long long)(preload_decay_ms() * 7 + 9) / 10);
	status = set(&thread);
	if (status == GPUMEM_OK) {
		status = set(&period);
		if (status == GPUMEM_OK)
			status = make_pool(device, pool_out);
		set_back(&period);
	}
	set_back(&thread);
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
	served_enter();
	if (open_device(number, opened) != GPUMEM_OK) {
		why = served_gpumem.gpumem_error_text();
		if (opened->device)
			close_device(opened);
		opened->device = opened->pool = NULL;
	}
	served_leave();
	return why;
}

/* With the mutex, which it releases meanwhile. */
static void open_once(struct preload_state *state, int number)
{
	struct served_device *served = &state->serveds.devices[number];
	struct served_device opened = {.tried = true};
	char why[sizeof(state->ledgers[0]->unserved)] = "";
	const char *text;

	served_change_begin(state);
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
	served_change_end(state);
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
	served_change_begin(state);
	if (served->pool && (all || !served->bytes)) {
		drop_blocks(state, device);
		closed = *served;
		*served = (struct served_device){.peers = closed.peers};
		preload_unlock(state);
		served_enter();
		close_device(&closed);
		served_leave();
		(void)preload_lock();
	}
	served_change_end(state);
	preload_unlock(state);
}
