/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What counts for the limit of a device: what its driver has given and not got
 * back, whatever it answered. Of what would be more the driver is not asked.
 */
#include "base/option.h"
#include "device/claim.h"
#include "device/driver.h"
#include "loader/loader.h"
#include "../../tap.h"
#include "../loader/fake.h"
#include <pthread.h>
#include <unistd.h>

static struct gpumem_device *device;
static struct gm_driver driver;
static uint64_t address; /* that the driver gave last */

enum { BYTES = 4096, LIMIT = 10 * BYTES, THREADS = 4 };

static void is_claimed(uint64_t bytes, const char *what)
{
	is_uint(atomic_load(&device->claimed_bytes), bytes, "%s", what);
	is_uint(gm_claim_room(device), LIMIT - bytes, "%s: the rest", what);
}

static gpumem_status alloc(uint64_t bytes)
{
	return gm_driver_alloc(&driver, bytes, &address);
}

static void test_alloc(void)
{
	unsigned calls;

	fake.next = GPUMEM_NO_MEMORY;
	is_status(alloc(BYTES), GPUMEM_NO_MEMORY, "the driver has none");
	is_claimed(0, "nothing");
	fake.next = GPUMEM_OK;
	is_status(alloc(LIMIT - BYTES), GPUMEM_OK, "nearly all");
	is_claimed(LIMIT - BYTES, "nearly all");
	calls = fake.calls;
	is_status(alloc(BYTES + 1), GPUMEM_LIMIT, "a byte too many");
	is_uint(fake.calls, calls, "of which the driver is not asked");
	is_claimed(LIMIT - BYTES, "as before");
	fake.next = GPUMEM_DRIVER;
	is_status(gm_driver_free(&driver, address, LIMIT - BYTES),
		  GPUMEM_DRIVER, "a free that fails");
	is_claimed(LIMIT - BYTES, "is none");
	fake.next = GPUMEM_OK;
	is_status(gm_driver_free(&driver, address, LIMIT - BYTES), GPUMEM_OK,
		  "a free");
	is_claimed(0, "gives all back");
}

static void test_lie(void)
{
	fake.address = 0;
	is_status(alloc(BYTES), GPUMEM_DRIVER, "an address that is none");
	is_claimed(0, "counts for nothing");
	fake.address = 0x1000;
}

static void test_kinds(void)
{
	driver.kind = GPUMEM_KIND_PINNED;
	is_status(alloc(2 * (uint64_t)LIMIT), GPUMEM_OK, "host memory");
	is_claimed(0, "is no memory of the device");
	is_status(gm_driver_free(&driver, address, 2 * (uint64_t)LIMIT),
		  GPUMEM_OK, "given back");
	driver.kind = GPUMEM_KIND_DEVICE;
	is_claimed(0, "neither then");
}

static void test_pages(void)
{
	gpumem_page page[4], foreign = 12345;
	size_t done;

	is_status(alloc(LIMIT - BYTES), GPUMEM_OK, "all but a page");
	is_status(gm_driver_page_create(&driver, BYTES, page, 2, &done),
		  GPUMEM_LIMIT, "a page too many");
	is_uint(done, 1, "as many as fit are made");
	is_claimed(LIMIT, "the limit");
	is_status(gm_driver_page_create(&driver, BYTES, page + 1, 1, &done),
		  GPUMEM_LIMIT, "none fits");
	is_uint(done, 0, "and none is made");
	is_status(gm_driver_page_destroy(&driver, BYTES, &foreign, 1, &done),
		  GPUMEM_OK, "a page that was imported");
	is_claimed(LIMIT, "never counted");
	is_status(gm_driver_page_destroy(&driver, BYTES, page, 1, &done),
		  GPUMEM_OK, "a page");
	is_claimed(LIMIT - BYTES, "counts no more");
	fake.next = GPUMEM_NO_MEMORY;
	is_status(gm_driver_page_create(&driver, BYTES, page, 1, &done),
		  GPUMEM_NO_MEMORY, "the driver has none");
	is_claimed(LIMIT - BYTES, "nothing more");
	fake.next = GPUMEM_OK;
	is_status(gm_driver_free(&driver, address, LIMIT - BYTES), GPUMEM_OK,
		  "and all goes back");
	is_claimed(0, "at the end");
}

static _Atomic unsigned above;

static void *race(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < scaled(200000, 20000); i++) {
		bool had = gm_claim(device, 3 * BYTES);

		above += atomic_load(&device->claimed_bytes) > LIMIT;
		if (had)
			gm_claim_back(device, 3 * BYTES);
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t thread[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, race, NULL))
			bail("no thread");
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	is_uint(above, 0, "never above the limit");
	is_claimed(0, "after threads");
}

int main(void)
{
	alarm(60);
	unsetenv("GPUMEM_CONF");
	if (gm_option_set("device_limit", "40KiB") != GPUMEM_OK ||
	    gm_backend_register(&fake_table) != GPUMEM_OK ||
	    gm_device_open("fake:0", &device) != GPUMEM_OK)
		bail("no fake");
	gm_driver_init(&driver, device);
	is_claimed(0, "at first");
	test_alloc();
	test_lie();
	test_kinds();
	test_pages();
	test_threads();
	ok(gm_device_release(device), "closed");
	return done_testing();
}
