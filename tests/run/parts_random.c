/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * parts_random SEED STEPS [THREADS]: random allocations of all sizes, kernels
 * and frees under --adopt, for tests/tool_run_parts.sh. The double's memory is
 * the host's: each block is filled with its own number when it is handed out,
 * and looked at by kernels and before it is freed, so that whoever gets a part
 * of it too early is found. In one thread the double's streams stand still but
 * for random steps; eight have small blocks and no kernels, so that they meet
 * all the time. Prints how many bytes live in the end.
 */
#include "pool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCKS = 48, STREAMS = 4, STRIDE = 4096, THREADS = 8 };

struct world {
	uint64_t random;
	void *context, *streams[STREAMS];
	address blocks[BLOCKS];
	size_t bytes[BLOCKS];
	uint64_t marks[BLOCKS];
	bool steps; /* no other thread is there */
	bool small; /* and no kernels */
	uint64_t live_bytes;
};

struct kernel_of {
	address block;
	size_t bytes;
	uint64_t mark;
};

static unsigned long steps;
static uint64_t last_mark;

static unsigned draw(struct world *world, unsigned below)
{
	world->random =
		world->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(world->random >> 33) % below;
}

static size_t draw_bytes(struct world *world)
{
	switch (world->small ? 0 : draw(world, 4)) {
	case 0:
		return draw(world, 5000) + 8;
	case 1:
		return draw(world, MIB) + 8;
	case 2:
		return (draw(world, 12) + 1) * MIB - draw(world, 2) * 12345;
	default:
		return (size_t)(draw(world, 40) + 1) << 16;
	}
}

/* At its beginning, each page, and its end. */
static bool mark(address block, size_t bytes, uint64_t number, bool looks)
{
	bool same = true;

	for (size_t at = 0; at < bytes; at += STRIDE) {
		size_t here = at + 8 > bytes ? bytes - 8 : at;
		uint64_t *word = (uint64_t *)(uintptr_t)(block + here / 8 * 8);

		if (looks)
			same = same && *word == number;
		else
			*word = number;
	}
	return same;
}

static void kernel(void *argument)
{
	struct kernel_of *of = argument;

	if (!mark(of->block, of->bytes, of->mark, true))
		wrong(__FILE__, __LINE__, "a kernel's block is another's");
	free(of);
}

static void new_block(struct world *world, unsigned one)
{
	world->bytes[one] = draw_bytes(world);
	OK(cu.cuMemAlloc_v2(&world->blocks[one], world->bytes[one]));
	TRUE(world->blocks[one] % 512 == 0);
	world->marks[one] = __atomic_add_fetch(&last_mark, 1, __ATOMIC_RELAXED);
	mark(world->blocks[one], world->bytes[one], world->marks[one], false);
	world->live_bytes += world->bytes[one];
}

static void launch_one(struct world *world, unsigned one)
{
	struct kernel_of *of = malloc(sizeof(*of));

	*of = (struct kernel_of){world->blocks[one], world->bytes[one],
				 world->marks[one]};
	OK(cu.cuLaunchHostFunc(world->streams[draw(world, STREAMS)], kernel,
			       of));
}

static void end_block(struct world *world, unsigned one)
{
	TRUE(mark(world->blocks[one], world->bytes[one], world->marks[one],
		  true));
	if (!draw(world, 8))
		TRUE(cu.cuMemFree_v2(world->blocks[one] + 8) != 0);
	OK(cu.cuMemFree_v2(world->blocks[one]));
	world->blocks[one] = 0;
	world->live_bytes -= world->bytes[one];
}

static void step(struct world *world)
{
	unsigned one = draw(world, BLOCKS);

	if (world->steps && !draw(world, 6))
		cu.step(world->streams[draw(world, STREAMS)], draw(world, 20));
	if (!world->blocks[one]) {
		new_block(world, one);
		return;
	}
	if (!world->small && draw(world, 3))
		launch_one(world, one);
	if (draw(world, 2))
		end_block(world, one);
}

static void *run(void *argument)
{
	struct world *world = argument;

	OK(cu.cuCtxSetCurrent(world->context));
	for (int i = 0; i < STREAMS; i++)
		OK(cu.cuStreamCreate(&world->streams[i], i % 2));
	for (unsigned long i = 0; i < steps; i++)
		step(world);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
	static struct world worlds[THREADS];
	pthread_t ids[THREADS];
	uint64_t live = 0;
	void *context;

	if (argc < 3 || threads > THREADS)
		return 2;
	alarm(600);
	steps = strtoul(argv[2], NULL, 0);
	context = begin();
	cu.stepping(threads == 1);
	for (unsigned i = 0; i < threads; i++) {
		worlds[i].random = strtoul(argv[1], NULL, 0) * 100 + i;
		worlds[i].steps = threads == 1;
		worlds[i].small = threads == THREADS;
		worlds[i].context = context;
		TRUE(!pthread_create(&ids[i], NULL, run, &worlds[i]));
	}
	for (unsigned i = 0; i < threads; i++) {
		TRUE(!pthread_join(ids[i], NULL));
		live += worlds[i].live_bytes;
	}
	cu.stepping(false);
	printf("%llu\n", (unsigned long long)live);
	return 0;
}
