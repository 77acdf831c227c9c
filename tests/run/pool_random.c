/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * pool_random SEED STEPS [THREADS]: random allocations, kernels, frees,
 * streams, contexts and captures, for tests/tool_run_pool.sh. In one thread the
 * double's streams stand still but for random steps; with several each stream
 * has a thread that runs it. A kernel that finds its block handed out again
 * ends the program, and so do two blocks that overlap.
 */
#include "pool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCKS 64
#define STREAMS 5
#define CONTEXTS 3

struct world {
	uint64_t random;
	void *contexts[CONTEXTS];
	void *streams[CONTEXTS][STREAMS];
	address blocks[BLOCKS];
	size_t bytes[BLOCKS];
	bool steps; /* no other thread is there */
};

static unsigned long steps;

static unsigned draw(struct world *world, unsigned below)
{
	world->random =
		world->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(world->random >> 33) % below;
}

static void *any_stream(struct world *world, unsigned context)
{
	switch (draw(world, 8)) {
	case 0:
		return LEGACY;
	case 1:
		return PER_THREAD;
	default:
		return world->streams[context][draw(world, STREAMS)];
	}
}

static void *new_stream(struct world *world)
{
	void *stream;

	OK(cu.cuStreamCreate(&stream, draw(world, 2)));
	return stream;
}

static void check_alone(const struct world *world, unsigned one)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		TRUE(i == one || !world->blocks[i] ||
		     world->blocks[i] + world->bytes[i] <= world->blocks[one] ||
		     world->blocks[one] + world->bytes[one] <=
			     world->blocks[i]);
}

static void new_block(struct world *world, unsigned one)
{
	world->bytes[one] =
		(draw(world, 6) + 1) * (draw(world, 2) ? 40000 : MIB);
	world->blocks[one] = alloc(world->bytes[one]);
	check_alone(world, one);
}

static void use_block(struct world *world, unsigned context)
{
	unsigned one = draw(world, BLOCKS);

	if (world->blocks[one]) {
		if (draw(world, 3))
			launch(any_stream(world, context), world->blocks[one]);
		if (draw(world, 2))
			return;
		release(world->blocks[one]);
		world->blocks[one] = 0;
		return;
	}
	new_block(world, one);
}

static void turn_stream(struct world *world, unsigned context)
{
	void **stream = &world->streams[context][draw(world, STREAMS)];

	OK(cu.cuStreamDestroy_v2(*stream));
	*stream = new_stream(world);
}

/* Not while others capture too: theirs would not be relaxed. */
static void capture(struct world *world, unsigned context)
{
	void *stream = world->streams[context][draw(world, STREAMS)], *graph;

	OK(cu.cuStreamBeginCapture_v2(stream, 2));
	release(alloc(MIB));
	OK(cu.cuStreamEndCapture(stream, &graph));
	OK(cu.cuGraphDestroy(graph));
}

static void step(struct world *world)
{
	unsigned context = draw(world, CONTEXTS);

	OK(cu.cuCtxSetCurrent(world->contexts[context]));
	switch (draw(world, 32)) {
	case 0:
		turn_stream(world, context);
		break;
	case 1:
		if (world->steps)
			capture(world, context);
		break;
	case 2:
	case 3:
	case 4:
	case 5:
		if (world->steps)
			cu.step(any_stream(world, context), draw(world, 20));
		break;
	case 6:
		if (!draw(world, 20))
			OK(cu.cuStreamSynchronize(any_stream(world, context)));
		break;
	default:
		use_block(world, context);
	}
}

static void fill(struct world *world, void *const *contexts)
{
	for (unsigned c = 0; c < CONTEXTS; c++) {
		world->contexts[c] = contexts[c];
		OK(cu.cuCtxSetCurrent(contexts[c]));
		for (unsigned s = 0; s < STREAMS; s++)
			world->streams[c][s] = new_stream(world);
	}
}

static void *run(void *argument)
{
	struct world *world = argument;

	for (unsigned long i = 0; i < steps; i++)
		step(world);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
	static struct world worlds[16];
	void *contexts[CONTEXTS];
	pthread_t ids[16];

	if (argc < 3)
		return 2;
	alarm(600);
	steps = strtoul(argv[2], NULL, 0);
	contexts[0] = begin();
	for (int i = 1; i < CONTEXTS; i++)
		OK(cu.cuCtxCreate_v2(&contexts[i], 0, i - 1));
	for (unsigned i = 0; i < threads; i++) {
		worlds[i].random = strtoul(argv[1], NULL, 0) * 100 + i;
		worlds[i].steps = threads == 1;
		fill(&worlds[i], contexts);
	}
	cu.stepping(threads == 1);
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, run, &worlds[i]))
			return 3;
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	cu.stepping(false);
	return 0;
}
