/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What must hold after the program of workload.h ran while something
 * failed, now that nothing fails any more: all counters agree, the library
 * works, and all is given back. Only the main thread calls what is here.
 */
#ifndef LIB_AFTERMATH_H
#define LIB_AFTERMATH_H

#include "workload.h"

static uint64_t requested_of(unsigned pool)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < work.count; i++)
		if (work.block[i].pool == pool)
			sum += work.block[i].bytes;
	return sum;
}

/* The counters of the pools, ours, and the device's. */
static void work_compare(bool lost)
{
	uint64_t reserved = 0;

	for (unsigned i = 0; i < WORK_POOLS; i++) {
		struct gpumem_stats stats;
		const char *broken;

		if (!work.pool[i])
			continue;
		want(!gpumem_pool_check(work.pool[i]), "pool %u is not sound",
		     i);
		stats = stats_of(work.pool[i]);
		broken = unlawful(&stats);
		want(!broken, "pool %u: %s", i, broken);
		want(stats.requested.current == requested_of(i),
		     "pool %u has %llu bytes, not %llu", i,
		     (ull)stats.requested.current, (ull)requested_of(i));
		reserved += stats.reserved.current;
	}
	want(lost || work.leaked || reserved == gpumem_host_used_bytes(0),
	     "%llu bytes are reserved, but the device gave %llu", (ull)reserved,
	     (ull)gpumem_host_used_bytes(0));
}

/* The library works as if nothing had been, where there is memory. */
static void work_on(void)
{
	void *ptr[2];

	if (!work.pool[0] || work.leaked)
		return;
	want(!gpumem_alloc(work.pool[0], 5000, work.stream[0], &ptr[0]),
	     "small blocks are allocated again");
	want(!gpumem_alloc(work.pool[0], 3 * MIB, NULL, &ptr[1]),
	     "large blocks are allocated again");
	if (work.broken)
		return;
	want(!gpumem_free(ptr[0], NULL) && !gpumem_free(ptr[1], NULL),
	     "and freed");
}

static void work_end(bool lost)
{
	gpumem_pool *pool = work.pool[0];

	for (unsigned i = work.count; i-- > 0;)
		want(!gpumem_free(work.block[i].ptr, work.stream[0]),
		     "block %u is freed", i);
	want(lost || !gpumem_stream_sync(device, NULL), "sync");
	for (unsigned i = 0; i < WORK_STREAMS && !lost; i++)
		want(!gpumem_stream_sync(device, work.stream[i]), "sync");
	if (!lost)
		work_on();
	for (unsigned i = 0; i < WORK_STREAMS && !lost; i++)
		want(!work.stream[i] ||
			     !gpumem_stream_destroy(device, work.stream[i]),
		     "stream %u is destroyed", i);
	for (unsigned i = 0; i < WORK_POOLS; i++) {
		if (!(pool = work.pool[i]))
			continue;
		want(lost || !gpumem_pool_trim(pool, 0, NULL), "trim");
		want(lost || !reserved_of(pool),
		     "pool %u keeps %llu bytes, %llu of them pending", i,
		     (ull)reserved_of(pool), (ull)stats_of(pool).pending_bytes);
		want(!gpumem_pool_destroy(pool, 0), "pool %u ends", i);
	}
	want(lost || work.leaked || !gpumem_host_used_bytes(0),
	     "the device keeps %llu bytes", (ull)gpumem_host_used_bytes(0));
	want(!gpumem_device_close(device), "the device closes");
}

/* After work_run(). */
LIB_USE void work_settle(bool lost)
{
	work_compare(lost);
	work_end(lost);
}

#endif
