/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A pool on the cuda backend sleeps and wakes over the double of the driver:
 * all its memory goes, and comes back with its content, to pinned and ordinary
 * memory; also when each of the driver's calls that this takes fails once.
 */
#include "fixture.h"
#include <gpumem/gpumem.h>

enum { BLOCKS = 9 };

static const char *const names[] = {
	"cuMemCreate",		"cuMemRelease",	       "cuMemMap",
	"cuMemUnmap",		"cuMemSetAccess",      "cuMemcpyAsync",
	"cuMemHostRegister_v2", "cuMemHostUnregister", "cuMemHostAlloc",
	"cuMemFreeHost",	"cuMemsetD8Async",     "cuStreamCreate",
	"cuStreamSynchronize",	"cuStreamDestroy_v2",  "cuEventCreate",
	"cuEventRecord",	"cuEventQuery",	       "cuEventSynchronize"};

static const size_t sizes[] = {1000, 20000, 3 * MIB, PAGE, 5 * MIB + 5000};

static gpumem_device *device;
static gpumem_pool *own;
static unsigned char *block[BLOCKS];
static unsigned char model[BLOCKS][6 * MIB], seen[6 * MIB];
static unsigned wrong;
static bool unpinnable; /* the driver makes what it does not pin */

static void must(gpumem_status status, const char *what)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	if (status == GPUMEM_OK)
		return;
	gpumem_last_error(&error);
	bail("%s: %s", what, error.text);
}

#define MUST(call) must((call), #call)

static void must_be(bool right, const char *what, const char *name, unsigned n)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	if (right)
		return;
	gpumem_last_error(&error);
	wrong++;
	diag("%s:%u: %s: %s", name, n, what, error.text);
}

static size_t size_of(int i)
{
	return sizes[i % 5];
}

static void model_of(int i)
{
	for (size_t k = 0; k < size_of(i); k++)
		model[i][k] =
			(unsigned char)(k * 31 + (size_t)i * 7 + (k >> 8));
}

static void make(void)
{
	MUST(gpumem_device_pool(device, &own));
	for (int i = 0; i < BLOCKS; i++) {
		MUST(gpumem_alloc(own, size_of(i), NULL, (void **)&block[i]));
		model_of(i);
		MUST(gpumem_copy(device, block[i], model[i], size_of(i), NULL));
		MUST(gpumem_stream_sync(device, NULL));
	}
}

static bool is_whole(void)
{
	bool whole = true;

	for (int i = 0; i < BLOCKS; i++) {
		MUST(gpumem_copy(device, seen, block[i], size_of(i), NULL));
		MUST(gpumem_stream_sync(device, NULL));
		whole &= !memcmp(seen, model[i], size_of(i));
	}
	return whole;
}

static uint64_t sleeping(void)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);

	MUST(gpumem_pool_stats(own, &stats));
	return stats.sleeping.current;
}

static gpumem_status fall_asleep(uint32_t flags)
{
	struct gpumem_sleep_options options =
		GPUMEM_INIT(struct gpumem_sleep_options);

	options.flags = flags;
	return gpumem_pool_sleep(own, &options, NULL);
}

static void both(uint32_t flags)
{
	struct fakecuda_held held;

	is_status(fall_asleep(flags), GPUMEM_OK, "it sleeps");
	held = audit();
	is_uint(held.used_bytes + held.handles + held.mappings, 0,
		"the driver has all of the device's memory");
	ok(sleeping() > 0, "and blocks are live");
	is_status(gpumem_pool_wake(own, 0, NULL), GPUMEM_OK, "it wakes");
	ok(is_whole(), "with what it held");
	is_status(gpumem_pool_check(own), GPUMEM_OK, "sound");
}

/* The nth call fails in a sleep and, if there was none, in a wake. False: there
 * was none at all. */
static bool fail_once(const char *name, unsigned n, int code, uint32_t flags)
{
	uint64_t before = driver.fakecuda_calls(name);
	gpumem_status status;
	bool felt;

	if (unpinnable)
		driver.fakecuda_fault("cuMemHostRegister_v2", 1, true, 801);
	driver.fakecuda_fault(name, n, false, code);
	status = fall_asleep(flags);
	must_be(!gpumem_pool_check(own), "not sound", name, n);
	if (status != GPUMEM_OK)
		must_be(!fall_asleep(flags), "no sleep later", name, n);
	status = gpumem_pool_wake(own, 0, NULL);
	must_be(!gpumem_pool_check(own), "not sound", name, n);
	felt = driver.fakecuda_calls(name) - before >= n;
	driver.fakecuda_heal();
	if (status != GPUMEM_OK)
		must_be(!gpumem_pool_wake(own, 0, NULL), "no wake later", name,
			n);
	must_be(!sleeping() && is_whole(), "not as it was", name, n);
	return felt;
}

static void fail_each(int code, uint32_t flags)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		unsigned n = 1;

		while (n < 200 && !wrong && fail_once(names[i], n, code, flags))
			n++;
	}
	is_uint(wrong, 0, "code %d: nothing is lost", code);
}

/* A copy whose end nobody confirms may write to its chunk when the pool is
 * gone. */
static void end_unsure(void)
{
	gpumem_pool *pool = NULL;
	void *ptr;

	MUST(gpumem_pool_create(device, NULL, &pool));
	MUST(gpumem_alloc(pool, PAGE, NULL, &ptr));
	driver.fakecuda_fault("cuStreamSynchronize", 1, true, 999);
	is_status(gpumem_pool_sleep(pool, NULL, NULL), GPUMEM_DRIVER,
		  "copies do not end");
	MUST(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	is_uint(audit().pinned, 1, "their chunk outlives the pool");
	driver.fakecuda_heal();
}

int main(void)
{
	char path[4096];

	cuda_start();
	setenv("GPUMEM_PLUGIN_PATH", built(path, "backends/.libs"), 1);
	MUST(gpumem_device_open("cuda:0", &device));
	make();
	both(0);
	is_uint(driver.fakecuda_calls("cuMemHostAlloc"), 0,
		"the driver pins what is there");
	both(GPUMEM_SLEEP_RETAIN);
	both(GPUMEM_SLEEP_PAGEABLE);
	fail_each(2, 0);
	fail_each(999, 0);
	fail_each(2, GPUMEM_SLEEP_PAGEABLE);
	unpinnable = true;
	fail_each(2, 0);
	ok(driver.fakecuda_calls("cuMemHostAlloc") > 0,
	   "or else makes pinned memory");
	for (int i = 0; i < BLOCKS; i++)
		MUST(gpumem_free(block[i], NULL));
	end_unsure();
	is_status(gpumem_device_close(device), GPUMEM_OK, "close");
	is_uint(audit().contexts + audit().used_bytes + audit().pinned, 0,
		"nothing is left");
	return done_testing();
}
