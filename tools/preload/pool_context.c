/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The end of a context, as the pool sees it: while the driver destroys it, all
 * that was its has another name, nothing is kept or handed out, and no block is
 * on its way back.
 */
#include "store.h"

static void rename_context(struct preload_state *state, const void *from,
			   const void *to)
{
	blocks_rename(&state->blocks, from, to);
	cache_rename(&state->cache, from, to);
	epoch_rename(&state->epochs, from, to);
}

/* The driver has freed all of it. */
static void drop(struct preload_state *state, const void *context)
{
	count_context_gone(state, context);
	store_drop(state, context);
	epoch_drop(&state->epochs, context);
}

/* The handle can be another context's before the driver has returned. */
void pool_context_ending(const void *context)
{
	struct preload_state *state = preload_lock();

	state->ending++;
	while (state->returning)
		pthread_cond_wait(&state->returned, &state->mutex);
	rename_context(state, context, CONTEXT_ENDING(context));
	preload_unlock(state);
}

void pool_context_ended(const void *context, bool gone)
{
	struct preload_state *state = preload_lock();

	if (gone)
		drop(state, CONTEXT_ENDING(context));
	else
		rename_context(state, CONTEXT_ENDING(context), context);
	if (!--state->ending)
		pthread_cond_broadcast(&state->returned);
	preload_unlock(state);
}

void pool_forget(const void *context)
{
	struct preload_state *state = preload_lock();

	store_drop(state, context);
	preload_unlock(state);
}
