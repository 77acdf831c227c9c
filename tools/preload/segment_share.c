/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See segment.h: what may be said of a part to others. Not what is said, which
 * is in cuda_known.c.
 */
#include "segment.h"

static bool is_true(const struct parts *parts, const struct block *block,
		    enum segment_truth truth)
{
	const struct part *part = parts_at(parts, (uint32_t)block->link);

	return !block->link || truth == SEGMENT_ANY ||
	       (!part->before && (truth == SEGMENT_BEGIN || !part->after));
}

bool segment_is_true(CUdeviceptr address, enum segment_truth truth)
{
	struct preload_state *state;
	const struct block *block;
	bool ok;

	if (!preload_parts())
		return true;
	state = preload_lock();
	block = blocks_around(&state->blocks, BLOCK_ADDRESS, address);
	ok = !block || is_true(&state->parts, block, truth);
	preload_unlock(state);
	return ok;
}

/* What else a program shares, as by handles, says nothing of these blocks. */
bool segment_share(CUdeviceptr address, enum segment_truth truth,
		   const char *name)
{
	struct preload_state *state;
	const struct block *block;
	bool ok, shares;

	if (!preload_parts_allowed())
		return true;
	state = preload_lock();
	block = blocks_around(&state->blocks, BLOCK_ADDRESS, address);
	shares = block && block->kind == LEDGER_ALLOC;
	ok = !shares || is_true(&state->parts, block, truth);
	if (!ok)
		count_one(&state->ledgers[LEDGER_CUDA]->not_shared);
	preload_unlock(state);
	if (shares)
		preload_end_parts(name);
	return ok;
}
