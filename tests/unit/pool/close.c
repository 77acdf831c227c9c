/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Closes of a device while another thread is making a pool on it, at the place
 * where that was seen by one count and not by the other: a close that is not
 * the last is always done. The link is made with --wrap=gm_pools_add, by which
 * a creation stands still there until it is let go.
 */
#include "loader/loader.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/option.h"
#include "pool/pool.h"
#include "../../tap.h"
#include <gpumem/host.h>
#include <semaphore.h>
#include <unistd.h>

#define must(call)                                                             \
	do {                                                                   \
		if (call)                                                      \
			bail("line %d: %s", __LINE__, #call);                  \
	} while (0)

void __real_gm_pools_add(struct gpumem_pool *pool);
void __wrap_gm_pools_add(struct gpumem_pool *pool);

static struct gpumem_device *device;
static struct gpumem_pool *made;
static sem_t inside, go_on;
static _Atomic bool stops;

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		;
}

void __wrap_gm_pools_add(struct gpumem_pool *pool)
{
	if (atomic_exchange(&stops, false)) {
		sem_post(&inside);
		wait_for(&go_on);
	}
	__real_gm_pools_add(pool);
}

static void *create(void *result)
{
	const struct gpumem_pool_config config = {.size = sizeof(config)};

	*(gpumem_status *)result = gm_pool_create(device, &config, NULL, &made);
	return NULL;
}

static void *create_default(void *result)
{
	*(gpumem_status *)result = gm_pool_default(device, NULL, &made);
	return NULL;
}

/* The device has been opened so often; one close is made while a pool is. */
static gpumem_status close_meanwhile(int opens, void *(*fn)(void *result))
{
	gpumem_status status, result = GPUMEM_CORRUPT;
	pthread_t thread;

	for (int i = 0; i < opens; i++)
		must(gm_device_open("host:0", &device));
	stops = true;
	if (pthread_create(&thread, NULL, fn, &result))
		bail("no thread");
	wait_for(&inside);
	status = gm_pool_device_close(device);
	sem_post(&go_on);
	pthread_join(thread, NULL);
	is_status(result, GPUMEM_OK, "the pool is made");
	return status;
}

static void test_create(void)
{
	is_status(close_meanwhile(2, create), GPUMEM_OK,
		  "a close that is not the last");
	is_status(gm_pool_device_close(device), GPUMEM_BUSY,
		  "it was counted: this one is the last");
	must(gm_pool_destroy(made, false));
	is_status(gm_pool_device_close(device), GPUMEM_OK, "and then goes");
}

static void test_default(void)
{
	is_status(close_meanwhile(2, create_default), GPUMEM_OK,
		  "a close beside a default pool that is being made");
	is_status(gm_pool_device_close(device), GPUMEM_OK, "the last one");
}

/* A program may not do that; it is told, and has lost nothing. */
static void test_last(void)
{
	is_status(close_meanwhile(1, create), GPUMEM_BUSY,
		  "the last close waits for no pool");
	must(gm_pool_destroy(made, false));
	is_status(gm_pool_device_close(device), GPUMEM_OK, "the same again");
}

int main(void)
{
	alarm(60);
	gm_fork_init();
	must(sem_init(&inside, 0, 0) || sem_init(&go_on, 0, 0));
	test_create();
	test_default();
	test_last();
	is_uint(gpumem_host_used_bytes(0), 0, "nothing is left");
	return done_testing();
}
