/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What to do when memory runs out: a callback drops what can be had again, the
 * oldest first, until the request fits. If it never does, another says why.
 *
 *	cc out_of_memory.c $(pkg-config --cflags --libs gpumem) && ./a.out
 *
 * The pool has a limit of 256 MiB, so that this happens on any device.
 */
#include <gpumem/gpumem.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)
#define RESULTS 6

/* Results that could be computed again, oldest first. */
struct cache {
	void *results[RESULTS];
	int dropped;
};

static void must(gpumem_status status)
{
	if (status == GPUMEM_OK)
		return;
	fprintf(stderr, "%s\n", gpumem_error_text());
	exit(1);
}

/* Called without any lock, in the thread that wants memory. true: try again. */
static bool drop_oldest(gpumem_pool *pool,
			const struct gpumem_pressure *pressure, void *user)
{
	struct cache *cache = user;
	uint64_t room = 0;

	(void)pool;
	for (; room < pressure->needed_bytes && cache->dropped < RESULTS;
	     room += 32 * MIB) {
		printf("dropping result %d\n", cache->dropped);
		must(gpumem_free(cache->results[cache->dropped++], NULL));
	}
	return room > 0;
}

/* The same thread is told that nothing helped; oom->json has all of it. */
static void explain(const struct gpumem_oom *oom, void *file)
{
	fprintf(file, "%llu MiB would fit: %s\n",
		(unsigned long long)(oom->fits_bytes / MIB), oom->text);
}

int main(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	struct cache cache = {{NULL}, 0};
	gpumem_device *device;
	gpumem_pool *pool;
	void *block;

	config.name = "model";
	config.limit_bytes = 256 * MIB;
	must(gpumem_device_open(NULL, &device));
	must(gpumem_pool_create(device, &config, &pool));
	gpumem_oom_set(explain, stdout);
	must(gpumem_pool_pressure_add(pool, drop_oldest, &cache));
	for (int i = 0; i < RESULTS; i++)
		must(gpumem_alloc(pool, 32 * MIB, NULL, &cache.results[i]));
	must(gpumem_alloc(pool, 96 * MIB, NULL, &block));
	printf("96 MiB fit, %d results are left\n", RESULTS - cache.dropped);
	GPUMEM_IGNORE(gpumem_alloc(pool, 250 * MIB, NULL, &block));
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_device_close(device));
	return 0;
}
