/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Of count.h: handles of physical memory and where they are mapped, of NVIDIA's
 * driver and of AMD's runtime. Not how bytes are counted, which is count.c's.
 * Under the mutex of the state
 *
 *	refs of a handle == releases that it takes + its mappings
 *
 * and the handle is counted while that is not 0.
 */
#include "count.h"
#include "limit.h"

static enum block_space space_of(enum ledger_api api, enum block_space space)
{
	return (enum block_space)(api == LEDGER_HIP ? BLOCK_HIP + space
						    : space);
}

/* With the mutex. True: nothing holds it any more. */
static bool unref(struct preload_state *state, enum ledger_api api,
		  uint64_t handle, struct block *gone)
{
	enum block_space space = space_of(api, BLOCK_HANDLE);
	struct block *block = blocks_find(&state->blocks, space, handle);

	if (!block || --block->refs)
		return false;
	*gone = *block;
	count_remove(state, gone);
	return true;
}

void count_release(enum ledger_api api, uint64_t handle)
{
	struct preload_state *state = preload_lock();
	struct block gone;

	if (unref(state, api, handle, &gone))
		limit_take(state, &gone);
	preload_unlock(state);
}

void count_retain(enum ledger_api api, uint64_t handle)
{
	struct preload_state *state = preload_lock();
	struct block *block = blocks_find(&state->blocks,
					  space_of(api, BLOCK_HANDLE), handle);

	if (block)
		block->refs++;
	preload_unlock(state);
}

void count_map(enum ledger_api api, uint64_t address, uint64_t bytes,
	       uint64_t handle)
{
	struct preload_state *state = preload_lock();
	struct block *block = blocks_find(&state->blocks,
					  space_of(api, BLOCK_HANDLE), handle);
	struct block mapping = {.key = address,
				.bytes = bytes,
				.link = handle,
				.space = (uint8_t)space_of(api, BLOCK_MAPPING)};
	struct block gone;

	/* Of a handle that is not known nothing is counted. */
	if (block) {
		block->refs++;
		if (!blocks_put(&state->blocks, &mapping))
			(void)unref(state, api, handle, &gone);
	}
	preload_unlock(state);
}

void count_unmap(enum ledger_api api, uint64_t address, uint64_t bytes)
{
	struct preload_state *state = preload_lock();
	uint64_t end = address + bytes;
	struct block mapping, gone;

	while (address < end &&
	       blocks_take(&state->blocks, space_of(api, BLOCK_MAPPING),
			   address, &mapping)) {
		(void)unref(state, api, mapping.link, &gone);
		address += mapping.bytes;
	}
	preload_unlock(state);
}
