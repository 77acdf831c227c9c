/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The thread that checks while the others work: the law of gpumem.h on every
 * pool's statistics, the library's own full check, what a walk adds up to, and
 * that the pools hold no more than the device has given.
 */
#include "soak.h"
#include "../law.h"

#include <time.h>

struct walk {
	uintptr_t end;
	bool backward;
};

static bool walk_block(const struct gpumem_block *block, void *user)
{
	struct walk *walk = user;
	uintptr_t at = (uintptr_t)block->ptr;

	if (at < walk->end)
		walk->backward = true;
	walk->end = at + block->bytes;
	return true;
}

static void check_pool(gpumem_pool *pool)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	struct walk walk = {0};
	const char *law;

	if (gpumem_pool_stats(pool, &stats))
		finding("no statistics");
	law = unlawful(&stats);
	if (law)
		finding("%s does not hold", law);
	if (gpumem_pool_check(pool))
		finding("a pool is corrupt");
	if (gpumem_block_visit(pool, walk_block, &walk) || walk.backward)
		finding("a walk is not in the order of addresses");
	tally.checks++;
}

void *laws_run(void *arg)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	(void)arg;
	while (!atomic_load(&world.over)) {
		for (unsigned i = 0; i < world.pool_count; i++) {
			enter();
			check_pool(world.pool[i]);
			leave();
		}
		nanosleep(&pause, NULL);
	}
	return NULL;
}
