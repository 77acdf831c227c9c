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
	if (block->handle)
		(void)blocks_take(&state->blocks, BLOCK_KEPT_HANDLE,
				  block->handle, &gone);
}

bool store_add(struct preload_state *state, const struct cached *block)
{
	struct block kept = {.key = block->address,
			     .whole_bytes = block->bytes,
			     .space = BLOCK_KEPT};
	struct block handle = {.key = block->handle,
			       .space = BLOCK_KEPT_HANDLE};

	if (!blocks_put(&state->blocks, &kept))
		return false;
	if ((block->handle && !blocks_put(&state->blocks, &handle)) ||
	    !cache_add(&state->cache, block)) {
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

/* The segment that goes before any block of the cache. NULL: there is none. */
static const struct segment *first_segment(const struct preload_state *state,
					   int device)
{
	const struct cached *block = cache_oldest(&state->cache, device);
	const struct segment *segment = parts_oldest(&state->parts, device);

	if (segment && block && block->stamp <= segment->stamp &&
	    !preload_parts_ended())
		return NULL;
	return segment;
}

bool store_oldest(const struct preload_state *state, int device,
		  uint64_t *stamp_out)
{
	const struct cached *block = cache_oldest(&state->cache, device);
	const struct segment *segment = first_segment(state, device);

	if (segment)
		*stamp_out = segment->stamp;
	else if (block)
		*stamp_out = block->stamp;
	return block || segment;
}

static bool take_oldest(struct preload_state *state, int device,
			struct cached *block_out)
{
	return first_segment(state, device)
		       ? parts_take_oldest(&state->parts, device, block_out)
		       : cache_take_oldest(&state->cache, device, block_out);
}

bool store_take_oldest(struct preload_state *state, int device,
		       struct cached *block_out)
{
	if (state->ending || !take_oldest(state, device, block_out))
		return false;
	taken(state, block_out);
	count_one(&state->ledgers[LEDGER_CUDA]->devices[device].pool.returned);
	return true;
}

static void drop_segments(struct preload_state *state, const void *context,
			  bool idle)
{
	struct segment segment;

	while (parts_take_of(&state->parts, context, idle, &segment))
		count_uncached(
			&state->ledgers[LEDGER_CUDA]->devices[segment.device],
			segment.free_bytes);
}

void store_drop(struct preload_state *state, const void *context, bool gone)
{
	struct cached block;

	while (cache_take_of(&state->cache, context, &block))
		taken(state, &block);
	drop_segments(state, context, !gone);
}
