/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See store.h. The program had each of these blocks, so there is a ledger.
 */
#include "store.h"

static void forget(struct preload_state *state, const struct cached *block)
{
	struct block gone;

	(void)blocks_take(&state->blocks, BLOCK_KEPT, block->address, &gone);
}

bool store_add(struct preload_state *state, const struct cached *block)
{
	struct block kept = {.key = block->address,
			     .whole_bytes = block->bytes,
			     .space = BLOCK_KEPT};

	if (!blocks_put(&state->blocks, &kept))
		return false;
	if (!cache_add(&state->cache, block)) {
		forget(state, block);
		return false;
	}
	count_cached(&state->ledgers[LEDGER_CUDA]->devices[block->device],
		     block->bytes);
	return true;
}

static void taken(struct preload_state *state, const struct cached *block)
{
	forget(state, block);
	count_uncached(&state->ledgers[LEDGER_CUDA]->devices[block->device],
		       block->bytes);
}

bool store_take(struct preload_state *state, const void *context, int device,
		uint64_t bytes, uint64_t most, uint64_t done,
		struct cached *block_out)
{
	if (!cache_take(&state->cache, context, device, bytes, most, done,
			block_out))
		return false;
	taken(state, block_out);
	return true;
}

bool store_oldest(const struct preload_state *state, int device,
		  uint64_t *stamp_out)
{
	const struct cached *block = cache_oldest(&state->cache, device);

	if (block)
		*stamp_out = block->stamp;
	return block;
}

bool store_take_oldest(struct preload_state *state, int device,
		       struct cached *block_out)
{
	if (state->ending ||
	    !cache_take_oldest(&state->cache, device, block_out))
		return false;
	taken(state, block_out);
	count_one(&state->ledgers[LEDGER_CUDA]->devices[device].pool.returned);
	return true;
}

void store_drop(struct preload_state *state, const void *context)
{
	struct cached block;

	while (cache_take_of(&state->cache, context, &block))
		taken(state, &block);
}
