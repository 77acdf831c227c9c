/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a longjmp() out of a callback does is what gpumem.h says of it: out of a
 * walk the lock stays held, and other threads wait for it; out of a pressure
 * callback nothing is locked, but this thread asks no callback of that pool
 * again, but those of others. Each case is a process of its own, since that one
 * is spoiled.
 */
#include "child.h"
#include <setjmp.h>

static gpumem_pool *pool;
static jmp_buf away;
static unsigned asked;
static _Atomic bool got;

/* With a live block, so that all of its limit is too much. */
static void create_pool(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	void *ptr;

	config.limit_bytes = 64 * MIB;
	works(gpumem_pool_create(device, &config, &pool));
	works(gpumem_alloc(pool, MIB, NULL, &ptr));
}

static void start(void)
{
	works(gpumem_device_open("host:0", &device));
	create_pool();
}

static void returned(gpumem_status status)
{
	wrong("the callback was not called: %s", gpumem_status_name(status));
}

static bool jump_block(const struct gpumem_block *block, void *user)
{
	(void)block;
	(void)user;
	longjmp(away, 1);
}

static bool jump_pool(gpumem_pool *one, const char *name, void *user)
{
	(void)one;
	(void)name;
	(void)user;
	longjmp(away, 1);
}

static bool jump_pressure(gpumem_pool *one,
			  const struct gpumem_pressure *pressure, void *user)
{
	(void)one;
	(void)pressure;
	(void)user;
	asked++;
	longjmp(away, 1);
}

/* ---- out of a walk ---- */

static void *want_pool(void *unused)
{
	works(gpumem_pool_trim(pool, 0, NULL));
	atomic_store(&got, true);
	return unused;
}

static void *want_list(void *unused)
{
	gpumem_pool *another;

	works(gpumem_pool_create(device, NULL, &another));
	atomic_store(&got, true);
	return unused;
}

/* A thread that has the lock gets through at once; one that has to wait for it
 * never does, so that looking too early cannot fail. */
static void stays_locked(void *(*fn)(void *))
{
	pthread_t thread;

	need(!pthread_create(&thread, NULL, fn, NULL), "no thread");
	for (int i = 0; i < 50; i++)
		usleep(2000);
	need(!atomic_load(&got), "nothing is locked: gpumem.h says otherwise");
}

static void case_visit(const void *unused)
{
	(void)unused;
	start();
	if (!setjmp(away))
		returned(gpumem_block_visit(pool, jump_block, NULL));
	stays_locked(want_pool);
}

static void case_each(const void *unused)
{
	(void)unused;
	start();
	if (!setjmp(away))
		returned(gpumem_pool_visit(device, jump_pool, NULL));
	stays_locked(want_list);
}

/* ---- out of a pressure callback ---- */

static void *use_pool(void *unused)
{
	void *ptr;

	works(gpumem_alloc(pool, 2 * MIB, NULL, &ptr));
	works(gpumem_free(ptr, NULL));
	works(gpumem_pool_trim(pool, 0, NULL));
	works(gpumem_pool_check(pool));
	return unused;
}

static void *be_asked(void *unused)
{
	void *ptr;

	if (!setjmp(away))
		returned(gpumem_alloc(pool, 64 * MIB, NULL, &ptr));
	return unused;
}

static void in_thread(void *(*fn)(void *))
{
	pthread_t thread;

	need(!pthread_create(&thread, NULL, fn, NULL), "no thread");
	need(!pthread_join(thread, NULL), "no end of a thread");
}

/* With something else where the frames lay that were jumped out of. */
static gpumem_status alloc_above_limit(void)
{
	volatile unsigned char other[16 * 1024];
	void *ptr;

	for (size_t i = 0; i < sizeof(other); i++)
		other[i] = 0xa5;
	return gpumem_alloc(pool, 64 * MIB, NULL, &ptr);
}

static void be_asked_first(void)
{
	works(gpumem_pool_pressure_add(pool, jump_pressure, NULL));
	be_asked(NULL);
}

static void case_pressure(const void *unused)
{
	(void)unused;
	start();
	be_asked_first();
	need(asked == 1, "the callback was called %u times", asked);
	use_pool(NULL);
	in_thread(use_pool);
	need(alloc_above_limit() == GPUMEM_LIMIT,
	     "an allocation above the limit");
	need(asked == 1, "this thread asks no more");
	in_thread(be_asked);
	need(asked == 2, "another thread does");
}

/* Malloc gives the new pool the address of the one that was just freed, or this
 * shows nothing. */
static void case_new_pool(const void *unused)
{
	const gpumem_pool *before;

	(void)unused;
	start();
	be_asked_first();
	before = pool;
	works(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	create_pool();
	if (pool != before)
		diag("the new pool has another address");
	be_asked_first();
	need(asked == 2, "the new pool's callback was called");
}

int main(void)
{
	in_child(case_visit, NULL, "gpumem_block_visit: the pool stays locked");
	in_child(case_each, NULL, "gpumem_pool_visit: the list stays locked");
	in_child(case_pressure, NULL,
		 "a pressure callback: no lock is held, the thread asks none "
		 "again");
	in_child(case_new_pool, NULL, "another pool after that one: it asks");
	return done_testing();
}
