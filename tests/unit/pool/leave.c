/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Out of memory, while another thread is giving back enough: what is on its way
 * to the driver is neither free nor to be had there, but it will be. Nobody
 * fails for that.
 */
#include "loader/loader.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/option.h"
#include "cache/local.h"
#include "pool/pool.h"
#include "../device/hooked.h"
#include <gpumem/host.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

#define must(call)                                                             \
	do {                                                                   \
		if (call)                                                      \
			bail("line %d: %s", __LINE__, #call);                  \
	} while (0)

static struct gpumem_device *device;
static struct gpumem_pool *pool;
static pthread_t trimmer;
static void *live;
static gpumem_status refuse;
/* The slow call: wanted, begun. */
static _Atomic bool slow, begun;

/* A driver that takes its time: long enough for those who do not wait to
 * fail. Those who do wait as long as it takes. */
static gpumem_status take_time(const char *slot, size_t count)
{
	const struct timespec nap = {.tv_nsec = 50 * 1000 * 1000};

	(void)count;
	if (strcmp(slot, "unmap") && strcmp(slot, "free"))
		return GPUMEM_OK;
	if (!atomic_exchange(&slow, false))
		return GPUMEM_OK;
	begun = true;
	nanosleep(&nap, NULL);
	return refuse;
}

static void *trim(void *unused)
{
	uint64_t released;

	(void)unused;
	(void)gm_heap_trim(&pool->heap, 0, &released);
	return NULL;
}

/* When everything has been tried and all is live, it is freed after all; and
 * another thread gives it back before the one in need can have it. */
static bool free_and_trim(gpumem_pool *unused,
			  const struct gpumem_pressure *pressure, void *user)
{
	(void)unused;
	(void)pressure;
	(void)user;
	must(gm_heap_free(live, NULL));
	slow = true;
	if (pthread_create(&trimmer, NULL, trim, NULL))
		bail("no thread");
	while (!begun)
		usleep(100);
	return true;
}

static void test_meets(const char *vm, gpumem_status answer)
{
	const struct gpumem_pool_config config = {.size = sizeof(config),
						  .name = "small",
						  .limit_bytes = 8 * MIB};
	const struct gm_request request = {.bytes = 8 * MIB, .alignment = 1};
	void *ptr = NULL;

	must(gm_option_set("vm", vm));
	refuse = answer;
	begun = false;
	must(gm_pool_create(device, &config, NULL, &pool));
	must(gm_pool_alloc(pool, &request, &live));
	must(gm_pool_pressure_add(pool, free_and_trim, NULL));
	is_status(gm_pool_alloc(pool, &request, &ptr), GPUMEM_OK,
		  "vm %s: an allocation waits for what leaves, %s", vm,
		  answer ? "or stays" : "and is gone");
	pthread_join(trimmer, NULL);
	is_status(gm_pool_check(pool), GPUMEM_OK, "all is in order");
	pool->heap.space->budget.migrated_handles = 1;
	(void)trim(NULL);
	is_uint(pool->heap.space->budget.migrated_handles, 0,
		"a trim forgets the toll");
	must(gm_pool_destroy(pool, true));
}

int main(void)
{
	const struct gm_backend *host;

	alarm(60);
	gm_fork_init();
	must(gm_backend_find("host", &host));
	must(gm_option_set("host.capacity", "64MiB"));
	must(gm_device_open("host:0", &device));
	hook_driver(device, (struct hooks){take_time, NULL});
	test_meets("on", GPUMEM_OK);
	test_meets("on", GPUMEM_DRIVER);
	test_meets("off", GPUMEM_OK);
	test_meets("off", GPUMEM_DRIVER);
	unhook_driver(device);
	gm_device_release(device);
	is_uint(gpumem_host_used_bytes(0), 0, "nothing is left");
	return done_testing();
}
