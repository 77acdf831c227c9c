/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the peaks of a pool should be: a model of every call. Nobody looks at
 * the statistics between calls but who compares, since a look folds in what the
 * caches of threads hide. Nothing locks.
 */
#ifndef LIB_PEAKS_H
#define LIB_PEAKS_H

#include "fixture.h"

enum { STREAMS = 8, LIVE = 200 };

struct live {
	void *ptr;
	uint64_t requested, bytes;
	unsigned stream;
	bool used;  /* on another stream too */
	bool graph; /* it came out of one */
};

struct level {
	uint64_t now, peak;
};

static struct {
	struct level requested, allocated, active, blocks;
} model;
static gpumem_pool *pool;
static gpumem_stream streams[STREAMS];

LIB_USE void up(struct level *level, uint64_t n)
{
	level->now += n;
	if (level->now > level->peak)
		level->peak = level->now;
}

LIB_USE void model_reset(void)
{
	model.requested.peak = model.requested.now;
	model.allocated.peak = model.allocated.now;
	model.active.peak = model.active.now;
	model.blocks.peak = model.blocks.now;
}

/* A block that has just been allocated. */
LIB_USE void count(struct live *live, void *ptr, size_t bytes, unsigned stream)
{
	struct gpumem_block found = GPUMEM_INIT(struct gpumem_block);

	*live = (struct live){.ptr = ptr, .requested = bytes, .stream = stream};
	must(gpumem_query(live->ptr, &found));
	live->bytes = found.bytes;
	up(&model.requested, bytes);
	up(&model.allocated, live->bytes);
	up(&model.active, live->bytes);
	up(&model.blocks, 1);
}

LIB_USE void allocate(struct live *live, size_t bytes, unsigned stream)
{
	count(live, new_block(pool, bytes, streams[stream]), bytes, stream);
}

/* pending: the streams are busy, and the block has been used on another one
 * than its own. */
LIB_USE void release(struct live *live, unsigned stream, bool pending)
{
	must(gpumem_free(live->ptr, streams[stream]));
	model.requested.now -= live->requested;
	model.allocated.now -= live->bytes;
	model.blocks.now--;
	if (!pending)
		model.active.now -= live->bytes;
}

/* True, and the block holds something else now, if it could. */
LIB_USE bool resize(struct live *live, size_t bytes)
{
	uint64_t holds;
	gpumem_status status =
		gpumem_resize(live->ptr, bytes, streams[live->stream], &holds);

	if (status == GPUMEM_BUSY)
		return false;
	must(status);
	up(&model.requested, bytes - live->requested);
	up(&model.allocated, holds - live->bytes);
	up(&model.active, holds - live->bytes);
	live->requested = bytes;
	live->bytes = holds;
	return true;
}

LIB_USE uint64_t roll(uint64_t *state, uint64_t n)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (*state >> 33) % n;
}

LIB_USE size_t random_bytes(uint64_t *state)
{
	switch (roll(state, 8)) {
	case 0:
		return 1 + roll(state, 3 * MIB);
	case 1:
		return 1 + roll(state, 64 * KIB);
	default:
		return 1 + roll(state, 3 * KIB);
	}
}

#endif
