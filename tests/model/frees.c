/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The steps that end blocks: every way to free one. */
#include "model.h"

/* On the stream, or -1: its own as the library knows it. */
static gpumem_status end(const struct block *block, int stream)
{
	void *ptr = (void *)block->address;
	gpumem_stream handle;

	if (stream < 0)
		return gpumem_free_own(ptr);
	handle = block->pool->device->stream[stream].handle;
	if (one_in(4))
		return gpumem_free_sized(ptr, block->requested, handle);
	return gpumem_free(ptr, handle);
}

/* Work uses it that does not come before what its own stream does next. Where
 * that was dropped the block may be another's, which does the work itself. */
static bool is_shared(const struct block *block)
{
	const struct clock own = clock_of(block->pool->device, block->stream);

	for (const struct work *work = world.first; work; work = work->next)
		if (!block->gone && block_has(block, work) &&
		    !comes_before(work, &own))
			return true;
	return false;
}

static void free_block(struct block *block, int stream)
{
	const struct block freed = *block;
	gpumem_status status;
	bool shared;

	if (!block_covered(block, stream, NULL))
		return;
	shared = is_shared(block);
	perhaps_failing(status, end(block, stream));
	say(block->address, block->bytes, "block %llu is freed on s%d%s: %s",
	    (ull)block->id, stream < 0 ? block->stream : stream,
	    stream < 0 ? " (own)" : "", gpumem_status_name(status));
	judge("gpumem_free", status);
	if (!status && shared && one_in(2))
		exam_pending(freed.pool, freed.address);
	if (!status)
		block_dead(block, stream >= 0 && (stream != block->stream ||
						  block->gone));
}

static void free_after(struct block *block)
{
	struct device *device = block->pool->device;
	struct event *event = &device->event[random_below(EVENTS)];
	gpumem_status status;

	if (!event->handle || !block_covered(block, -1, &event->stands_for))
		return;
	perhaps_failing(status, gpumem_free_after((void *)block->address,
						  event->handle));
	say(block->address, block->bytes,
	    "block %llu is freed after e%d (s%d, %llu): %s", (ull)block->id,
	    (int)(event - device->event), event->stream,
	    (ull)event->stands_for.at[event->stream],
	    gpumem_status_name(status));
	judge("gpumem_free_after", status);
	if (!status)
		block_dead(block, true);
}

void step_free(void)
{
	struct block *block = pick_block(NULL);
	int stream;

	if (!block)
		return;
	stream = one_in(3) ? pick_stream() : block->stream;
	/* Its memory must not be another capture's, or nobody's. */
	if (in_capture(block) &&
	    block->pool->device->stream[stream].capture != block->capture)
		stream = block->stream;
	if (one_in(6) && !in_capture(block))
		free_after(block);
	else
		free_block(block, one_in(4) ? -1 : stream);
}
