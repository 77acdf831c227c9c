/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See addresses.h. */
#include "addresses.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * The next one gets an eighth of that part of what is left that is left of all,
 * which for the nth comes to 8 / (n + 8)^2 of the budget, so that there is
 * something left for many; or this part of all or so many, as long as they are
 * there. And no more than a quarter of what the process may still take, or so
 * many.
 */
enum { LIMIT_PART = 4, SHARE_PART = 8, LEAST_PART = 256, ROOM_PART = 4 };
static const uint64_t budget_most = 1ull << 45, share_least = 64ull << 20;

static _Atomic uint64_t all_bytes;

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t gm_addresses_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

/* What of its limit the process has not used. UINT64_MAX: nobody says. */
static uint64_t limit_room(uint64_t limit)
{
	FILE *file =
		limit == UINT64_MAX ? NULL : fopen("/proc/self/statm", "re");
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned long long pages;
	bool known = file && fscanf(file, "%llu", &pages) == 1;

	if (file)
		fclose(file);
	if (!known)
		return UINT64_MAX;
	return limit / page > pages ? limit - pages * page : 0;
}

uint64_t gm_addresses_share(void)
{
	uint64_t limit = gm_addresses_limit();
	uint64_t budget = least_of(limit / LIMIT_PART, budget_most);
	uint64_t used = atomic_load(&all_bytes);
	uint64_t left = used < budget ? budget - used : 0;
	uint64_t least = least_of(budget / LEAST_PART, share_least);
	uint64_t room = most_of(limit_room(limit) / ROOM_PART, share_least);
	uint64_t share;

	if (!left)
		return 0;
	share = (uint64_t)((double)left / (double)budget * (double)left) /
		SHARE_PART;
	return least_of(most_of(share, least_of(left, least)), room);
}

void gm_addresses_add(uint64_t bytes)
{
	atomic_fetch_add(&all_bytes, bytes);
}

void gm_addresses_sub(uint64_t bytes)
{
	atomic_fetch_sub(&all_bytes, bytes);
}
