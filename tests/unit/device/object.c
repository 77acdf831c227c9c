/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The vendor's objects and adopted devices between the core and a backend: what
 * is passed on, what a failure says, and tables without the slots.
 */
#include "base/error.h"
#include "loader/loader.h"
#include "device/object.h"
#include "../../tap.h"
#include "../loader/fake.h"

static struct gpumem_device *device;

static const struct gpumem_error *last(void)
{
	static struct gpumem_error error;

	error.size = sizeof(error);
	gm_error_get(&error);
	return &error;
}

static void test_objects(void)
{
	void *object = NULL, *view = NULL;
	uint64_t offset = 0;

	is_status(gm_object_of(device, 0x3010, &object, &offset), GPUMEM_OK,
		  "object_of");
	ok(object == &fake && offset == 0x10, "says both");
	is_status(gm_view_create(device, 0x3000, 0x20, &view), GPUMEM_OK,
		  "view_create");
	is_ptr(view, (void *)0x3020, "says which");
	is_status(gm_view_destroy(device, view), GPUMEM_OK, "view_destroy");
	fake.next = GPUMEM_NO_MEMORY;
	is_status(gm_view_create(device, 0x4000, 0x20, &view), GPUMEM_NO_MEMORY,
		  "it fails");
	is_ptr(view, (void *)0x3020, "and the output is left alone");
	ok(strstr(last()->text, "fake:0: view_create"), "by its name: %s",
	   last()->text);
	is_status(gm_object_of(device, 0x3010, &object, &offset),
		  GPUMEM_NO_MEMORY, "so does the other");
	ok(strstr(last()->text, "fake:0: object_of"), "%s", last()->text);
	fake.next = GPUMEM_DRIVER;
	is_status(gm_view_destroy(device, view), GPUMEM_DRIVER, "and the last");
	ok(strstr(last()->text, "fake:0: view_destroy"), "%s", last()->text);
	fake.next = GPUMEM_OK;
}

static void test_busy(void)
{
	(void)gm_fail(GPUMEM_INVALID, "before");
	fake.next = GPUMEM_BUSY;
	is_status(gm_view_destroy(device, &fake), GPUMEM_BUSY, "one in use");
	is_str(last()->text, "before", "is no failure");
	fake.next = GPUMEM_OK;
}

static void test_adopt(void)
{
	struct gpumem_device *one = NULL, *again = NULL;
	int opened = fake.opened;

	is_status(gm_device_adopt("fake", (void *)5, NULL, &one), GPUMEM_OK,
		  "adopt");
	is_str(one->info.name, "fake:5", "as the backend numbers it");
	is_status(gm_device_adopt("fake", (void *)5, NULL, &again), GPUMEM_OK,
		  "the same again");
	ok(one == again && fake.opened == opened + 1, "is the same, open once");
	ok(!gm_device_release(one) && gm_device_release(again), "and counted");
	is_status(gm_device_open("fake:5", &again), GPUMEM_NO_DEVICE,
		  "it is not found by name");
	fake.next = GPUMEM_INVALID;
	again = NULL;
	is_status(gm_device_adopt("fake", (void *)6, NULL, &again),
		  GPUMEM_INVALID, "a context that the backend does not like");
	ok(strstr(last()->text, "device_adopt") && !again, "%s", last()->text);
	fake.next = (gpumem_status)77;
	is_status(gm_device_adopt("fake", (void *)6, NULL, &again),
		  GPUMEM_DRIVER, "a status that is none");
	ok(strstr(last()->text, "unknown status 77"), "%s", last()->text);
	fake.next = GPUMEM_OK;
	is_status(gm_device_adopt("fake", (void *)-1, NULL, &again),
		  GPUMEM_DRIVER, "a number of no device");
	ok(!again, "is not given out: %s", last()->text);
	is_status(gm_device_open("fake:1", &one), GPUMEM_OK, "one by name");
	is_status(gm_device_adopt("fake", (void *)1, NULL, &again), GPUMEM_OK,
		  "a context that it works in");
	ok(one == again, "is the same device");
	ok(!gm_device_release(one) && gm_device_release(again), "and counted");
}

static void test_absent(void)
{
	static struct gpumem_backend bare;
	struct gpumem_device *one = NULL;

	bare = fake_table;
	bare.name = "bare";
	bare.size = offsetof(struct gpumem_backend, object_of);
	is_status(gm_backend_register(&bare), GPUMEM_OK,
		  "a table that ends before");
	is_status(gm_device_adopt("bare", (void *)5, NULL, &one),
		  GPUMEM_UNSUPPORTED, "adopts nothing");
	ok(strstr(last()->text, "backend bare") && !one, "%s", last()->text);
	is_status(gm_device_adopt("nobody", (void *)5, NULL, &one),
		  GPUMEM_NOT_FOUND, "nor does a backend that is not there");
	is_status(gm_device_open("bare:0", &one), GPUMEM_OK, "its device");
	is_uint(one->info.caps & GPUMEM_CAP_OBJECTS, 0, "has no objects");
	gm_device_release(one);
}

static void test_lost(void)
{
	void *object = NULL;
	uint64_t offset = 0;

	fake.next = GPUMEM_LOST;
	fake.native_code = 719;
	fake.native_name = "FAKE_GONE";
	is_status(gm_object_of(device, 0x3010, &object, &offset), GPUMEM_LOST,
		  "lost");
	fake.native_code = 0;
	fake.native_name = "";
	fake.next = GPUMEM_OK;
	fake.last = "";
	is_status(gm_object_of(device, 0x3010, &object, &offset), GPUMEM_LOST,
		  "for good");
	is_str(fake.last, "", "and the backend is not called");
	is_status(gm_view_destroy(device, &fake), GPUMEM_OK,
		  "what it keeps for a view");
	is_str(fake.last, "view_destroy", "it can let go");
	fake.next = GPUMEM_BUSY;
	is_status(gm_view_destroy(device, &fake), GPUMEM_LOST,
		  "whoever holds it");
	is_str(last()->text,
	       "fake:0: view_destroy: the device was lost: fake:0: object_of: "
	       "the fake object_of failed (FAKE_GONE, 719)",
	       "with what was said first");
}

int main(void)
{
	if (gm_backend_register(&fake_table) ||
	    gm_device_open("fake:0", &device))
		bail("%s", last()->text);
	is_uint(device->info.caps & GPUMEM_CAP_OBJECTS, GPUMEM_CAP_OBJECTS,
		"a table with the slots has the capability");
	test_objects();
	test_busy();
	test_adopt();
	test_absent();
	test_lost();
	gm_device_release(device);
	return done_testing();
}
