/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The thread that disturbs the others: calls of the driver fail, limits move,
 * pools are trimmed and their statistics reset, other programs take memory of
 * the device, callbacks come and go, pools and streams are made and unmade
 * beside the ones in use.
 */
#include "soak.h"

#include <stdio.h>
#include <time.h>

static void pause_ns(long ns)
{
	const struct timespec pause = {.tv_nsec = ns};

	nanosleep(&pause, NULL);
}

static const char *const slots[] = {
	"page_create",	"page_destroy", "map",		"unmap",
	"alloc",	"free",		"event_record", "event_query",
	"event_create", "stream_query", "memory_info",	"fill",
	"va_reserve",	"va_release",	"capture_id",	"stream_create",
};

/* One to three slots, one call each or, for a while, all. */
static void make_faults(struct random *random)
{
	char faults[256] = "";
	size_t used = 0;

	for (uint64_t i = random_below(random, 3) + 1; i; i--)
		used += (size_t)snprintf(
			faults + used, sizeof(faults) - used, "%s%s@%llu%s%s",
			used ? ";" : "",
			slots[random_below(random,
					   sizeof(slots) / sizeof(slots[0]))],
			(unsigned long long)random_below(random, 40) + 1,
			one_in(random, 8) ? "+" : "",
			one_in(random, 4) ? ":no_memory" : "");
	if (gpumem_host_faults(faults))
		finding("faults \"%s\" are refused", faults);
	tally.faults++;
	leave();
	pause_ns(2000000);
	enter();
	took(gpumem_host_faults(NULL), "gpumem_host_faults");
}

static gpumem_pool *random_pool(struct random *random)
{
	return world.pool[random_below(random, world.pool_count)];
}

static void move_limit(struct random *random)
{
	uint64_t limit = (16 + random_below(random, 200)) * MIB;
	gpumem_pool *pool = random_pool(random);
	gpumem_status status;

	if (one_in(random, 2))
		limit = 0;
	status = gpumem_pool_set_limit(pool, limit);
	if (status != GPUMEM_BUSY)
		took(status, "gpumem_pool_set_limit");
	took(gpumem_pool_set_soft_limit(pool, limit / 2),
	     "gpumem_pool_set_soft_limit");
}

static void trim(struct random *random)
{
	uint64_t keep = one_in(random, 2) ? 0 : random_below(random, 64) * MIB;

	took(gpumem_pool_trim(random_pool(random), keep, NULL),
	     "gpumem_pool_trim");
	tally.trims++;
}

static bool relieve(gpumem_pool *pool, const struct gpumem_pressure *pressure,
		    void *user)
{
	(void)pressure;
	(void)user;
	return took(gpumem_pool_trim(pool, 0, NULL), "gpumem_pool_trim");
}

static void press(struct random *random)
{
	gpumem_pool *pool = random_pool(random);

	if (!took(gpumem_pool_pressure_add(pool, relieve, NULL),
		  "gpumem_pool_pressure_add"))
		return;
	leave();
	pause_ns(500000);
	enter();
	took(gpumem_pool_pressure_remove(pool, relieve, NULL),
	     "gpumem_pool_pressure_remove");
}

/* A pool of its own, with a block still pending when it goes. It does not know
 * who captures, and would disturb him. */
static void visit_pool(struct random *random)
{
	gpumem_status status;
	gpumem_pool *pool;
	void *ptr;

	if (!took(gpumem_pool_create(world.device, NULL, &pool),
		  "gpumem_pool_create"))
		return;
	if (took(gpumem_alloc(pool, 1 + random_below(random, MIB), NULL, &ptr),
		 "gpumem_alloc"))
		while (!gave(gpumem_free(ptr, world.shared[1]), "gpumem_free"))
			pause_inside();
	status = gpumem_pool_destroy(pool, 0);
	if (status == GPUMEM_BUSY)
		finding("a pool without blocks is busy");
	else
		took(status, "gpumem_pool_destroy");
}

static void crowd(struct random *random)
{
	took(gpumem_host_outside(0, random_below(random, 32) * MIB),
	     "gpumem_host_outside");
	leave();
	pause_ns(1000000);
	enter();
	took(gpumem_host_outside(0, 0), "gpumem_host_outside");
}

static void disturb(struct random *random)
{
	uint64_t pick = random_below(random, 12);

	if (pick < 4 && world.faulty)
		make_faults(random);
	else if (pick < 6)
		trim(random);
	else if (pick < 7)
		move_limit(random);
	else if (pick < 8)
		press(random);
	else if (pick < 9 && !world.captures)
		visit_pool(random);
	else if (pick < 10)
		crowd(random);
}

void *chaos_run(void *arg)
{
	struct random random;

	(void)arg;
	random_start(&random, world.number, 1000);
	while (!atomic_load(&world.over)) {
		enter();
		disturb(&random);
		leave();
		pause_ns(300000);
	}
	took(gpumem_host_faults(NULL), "gpumem_host_faults");
	return NULL;
}
