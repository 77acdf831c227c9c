/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Every way to use a program's event that is refused: one that was destroyed,
 * of another device, of a device without streams or that was lost, and blocks
 * that cannot be freed after one. What events stand for is in events.c.
 */
#include "events.h"

#define invalid(call, what)                                                    \
	do {                                                                   \
		is_status((call), GPUMEM_INVALID, "%s", #call);                \
		ok(strstr(last_text(), what), "%s", last_text());              \
	} while (0)

static void test_destroyed(void)
{
	gpumem_pool *pool = new_pool(0);
	void *ptr = new_block(pool, 100, a), *native;
	gpumem_event *event = new_event();

	must(gpumem_event_destroy(event));
	invalid(gpumem_event_destroy(event), "was destroyed");
	invalid(gpumem_event_record(event, a), "was destroyed");
	invalid(gpumem_event_query(event), "was destroyed");
	invalid(gpumem_event_sync(event), "was destroyed");
	invalid(gpumem_event_native(event, &native), "was destroyed");
	invalid(gpumem_stream_wait(device, a, event), "was destroyed");
	invalid(gpumem_free_after(ptr, event), "was destroyed");
	is_status(gpumem_free(ptr, a), GPUMEM_OK, "and the block is live");
	must(gpumem_pool_destroy(pool, 0));
}

static void test_free_after(void)
{
	gpumem_pool *pool = new_pool(0);
	char *ptr = new_block(pool, 1000, a), *large = new_block(pool, MIB, a);
	gpumem_event *event = new_event();
	int outside;

	is_status(gpumem_free_after(NULL, event), GPUMEM_OK, "nothing");
	invalid(gpumem_free_after(NULL, NULL), "event is NULL");
	invalid(gpumem_free_after(ptr, NULL), "event is NULL");
	is_status(gpumem_free_after(ptr + 1, event), GPUMEM_BAD_POINTER,
		  "inside a block");
	is_status(gpumem_free_after(large + 1, event), GPUMEM_BAD_POINTER,
		  "inside a large block");
	is_status(gpumem_free_after(&outside, event), GPUMEM_BAD_POINTER,
		  "no block");
	is_uint(stats_of(pool).blocks.current, 2, "both are live");
	must(gpumem_free_after(ptr, event));
	must(gpumem_free_after(large, event));
	is_status(gpumem_free_after(ptr, event), GPUMEM_BAD_POINTER,
		  "freed already");
	is_status(gpumem_free(large, a), GPUMEM_BAD_POINTER,
		  "large, freed already");
	must(gpumem_event_destroy(event));
	is_status(gpumem_pool_destroy(pool, 0), GPUMEM_OK, "none is left");
}

static void test_devices(void)
{
	gpumem_pool *pool = new_pool(0);
	void *ptr = new_block(pool, 100, a);
	gpumem_event *event = NULL;
	gpumem_device *other;

	must(gpumem_device_open("host:1", &other));
	must(gpumem_event_create(other, &event));
	invalid(gpumem_free_after(ptr, event), "the event is of host:1, the "
					       "block of host:0");
	invalid(gpumem_stream_wait(device, a, event), "is of host:1");
	invalid(gpumem_event_record(event, a), "no stream of this device");
	is_status(gpumem_device_close(other), GPUMEM_BUSY,
		  "an event keeps its device open");
	is_str(last_text(), "1 event of host:1 is left", "and it says so");
	must(gpumem_event_destroy(event));
	is_status(gpumem_device_close(other), GPUMEM_OK, "no more then");
	must(gpumem_free(ptr, a));
	must(gpumem_pool_destroy(pool, 0));
}

static void test_no_streams(void)
{
	gpumem_event *event = NULL, *foreign = NULL;
	gpumem_device *plain, *other;
	gpumem_pool *pool;
	void *ptr = NULL;

	must(gpumem_device_open("host:1", &other));
	must(gpumem_event_create(other, &foreign));
	option("host.streams", "off");
	option("host.capture", "off");
	must(gpumem_device_open("host:0", &plain));
	must(gpumem_pool_create(plain, NULL, &pool));
	must(gpumem_alloc(pool, 100, NULL, &ptr));
	is_status(gpumem_event_create(plain, &event), GPUMEM_UNSUPPORTED,
		  "no streams: no events");
	is_status(gpumem_event_import(plain, &ptr, &event), GPUMEM_UNSUPPORTED,
		  "nor imports");
	is_status(gpumem_stream_wait(plain, NULL, foreign), GPUMEM_UNSUPPORTED,
		  "nor waits");
	is_status(gpumem_free_after(ptr, foreign), GPUMEM_UNSUPPORTED,
		  "nor frees after one");
	is_ptr(event, NULL, "no output is touched");
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_device_close(plain));
	must(gpumem_event_destroy(foreign));
	must(gpumem_device_close(other));
	option("host.streams", NULL);
	option("host.capture", NULL);
}

/* Of a device that was lost every call says so, but host forgets an event. */
static void test_lost(void)
{
	gpumem_pool *pool = new_pool(0);
	void *ptr = new_block(pool, MIB, a), *native;
	gpumem_event *event = new_event(), *made = NULL;

	must(gpumem_event_record(event, a));
	must(gpumem_host_faults("event_query@1:lost"));
	is_status(gpumem_event_query(event), GPUMEM_LOST, "lost");
	is_status(gpumem_event_record(event, a), GPUMEM_LOST, "for good");
	is_status(gpumem_event_sync(event), GPUMEM_LOST, "not waited for");
	is_status(gpumem_event_native(event, &native), GPUMEM_LOST,
		  "nor given");
	is_status(gpumem_stream_wait(device, b, event), GPUMEM_LOST, "no wait");
	is_status(gpumem_event_create(device, &made), GPUMEM_LOST, "no event");
	is_status(gpumem_event_import(device, &made, &made), GPUMEM_LOST,
		  "no import");
	is_status(gpumem_free_after(ptr, event), GPUMEM_OK, "blocks are freed");
	is_status(gpumem_event_destroy(event), GPUMEM_OK, "it is destroyed");
	is_status(gpumem_event_destroy(event), GPUMEM_INVALID, "it is gone");
	is_status(gpumem_pool_destroy(pool, 0), GPUMEM_OK, "so is the pool");
	is_status(gpumem_device_close(device), GPUMEM_OK, "nothing is left");
	must(gpumem_host_faults(NULL));
}

static void run(bool vm)
{
	diag("virtual memory %s", vm ? "on" : "off");
	events_start(vm);
	test_destroyed();
	test_free_after();
	test_devices();
	events_end();
	test_no_streams();
	events_start(vm);
	test_lost();
}

int main(void)
{
	alarm(120);
	option("host.devices", "2");
	run(true);
	run(false);
	return done_testing();
}
