/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Capture in the host backend: what a captured stream refuses and drops, and
 * which calls are counted as violations.
 */
#include "fake.h"

static void set_flag(void *arg)
{
	atomic_store((_Atomic bool *)arg, true);
}

static uint64_t id_of(void *device, gpumem_stream stream)
{
	uint64_t id = 77;

	if (host->capture_id(device, stream, &id) != GPUMEM_OK)
		bail("capture_id: %s", fake_error.text);
	return id;
}

static uint64_t seen;

/* How many violations there were since it was last asked. */
static uint64_t violations(void)
{
	uint64_t before = seen;

	seen = gpumem_host_capture_violations();
	return seen - before;
}

static void test_ids(void *device, void *second)
{
	gpumem_stream a = new_stream(device), b = new_stream(second);
	uint64_t first, other;

	is_uint(id_of(device, a), 0, "no capture, no number");
	is_status(gpumem_host_capture(0, a, false), GPUMEM_INVALID,
		  "what has not begun cannot end");
	is_status(gpumem_host_capture(0, a, true), GPUMEM_OK, "begin");
	is_status(gpumem_host_capture(0, a, true), GPUMEM_INVALID,
		  "it cannot begin twice");
	first = id_of(device, a);
	ok(first != 0, "a capture has a number");
	is_uint(id_of(device, a), first, "and keeps it");
	is_uint(id_of(device, NULL), 0, "another stream is not captured");
	is_status(gpumem_host_capture(1, b, true), GPUMEM_OK,
		  "begin on the second device");
	other = id_of(second, b);
	ok(other != 0 && other != first, "another number");
	is_status(gpumem_host_capture(0, a, false), GPUMEM_OK, "end");
	is_uint(id_of(device, a), 0, "no number");
	is_status(gpumem_host_capture(0, a, true), GPUMEM_OK, "begin again");
	ok(id_of(device, a) != first && id_of(device, a) != other,
	   "a new capture has a new number");
	is_status(gpumem_host_capture(2, NULL, true), GPUMEM_INVALID,
		  "no capture on a device that is not open");
	is_status(host->stream_destroy(device, a), GPUMEM_OK,
		  "destroying a stream ends its capture");
	is_status(gpumem_host_capture(1, b, false), GPUMEM_OK, "end");
	is_status(host->stream_destroy(second, b), GPUMEM_OK, "destroy");
	is_uint(violations(), 0, "nothing of this is a violation");
}

static void test_dropped(void *device)
{
	gpumem_stream stream = new_stream(device);
	void *event = new_event(device);
	_Atomic bool before = false, during = false, after = false;
	struct door door = DOOR;
	uint8_t byte = 1;

	(void)!gpumem_host_launch(0, stream, door_kernel, &door);
	(void)!gpumem_host_launch(0, stream, set_flag, &before);
	(void)!host->event_record(device, event, stream);
	is_status(gpumem_host_capture(0, stream, true), GPUMEM_OK, "begin");
	is_status(gpumem_host_launch(0, stream, set_flag, &during), GPUMEM_OK,
		  "a launch is taken");
	is_status(host->fill(device, (uintptr_t)&byte, 9, 1, stream), GPUMEM_OK,
		  "a fill too");
	is_status(host->copy(device, (uintptr_t)&byte, (uintptr_t)&door, 1,
			     stream),
		  GPUMEM_OK, "a copy too");
	is_status(host->event_query(device, event), GPUMEM_NOT_READY,
		  "an event of before can be asked");
	is_uint(violations(), 0, "all that is no violation");
	is_status(host->event_record(device, event, stream), GPUMEM_CAPTURING,
		  "none can be recorded");
	is_uint(violations(), 1, "a violation");
	is_status(host->stream_query(device, stream), GPUMEM_CAPTURING,
		  "the stream cannot be queried");
	is_uint(violations(), 0, "but says so, and is not disturbed");
	is_status(host->stream_sync(device, stream), GPUMEM_CAPTURING,
		  "the stream cannot be synced");
	is_uint(violations(), 1, "a violation");
	is_status(host->event_query(device, event), GPUMEM_NOT_READY,
		  "the event still stands for what it stood for");
	door_open(&door);
	is_status(host->event_sync(device, event), GPUMEM_OK, "event_sync");
	ok(before, "work of before runs");
	is_status(gpumem_host_capture(0, stream, false), GPUMEM_OK, "end");
	(void)!gpumem_host_launch(0, stream, set_flag, &after);
	is_status(host->stream_sync(device, stream), GPUMEM_OK, "sync");
	ok(after, "work of after runs");
	ok(!during && byte == 1, "work of meanwhile does not");
	is_status(host->event_record(device, event, stream), GPUMEM_OK,
		  "events can be recorded again");
	is_status(host->stream_destroy(device, stream), GPUMEM_OK, "destroy");
	is_status(host->event_destroy(device, event), GPUMEM_OK, "destroy");
	is_uint(violations(), 0, "no violation");
}

static void use_memory(void *device)
{
	uint64_t raw = 0, base = 0;
	gpumem_page page = 0;

	if (host->alloc(device, PAGE, &raw) != GPUMEM_OK ||
	    host->va_reserve(device, PAGE, PAGE, &base) != GPUMEM_OK ||
	    host->page_create(device, PAGE, &page) != GPUMEM_OK ||
	    host->map(device, base, &page, 1, PAGE) != GPUMEM_OK)
		bail("memory: %s", fake_error.text);
	is_uint(violations(), 0, "taking memory is no violation");
	is_status(host->unmap(device, base, 1, PAGE), GPUMEM_OK, "unmap");
	is_status(host->page_destroy(device, page, PAGE), GPUMEM_OK,
		  "page_destroy");
	is_status(host->free(device, raw, PAGE), GPUMEM_OK, "free");
	is_status(host->va_release(device, base, PAGE), GPUMEM_OK,
		  "va_release");
}

static void test_memory(void *device, void *second)
{
	gpumem_stream other = new_stream(device);
	void *event = new_event(device);

	use_memory(device);
	is_uint(violations(), 0, "no capture, no violation");
	is_status(gpumem_host_capture(0, NULL, true), GPUMEM_OK,
		  "capture the default stream");
	use_memory(device);
	is_uint(violations(), 3, "unmap, page_destroy and free are violations");
	use_memory(second);
	is_uint(violations(), 0, "on another device they are not");
	is_status(host->event_record(device, event, other), GPUMEM_OK,
		  "another stream is free");
	is_status(host->stream_sync(device, other), GPUMEM_OK, "to be synced");
	is_uint(violations(), 0, "which is no violation");
	is_status(gpumem_host_capture(0, NULL, false), GPUMEM_OK, "end");
	use_memory(device);
	is_uint(violations(), 0, "then it is over");
	(void)!host->stream_destroy(device, other);
	(void)!host->event_destroy(device, event);
}

static void test_free_allowed(void *device)
{
	is_status(gpumem_host_capture(0, NULL, true), GPUMEM_OK, "capture");
	use_memory(device);
	is_uint(violations(), 0, "where it is allowed, to free is none");
	is_status(gpumem_host_capture(0, NULL, false), GPUMEM_OK, "end");
}

int main(void)
{
	void *device, *second;

	fake_start();
	option("host.devices", "2");
	option("host.capture_frees", "off");
	device = open_device(0);
	second = open_device(1);
	test_ids(device, second);
	test_dropped(device);
	test_memory(device, second);
	host->device_close(device);
	host->device_close(second);
	option("host.capture_frees", "on");
	device = open_device(0);
	test_free_allowed(device);
	host->device_close(device);
	return done_testing();
}
