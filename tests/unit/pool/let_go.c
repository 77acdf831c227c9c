/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * While a pool grows, others look at it and use it, take or trim the free
 * memory beside the new, and fork.
 */
#include "let_go.h"
#include <sched.h>
#include <sys/wait.h>

/* ---- looked at ---- */

static void look(void)
{
	struct gpumem_stats stats;

	ok(!pthread_mutex_trylock(&pool->heap.mutex), "%s: the mutex is free",
	   slot);
	pthread_mutex_unlock(&pool->heap.mutex);
	sound("all is in order");
	gm_pool_stats(pool, &stats);
	ok(stats.requested.current <= stats.allocated.current &&
		   stats.allocated.current <= stats.active.current &&
		   stats.active.current <= stats.reserved.current,
	   "%s: and adds up", slot);
	is_status(gm_pool_destroy(pool, false), GPUMEM_BUSY,
		  "%s: the pool cannot go", slot);
	is_status(gm_pool_destroy(pool, true), GPUMEM_BUSY, "%s: nor by force",
		  slot);
}

static void test_looked_at(void)
{
	void *ptr;

	pool_start(0);
	expect(look, GPUMEM_OK);
	ptr = block(5 * PAGE);
	is_over();
	sound("grown");
	give(ptr);
	pool_end();
}

/* Handles of two sizes: the larger ones are there already. */
static void test_sizes(gpumem_status refuse)
{
	void *base, *ptr;

	pool_start(0);
	give(block(64 * PAGE)); /* a pool that only grows takes one size */
	base = block(960 * PAGE);
	expect(look, refuse);
	next.skip = 1;
	is_status(allocate(17 * PAGE, NULL, &ptr), refuse, "%s: two sizes",
		  slot);
	is_over();
	sound("grown by two sizes");
	if (refuse == GPUMEM_OK)
		give(ptr);
	give(base);
	pool_end();
}

/* ---- used ---- */

static void *taken[2];

/* What is free serves, from slabs, caches and free memory. */
static void use(void)
{
	for (int i = 0; i < 4; i++) {
		void *small = block(1000), *large = block(MIB);

		give(small);
		give(large);
	}
	is_uint(atomic_load(&created), 0, "%s: what is free serves", slot);
}

static void test_used(void)
{
	void *ptr, *small;

	pool_start(0);
	small = block(1000);
	give(block(2 * PAGE));
	expect(use, GPUMEM_OK);
	ptr = block(8 * PAGE);
	is_over();
	sound("used");
	give(ptr);
	give(small);
	pool_end();
}

/* The free memory beside the new one goes to somebody else. */
static void take_neighbour(void)
{
	taken[0] = block(2 * PAGE - 4 * MIB / 1024);
	sound("the neighbour is taken");
}

/* A trim takes the neighbour away; it then gives way to the growth. */
static pthread_t trimmer;
static bool trims;

static void *trim_thread(void *unused)
{
	(void)unused;
	trim();
	return NULL;
}

static void start_trim(void)
{
	if (pthread_create(&trimmer, NULL, trim_thread, NULL))
		bail("no thread");
	trims = true;
	while (!atomic_load(&device->gate->paused))
		sched_yield();
	sound("a trim has begun");
}

static void end_trim(void)
{
	if (trims)
		pthread_join(trimmer, NULL);
	trims = false;
}

static void test_neighbour(void (*fn)(void))
{
	void *first, *ptr;

	pool_start(0);
	taken[0] = NULL;
	first = block(PAGE);
	give(block(2 * PAGE));
	ptr = block(2 * PAGE);
	give(ptr);
	expect(fn, GPUMEM_OK);
	ptr = block(6 * PAGE);
	end_trim();
	is_over();
	memset(ptr, 1, 6 * PAGE);
	sound("grown all the same");
	give(ptr);
	if (taken[0])
		give(taken[0]);
	give(first);
	pool_end();
}

/* ---- a child ---- */

static void fork_child(void)
{
	pid_t child = fork();
	int result = -1;
	void *ptr;

	if (child < 0)
		bail("no child");
	if (child == 0)
		_exit(allocate(MIB, NULL, &ptr) == GPUMEM_FORKED ? 0 : 1);
	waitpid(child, &result, 0);
	is_int(result, 0, "%s: a child is told what it is", slot);
}

static void test_fork(void)
{
	void *ptr;

	pool_start(0);
	expect(fork_child, GPUMEM_OK);
	ptr = block(3 * PAGE);
	is_over();
	give(ptr);
	pool_end();
}

static void test_slot(bool pool_has_pages)
{
	test_looked_at();
	test_used();
	if (pool_has_pages) {
		test_neighbour(take_neighbour);
		test_neighbour(start_trim);
	}
	test_fork();
}

int main(void)
{
	let_go_start();
	in_each_slot(test_slot);
	slot = "map";
	test_sizes(GPUMEM_OK);
	test_sizes(GPUMEM_DRIVER);
	unhook_driver(device);
	return done_testing();
}
