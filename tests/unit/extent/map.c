/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The map of addresses, against an array, at the borders of its tables, and
 * with threads that race for the same table. The addresses are made up. */
#include "base/error.h"
#include "extent/map.h"
#include "../../tap.h"
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define GRANULE ((uintptr_t)1 << GM_GRANULE_SHIFT)
#define REGION ((uintptr_t)1 << GM_REGION_SHIFT)
#define HIGHEST (((uintptr_t)1 << GM_ADDRESS_BITS) - 1)
#define BASE (7 * REGION)
#define THREADS 2u

static void test_empty(void)
{
	is_uint(gm_map_get(0), 0, "nothing is at 0");
	is_uint(gm_map_get(BASE), 0, "nothing where no table is");
	is_uint(gm_map_get(HIGHEST), 0, "nothing at the highest address");
	is_uint(gm_map_get(HIGHEST + 1), 0, "nothing beyond 48 bits");
	is_uint(gm_map_get(UINTPTR_MAX), 0, "nothing at the very end");
	is_uint(gm_map_find_below(BASE + 5 * GRANULE, BASE), 0,
		"nothing is found where no table is");
}

static void test_refusals(void)
{
	is_status(gm_map_ensure(HIGHEST + 1, GRANULE), GPUMEM_UNSUPPORTED,
		  "no table beyond 48 bits");
	is_status(gm_map_ensure(HIGHEST - GRANULE + 1, GRANULE + 1),
		  GPUMEM_UNSUPPORTED, "nor for what ends beyond");
	is_status(gm_map_ensure(UINTPTR_MAX - GRANULE, 2 * GRANULE),
		  GPUMEM_UNSUPPORTED, "nor for what wraps around");
	is_status(gm_map_ensure(HIGHEST - GRANULE + 1, GRANULE), GPUMEM_OK,
		  "but for the last address there is one");
	gm_map_set(HIGHEST, 77);
	is_uint(gm_map_get(HIGHEST - GRANULE + 1), 77, "which holds an entry");
	gm_map_set(HIGHEST, 0);
}

/* An entry is for its granule, and for no other, in no other table. */
static void test_granules(void)
{
	uintptr_t border = BASE + REGION;

	is_status(gm_map_ensure(border - GRANULE, 2 * GRANULE), GPUMEM_OK,
		  "tables on both sides of a border");
	gm_map_set(border - GRANULE, 1);
	gm_map_set(border, 2);
	is_uint(gm_map_get(border - 1), 1, "the last byte below the border");
	is_uint(gm_map_get(border), 2, "the first byte above it");
	is_uint(gm_map_get(border + GRANULE - 1), 2, "the granule's last byte");
	is_uint(gm_map_get(border + GRANULE), 0, "the next granule");
	is_uint(gm_map_get(border - GRANULE - 1), 0, "the one before");
	is_uint(gm_map_get(BASE), 0, "the same place a table below");
	is_uint(gm_map_find_below(border + 9 * GRANULE, BASE), border,
		"found from above");
	gm_map_set(border, 0);
	is_uint(gm_map_find_below(border + 9 * GRANULE, BASE), border - GRANULE,
		"found across the border");
	is_uint(gm_map_find_below(border + 9 * GRANULE, border), 0,
		"but not below the floor");
	gm_map_set(border - GRANULE, 0);
	is_status(gm_map_ensure(BASE, 3 * REGION), GPUMEM_OK, "three tables");
	gm_map_set(BASE + 2 * REGION, 3);
	is_uint(gm_map_get(BASE + 2 * REGION), 3, "up to the last");
	gm_map_set(BASE + 2 * REGION, 0);
}

enum { MODEL = 64 };

static uintptr_t model[MODEL];

/* By the naive way: the highest that is not above, and not below the floor. */
static uintptr_t below(size_t at, size_t floor)
{
	for (size_t i = at + 1; i-- > floor;)
		if (model[i])
			return BASE + i * GRANULE;
	return 0;
}

static unsigned compare(void)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < MODEL; i++) {
		uintptr_t at = BASE + i * GRANULE;
		size_t floor = i / 2;

		wrong += gm_map_get(at) != model[i];
		wrong += gm_map_get(at + GRANULE - 1) != model[i];
		wrong += gm_map_find_below(at + i, BASE + floor * GRANULE) !=
			 below(i, floor);
	}
	return wrong;
}

static void test_model(void)
{
	long rounds = scaled(20000, 2000);
	unsigned wrong = 0;

	srand(1);
	for (long i = 0; i < rounds; i++) {
		size_t first = (size_t)rand() % MODEL;
		size_t count = 1 + (size_t)rand() % 3;
		uintptr_t entry = rand() % 2 ? (uintptr_t)rand() : 0;

		if (first + count > MODEL)
			count = MODEL - first;
		gm_map_fill(BASE + first * GRANULE, count * GRANULE, entry);
		for (size_t k = 0; k < count; k++)
			model[first + k] = entry;
		wrong += compare();
	}
	is_uint(wrong, 0, "filled at random, it is as an array");
}

static _Atomic unsigned arrived, lost;

/* All begin each table together. */
static void meet(unsigned turn)
{
	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) < THREADS * (turn + 1))
		sched_yield();
}

/* Each thread writes a granule of its own of tables that none has made. */
static void *race(void *arg)
{
	uintptr_t own = (uintptr_t)arg * GRANULE;
	uintptr_t first = 100 * REGION, end = 800 * REGION;
	unsigned turn = 0;

	for (uintptr_t at = first; at < end; at += REGION) {
		meet(turn++);
		if (gm_map_ensure(at + own, GRANULE))
			atomic_fetch_add(&lost, 1);
		gm_map_set(at + own, own + 1);
	}
	for (uintptr_t at = first; at < end; at += REGION)
		if (gm_map_get(at + own) != own + 1)
			atomic_fetch_add(&lost, 1);
	return NULL;
}

static void test_race(void)
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, race, (void *)i);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	is_uint(atomic_load(&lost), 0, "no entry is lost in a race");
}

int main(void)
{
	alarm(60);
	test_empty();
	test_refusals();
	test_granules();
	test_model();
	test_race();
	return done_testing();
}
