/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Handles of the host backend: whatever is no live stream or event of a device
 * is refused by every slot, never followed.
 */
#include "fake.h"

static void set_flag(void *arg)
{
	atomic_store((_Atomic bool *)arg, true);
}

/* Every slot with a handle that is none, of the other device, or stale. */
static void check_bad(void *device, void *bad, const char *what)
{
	void *event = new_event(device);
	uint64_t id = 77;
	uint8_t byte = 0;

	is_status(host->event_record(device, event, bad), GPUMEM_INVALID,
		  "record on %s", what);
	is_status(host->event_record(device, bad, NULL), GPUMEM_INVALID,
		  "record of %s", what);
	is_status(host->event_query(device, bad), GPUMEM_INVALID, "query");
	is_status(host->event_sync(device, bad), GPUMEM_INVALID, "event_sync");
	is_status(host->event_destroy(device, bad), GPUMEM_INVALID,
		  "event_destroy");
	is_status(host->stream_wait(device, bad, event), GPUMEM_INVALID,
		  "wait on");
	is_status(host->stream_wait(device, NULL, bad), GPUMEM_INVALID,
		  "wait of");
	is_status(host->stream_query(device, bad), GPUMEM_INVALID,
		  "stream_query");
	is_status(host->stream_sync(device, bad), GPUMEM_INVALID,
		  "stream_sync");
	is_status(host->stream_destroy(device, bad), GPUMEM_INVALID,
		  "stream_destroy");
	is_status(host->fill(device, (uintptr_t)&byte, 1, 1, bad),
		  GPUMEM_INVALID, "fill");
	is_status(
		host->copy(device, (uintptr_t)&byte, (uintptr_t)&byte, 1, bad),
		GPUMEM_INVALID, "copy");
	is_status(host->capture_id(device, bad, &id), GPUMEM_INVALID,
		  "capture_id");
	is_status(gpumem_host_launch(0, bad, set_flag, &byte), GPUMEM_INVALID,
		  "launch");
	is_status(gpumem_host_capture(0, bad, true), GPUMEM_INVALID, "capture");
	(void)!host->event_destroy(device, event);
}

static void test_handles(void *device, void *second)
{
	/* Of each kind one in the same place of both devices, alive. */
	gpumem_stream own = new_stream(device), foreign = new_stream(second);
	void *kept = new_event(device), *event = new_event(second);
	gpumem_stream stale = new_stream(device);
	void *gone = new_event(device);

	(void)!host->stream_destroy(device, stale);
	(void)!host->event_destroy(device, gone);
	check_bad(device, (void *)1, "a small number");
	check_bad(device, (void *)UINTPTR_MAX, "a large number");
	check_bad(device, &foreign, "a pointer");
	check_bad(device, foreign, "the other device's stream");
	check_bad(device, event, "the other device's event");
	check_bad(device, stale, "a destroyed stream");
	check_bad(device, gone, "a destroyed event");
	is_status(gpumem_host_launch(2, NULL, set_flag, NULL), GPUMEM_INVALID,
		  "launch on a device that is not open");
	is_status(gpumem_host_launch(0, NULL, NULL, NULL), GPUMEM_INVALID,
		  "launch of nothing");
	is_status(host->event_record(device, kept, own), GPUMEM_OK,
		  "good ones are good");
	(void)!host->stream_destroy(device, own);
	(void)!host->event_destroy(device, kept);
	(void)!host->stream_destroy(second, foreign);
	(void)!host->event_destroy(second, event);
}

/* More than one chunk of a table, and every place used again. */
static void test_many(void *device)
{
	static void *events[3000];
	bool good = true, apart = true;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 3000; i++)
			events[i] = new_event(device);
		for (int i = 1; i < 3000; i++)
			apart = apart && events[i] != events[i - 1];
		for (int i = 0; i < 3000; i++) {
			good = good && host->event_record(device, events[i],
							  NULL) == GPUMEM_OK;
			good = good && host->event_destroy(device, events[i]) ==
					       GPUMEM_OK;
		}
	}
	ok(good && apart, "three times three thousand events");
	is_status(host->event_destroy(device, events[0]), GPUMEM_INVALID,
		  "none is left");
}

int main(void)
{
	void *device, *second;

	fake_start();
	option("host.devices", "2");
	device = open_device(0);
	second = open_device(1);
	test_handles(device, second);
	test_many(device);
	host->device_close(second);
	host->device_close(device);
	return done_testing();
}
