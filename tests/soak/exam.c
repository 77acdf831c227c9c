/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What must hold when a round is over: nothing is live, no work is under way
 * and no call fails any more, so every byte goes back, no capture was
 * disturbed, and the process has as many descriptors and threads as before.
 */
#include "soak.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

/* But for the one in which option oom_snapshot records, while there are pools.
 */
static size_t count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	size_t count = 0;

	while (folder && (entry = readdir(folder))) {
		char target[64] = "";

		if (readlinkat(dirfd(folder), entry->d_name, target,
			       sizeof(target) - 1) > 0)
			count += !strstr(target, "memfd:gpumem-record");
	}
	if (folder)
		closedir(folder);
	return count;
}

static void exam_pool(gpumem_pool *pool)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);

	if (gpumem_pool_set_limit(pool, 0))
		finding("no limit is refused");
	if (gpumem_pool_trim(pool, 0, NULL))
		finding("a trim fails without faults");
	if (gpumem_pool_check(pool) || gpumem_pool_stats(pool, &stats))
		finding("a pool is corrupt at the end");
	if (stats.blocks.current || stats.requested.current ||
	    stats.active.current)
		finding("%llu blocks of %llu bytes are live or pending",
			(unsigned long long)stats.blocks.current,
			(unsigned long long)stats.active.current);
	if (stats.reserved.current)
		finding("%llu bytes stay reserved",
			(unsigned long long)stats.reserved.current);
}

void exam(void)
{
	static uint64_t violations;
	static size_t descriptors;
	size_t now;

	/* The thread that gives idle memory back is not ours to keep apart. */
	if (gpumem_host_capture_violations() > violations &&
	    !strstr(world.options, "decay_thread:on"))
		finding("captures were disturbed");
	violations = gpumem_host_capture_violations();
	/* What a lost device had is only forgotten. */
	if (world.lossy)
		return;
	for (int i = 0; i < SHARED_STREAMS; i++)
		if (gpumem_stream_sync(world.device, world.shared[i]))
			finding("a stream cannot be waited for");
	for (unsigned i = 0; i < world.pool_count; i++)
		exam_pool(world.pool[i]);
	if (gpumem_host_used_bytes(0))
		finding("the device has given %llu bytes that no pool has",
			(unsigned long long)gpumem_host_used_bytes(0));
	now = count_descriptors();
	if (descriptors && now > descriptors)
		finding("%zu descriptors are open, %zu before", now,
			descriptors);
	descriptors = now;
}
