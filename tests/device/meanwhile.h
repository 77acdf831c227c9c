/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a pool does while a device works on a stream which is none of its own,
 * without waiting for it: pages are taken, moved and given back. Whoever
 * includes this says what the work is.
 */
#ifndef GPUMEM_TESTS_DEVICE_MEANWHILE_H
#define GPUMEM_TESTS_DEVICE_MEANWHILE_H

#include "must.h"

/* Some work begins; has it not ended yet; let it end, and wait for that. */
static void begin_work(void);
static bool working(void);
static void end_work(void);

enum { BLOCKS = 320 }; /* of 32 MiB: handles are of no more than two */

static gpumem_pool *pool;
static void *block[BLOCKS];

static void fill_pool(void)
{
	for (int i = 0; i < BLOCKS; i++)
		must(gpumem_alloc(pool, 32 * MIB, NULL, &block[i]));
}

/* Every second block is free: no large one fits but by moving pages. */
static void test_move(void)
{
	struct gpumem_stats before = GPUMEM_INIT(struct gpumem_stats);
	struct gpumem_stats after = before;
	void *large;
	double ms;

	fill_pool();
	for (int i = 0; i < BLOCKS; i += 2)
		must(gpumem_free(block[i], NULL));
	must(gpumem_pool_stats(pool, &before));
	begin_work();
	ms = now_ms();
	must(gpumem_alloc(pool, 4 * GIB, NULL, &large));
	ms = now_ms() - ms;
	ok(working(), "4 GiB are put together while the device works");
	must(gpumem_pool_stats(pool, &after));
	ok(after.moved_bytes - before.moved_bytes >= 3 * GIB,
	   "of pages that were moved");
	diag("%.1f ms, %.2f GiB moved", ms,
	     (double)(after.moved_bytes - before.moved_bytes) / (double)GIB);
	must(gpumem_free(large, NULL));
	for (int i = 1; i < BLOCKS; i += 2)
		must(gpumem_free(block[i], NULL));
	end_work();
}

static void test_trim(void)
{
	uint64_t released;
	double ms;

	fill_pool();
	for (int i = 0; i < BLOCKS; i++)
		must(gpumem_free(block[i], NULL));
	begin_work();
	ms = now_ms();
	must(gpumem_pool_trim(pool, 0, &released));
	ms = now_ms() - ms;
	ok(working(), "a trim is over while the device works");
	ok(released >= 10 * GIB, "and has given back what was cached");
	diag("%.1f ms, %.2f GiB given back", ms,
	     (double)released / (double)GIB);
	end_work();
}

static void test_grow(void)
{
	double ms;

	begin_work();
	ms = now_ms();
	fill_pool();
	ms = now_ms() - ms;
	ok(working(), "a pool grows by 10 GiB while the device works");
	diag("%.1f ms", ms);
	for (int i = 0; i < BLOCKS; i++)
		must(gpumem_free(block[i], NULL));
	ok(working(), "and takes it back");
	end_work();
}

static void test_meanwhile(const char *name)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	gpumem_device *device;

	must(gpumem_device_open(name, &device));
	must(gpumem_device_get_info(device, &info));
	if (!(info.caps & GPUMEM_CAP_VM))
		skip_all("without virtual memory the driver's own free waits");
	config.name = "meanwhile";
	must(gpumem_pool_create(device, &config, &pool));
	test_grow();
	test_move();
	test_trim();
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_device_close(device));
}

#endif
