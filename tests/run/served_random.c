/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Threads that allocate, use and free at random on streams that
 * they share, by two pools and both ways to free. Streams that stand still run
 * a step now and then.
 */
#include "served_cases.h"

#include <pthread.h>
#include <stdlib.h>

enum { STREAMS = 6, BLOCKS = 24, STEPS = 400, THREADS = 4 };

static void *streams[STREAMS], *pools[2];

struct held {
	address block;
	size_t bytes;
	void *stream;
};

static unsigned next(unsigned *seed)
{
	return (unsigned)rand_r(seed) >> 4;
}

static void get(struct held *held, unsigned *seed)
{
	unsigned size = next(seed) % 3;

	held->stream = streams[next(seed) % STREAMS];
	held->bytes = size == 0	  ? 1 + next(seed) % 4096
		      : size == 1 ? 1 + next(seed) % (64 << 10)
				  : 1 + next(seed) % (6 * MIB);
	OK(cu.cuMemAllocFromPoolAsync(&held->block, held->bytes,
				      pools[next(seed) % 2], held->stream));
	work(held->stream, held->block, held->bytes);
}

/* On another stream once its own is done. */
static void put(struct held *held, unsigned *seed)
{
	switch (next(seed) % 4) {
	case 0:
		OK(cu.cuStreamSynchronize(held->stream));
		held->stream = streams[next(seed) % STREAMS];
		work(held->stream, held->block, held->bytes);
		break;
	case 1:
		release(held->block);
		held->block = 0;
		return;
	}
	give(held->block, held->stream);
	held->block = 0;
}

static void *run(void *argument)
{
	unsigned seed = *(unsigned *)argument;
	struct held held[BLOCKS] = {0};

	OK(cu.cuCtxSetCurrent(context));
	for (int i = 0; i < STEPS; i++) {
		struct held *one = &held[next(&seed) % BLOCKS];

		if (one->block)
			put(one, &seed);
		else
			get(one, &seed);
		if (next(&seed) % 3 == 0)
			cu.step(streams[next(&seed) % STREAMS], 2);
		if (next(&seed) % 97 == 0)
			(void)trim();
	}
	for (int i = 0; i < BLOCKS; i++)
		if (held[i].block)
			put(&held[i], &seed);
	return NULL;
}

static void at_random(unsigned count)
{
	pthread_t threads[THREADS];
	unsigned seeds[THREADS];

	pools[0] = default_pool();
	pools[1] = pool_new(0, 1, 0);
	for (int i = 0; i < STREAMS; i++)
		streams[i] = i ? stream_new() : LEGACY;
	for (unsigned i = 0; i < count; i++) {
		seeds[i] = 49 + i;
		TRUE(!pthread_create(&threads[i], NULL, run, &seeds[i]));
	}
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	OK(cu.cuCtxSynchronize());
	TRUE(undone() == 0);
	TRUE(passed_on() == 0);
	TRUE(attribute(pools[0], USED) + attribute(pools[1], USED) == 0);
	(void)trim();
	TRUE(used_bytes() == 0);
}

void lagging(void)
{
	cu.stepping(true);
	at_random(1);
}

/* With FAKECUDA_ASYNC. */
void threads(void)
{
	at_random(THREADS);
}
