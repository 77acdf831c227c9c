/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Two threads grow a pool, with and without a limit, which counts what is on
 * its way; and the growth fails, or the device is lost.
 */
#include "let_go.h"
#include "device/loss.h"
#include <sched.h>

static void *taken[2];

/* ---- two grow ---- */

static pthread_t second;
static gpumem_status second_status;

static void *grow_too(void *unused)
{
	(void)unused;
	second_status = allocate(6 * PAGE, NULL, &taken[1]);
	gm_locals_end_call();
	return NULL;
}

static void start_second(void)
{
	unsigned waiting = 0;

	if (pthread_create(&second, NULL, grow_too, NULL))
		bail("no thread");
	while (!waiting) {
		sched_yield();
		pthread_mutex_lock(&pool->heap.mutex);
		waiting = pool->heap.space->growth.waiting;
		pthread_mutex_unlock(&pool->heap.mutex);
	}
	is_uint(atomic_load(&created), 0, "%s: the second waits", slot);
	sound("two grow");
}

static void test_two(uint64_t limit_bytes, gpumem_status expected)
{
	struct gpumem_stats stats;
	void *ptr;

	pool_start(limit_bytes);
	expect(start_second, GPUMEM_OK);
	ptr = block(6 * PAGE);
	is_over();
	pthread_join(second, NULL);
	is_status(second_status, expected, "%s: the second", slot);
	gm_pool_stats(pool, &stats);
	ok(!limit_bytes || stats.reserved.peak <= limit_bytes,
	   "%s: within the limit", slot);
	is_uint(stats.misses, 1u + (expected == GPUMEM_OK), "%s: misses", slot);
	sound("both are over");
	give(ptr);
	if (expected == GPUMEM_OK)
		give(taken[1]);
	pool_end();
}

/* What is being created is not reserved yet, and counts. */
static void near_limit(void)
{
	uint64_t holds;

	is_status(gm_pool_set_limit(pool, 6 * PAGE), GPUMEM_BUSY,
		  "%s: a limit below what is on its way", slot);
	ok(gm_heap_resize(taken[0], 4 * PAGE, NULL, &holds) != GPUMEM_OK,
	   "%s: a block does not grow beyond it", slot);
	is_uint(reserved(), 2 * PAGE, "%s: nothing was taken for it", slot);
	sound("near the limit");
}

static void test_limit(void)
{
	void *ptr, *hole, *behind;

	pool_start(8 * PAGE);
	taken[0] = block(PAGE);
	hole = block(4 * PAGE);
	behind = block(PAGE);
	give(hole);
	trim();
	expect(near_limit, GPUMEM_OK);
	ptr = block(6 * PAGE);
	is_over();
	ok(reserved() <= 8 * PAGE, "%s: the limit holds", slot);
	sound("at the limit");
	give(ptr);
	give(behind);
	give(taken[0]);
	pool_end();
}

/* An attempt beyond the soft limit stays one, and others are none: more handles
 * than are created at a time. */
static void near_soft_limit(void)
{
	is_uint(gm_limit_room(&pool->heap, NULL), 0,
		"%s: the soft limit is that of others", slot);
	give(block(1000));
}

static void test_soft_limit(void)
{
	void *ptr, *small;

	pool_start(0);
	small = block(1000);
	gm_pool_set_soft_limit(pool, PAGE);
	expect(near_soft_limit, GPUMEM_OK);
	is_status(allocate(70 * PAGE, NULL, &ptr), GPUMEM_OK,
		  "%s: beyond the soft limit", slot);
	is_over();
	sound("beyond it");
	give(ptr);
	give(small);
	pool_end();
}

/* ---- it fails ---- */

static void test_refused(void (*fn)(void), gpumem_status status)
{
	void *first, *ptr = NULL;

	pool_start(0);
	first = block(MIB);
	expect(fn, status);
	is_status(allocate(6 * PAGE, NULL, &ptr), status, "%s: refused", slot);
	is_over();
	sound("it failed");
	give(block(6 * PAGE));
	give(first);
	sound("and then it grows");
	pool_end();
}

/* Ends the device: last. Other threads hear of it too. */
static void lose(void)
{
	void *ptr;

	(void)gm_device_lose(device);
	is_status(allocate(1000, NULL, &ptr), GPUMEM_LOST,
		  "%s: the device is lost", slot);
}

static void test_lost(void)
{
	void *ptr;

	pool_start(0);
	(void)block(1000);
	expect(lose, GPUMEM_LOST);
	is_status(allocate(6 * PAGE, NULL, &ptr), GPUMEM_LOST,
		  "%s: so is the growth", slot);
	is_over();
	must(gm_pool_destroy(pool, true));
}

static void test_slot(bool pool_has_pages)
{
	(void)pool_has_pages;
	test_two(0, GPUMEM_OK);
	test_two(8 * PAGE, GPUMEM_LIMIT);
	test_refused(NULL, GPUMEM_DRIVER);
}

int main(void)
{
	let_go_start();
	in_each_slot(test_slot);
	test_limit();
	test_soft_limit();
	test_lost();
	unhook_driver(device);
	return done_testing();
}
