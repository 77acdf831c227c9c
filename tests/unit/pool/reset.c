/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A reset of the statistics changes nothing that the pool decides by: what it
 * knows of its peak, and for how long that has been one.
 */
#include "base/fork.h"
#include "base/option.h"
#include "loader/loader.h"
#include "pool/pool.h"
#include "../../tap.h"
#include <unistd.h>

#define must(call)                                                             \
	do {                                                                   \
		if (call)                                                      \
			bail("line %d: %s", __LINE__, #call);                  \
	} while (0)

enum { MIB = 1 << 20 };

static struct gpumem_device *device;
static struct gpumem_pool *pool;

static void use(size_t bytes)
{
	const struct gm_request request = {.bytes = bytes, .alignment = 1};
	void *ptr;

	must(gm_pool_alloc(pool, &request, &ptr));
	must(gm_heap_free_own(ptr));
}

/* Since the peak of 8 MiB so much was allocated. */
static void since(uint64_t mib, const char *what)
{
	struct gm_counters *counters = &pool->heap.counters;

	gm_heap_stop(&pool->heap);
	is_uint(counters->highest_allocated, 8 * MIB, "%s: the peak", what);
	is_uint(gm_counters_since_highest(counters), mib * MIB, "%s: since",
		what);
	gm_heap_go(&pool->heap);
}

int main(void)
{
	const struct gpumem_pool_config config = {.size = sizeof(config)};
	const struct gm_backend *host;

	alarm(60);
	gm_fork_init();
	must(gm_backend_find("host", &host));
	must(gm_device_open("host:0", &device));
	must(gm_pool_create(device, &config, NULL, &pool));
	use(8 * MIB);
	use(4 * MIB);
	since(4, "before");
	gm_pool_reset_stats(pool, false);
	since(4, "peaks reset");
	gm_pool_reset_stats(pool, true);
	since(4, "totals reset");
	use(2 * MIB);
	since(6, "later");
	gm_pool_reset_stats(pool, true);
	since(6, "once more");
	must(gm_pool_destroy(pool, false));
	gm_device_release(device);
	return done_testing();
}
