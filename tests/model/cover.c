/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What the end of a block waits for, and how a program that is right makes it
 * so that this is all that uses the block. */
#include "model.h"

struct clock block_cover(const struct block *block, int stream)
{
	const struct device *device = block->pool->device;
	struct clock clock = block->covered, more;

	for (int i = 0; i < STREAMS; i++)
		if ((block->used_on & (1u << i)) || i == stream ||
		    (i == block->stream && !block->gone)) {
			more = clock_of(device, i);
			clock_merge(&clock, &more);
		}
	return clock;
}

/* A stream that uses it is named, or comes before what is waited for. */
static bool cover_work(struct block *block, int stream, const struct work *work)
{
	struct device *device = block->pool->device;
	gpumem_status status;
	int behind = stream >= 0 ? stream : block->stream;

	if ((stream >= 0 || !block->gone) && one_in(3) &&
	    stream_after(device, behind, work))
		return true;
	perhaps_failing(status,
			gpumem_use_on((void *)block->address,
				      device->stream[work->stream].handle));
	say(block->address, block->bytes, "use of block %llu on s%d: %s",
	    (ull)block->id, work->stream, gpumem_status_name(status));
	judge("gpumem_use_on", status);
	if (status)
		return false;
	block->used_on |= 1u << work->stream;
	return true;
}

bool block_covered(struct block *block, int stream, const struct clock *more)
{
	for (const struct work *work = world.first; work; work = work->next) {
		struct clock clock = block_cover(block, stream);

		if (more)
			clock_merge(&clock, more);
		if (block_has(block, work) && !comes_before(work, &clock) &&
		    !cover_work(block, stream, work))
			return false;
	}
	return true;
}

void blocks_dropped(const struct device *device, const struct pool *pool,
		    int stream)
{
	const struct clock clock = clock_of(device, stream);

	for (unsigned i = 0; i < world.blocks; i++) {
		struct block *block = &world.block[i];
		bool own = block->stream == stream && !block->gone;

		if (block->pool->device != device ||
		    (pool && block->pool != pool) ||
		    !(own || block->used_on & (1u << stream)))
			continue;
		clock_merge(&block->covered, &clock);
		block->shared |= block->used_on;
		block->used_on &= ~(1u << stream);
		block->gone |= own;
	}
}
