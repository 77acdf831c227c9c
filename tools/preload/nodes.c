/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See nodes.h. All is in the table of blocks, under the mutex of the state.
 */
#include "nodes.h"

static uint8_t space_of(enum ledger_api api, enum block_space space)
{
	return (uint8_t)(api == LEDGER_HIP ? BLOCK_HIP + space : space);
}

void nodes_add(enum ledger_api api, uint64_t address)
{
	const struct block node = {.key = address,
				   .space = space_of(api, BLOCK_NODE)};
	struct preload_state *state = preload_lock();

	(void)blocks_put(&state->blocks, &node);
	preload_unlock(state);
}

bool nodes_has(enum ledger_api api, uint64_t address)
{
	struct preload_state *state = preload_lock();
	/* Where a graph's memory was can be other memory later, which may be
	 * kept by now. */
	bool has = blocks_find(&state->blocks, space_of(api, BLOCK_NODE),
			       address) &&
		   !blocks_find(&state->blocks, space_of(api, BLOCK_ADDRESS),
				address) &&
		   !blocks_find(&state->blocks, space_of(api, BLOCK_KEPT),
				address);

	preload_unlock(state);
	return has;
}

static struct block block_of(enum ledger_api api, int device)
{
	return (struct block){.key = (uint64_t)device + 1,
			      .space = space_of(api, BLOCK_GRAPHS),
			      .kind = LEDGER_GRAPHS,
			      .device = (uint8_t)device};
}

bool nodes_reserved(struct preload_state *state, enum ledger_api api,
		    int device, uint64_t bytes)
{
	struct block block = block_of(api, device);
	const struct block *before =
		blocks_find(&state->blocks, block.space, block.key);

	if (bytes == (before ? before->bytes : 0))
		return false;
	count_remove(state, &block);
	block.bytes = block.whole_bytes = bytes;
	if (bytes && !count_insert(state, &block))
		preload_note_locked(state, api, LEDGER_UNTRACKED);
	return true;
}

/* Nobody knows how much a graph asked for. */
void nodes_failed(enum ledger_api api, int device)
{
	struct block block = block_of(api, device);

	block.key = 0;
	count_made(COUNT_NO_MEMORY, &block);
}
