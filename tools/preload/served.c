/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See served.h: who may call the library, and what is given back. Which call of
 * the program's gets what is served_alloc.c's, the beginning and the end of a
 * pool served_open.c's.
 */
#include "served.h"
#include "store.h"

PRELOAD_LOCAL bool inside;
PRELOAD_LOCAL struct limit_flight aside; /* of the call that this one is in */

bool served_inside(void)
{
	return inside;
}

bool served_is_on(void)
{
	return preload_pooling() && !preload_blind();
}

/* ---- who is inside ---------------------------------------------------------
 */

void served_enter(void)
{
	aside = limit_set_aside();
	inside = true;
}

void served_leave(void)
{
	inside = false;
	limit_take_up(aside);
}

void served_change_begin(struct preload_state *state)
{
	while (state->serveds.changing)
		pthread_cond_wait(&state->returned, &state->mutex);
	state->serveds.changing = true;
	while (state->serveds.users)
		pthread_cond_wait(&state->returned, &state->mutex);
}

void served_change_end(struct preload_state *state)
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
		served_enter();
	return served;
}

void served_end(void)
{
	struct preload_state *state;

	served_leave();
	state = preload_lock();
	if (!--state->serveds.users)
		pthread_cond_broadcast(&state->returned);
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
