/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The host backend's events: what they stand for when recorded, recorded again
 * and outlived, and streams that wait for them. Kernels that wait at a door
 * decide what is over when; no clock does.
 */
#include "fake.h"

static void set_flag(void *arg)
{
	atomic_store((_Atomic bool *)arg, true);
}

static void test_event(void *device)
{
	gpumem_stream stream = new_stream(device), other = new_stream(device);
	void *event = new_event(device), *idle = new_event(device);
	struct door door = DOOR, later = DOOR;

	is_status(host->event_query(device, event), GPUMEM_OK,
		  "an event never recorded is over");
	is_status(host->event_sync(device, event), GPUMEM_OK, "at once");
	must_launch(0, stream, door_kernel, &door);
	is_status(host->event_record(device, event, stream), GPUMEM_OK,
		  "record");
	must_launch(0, stream, door_kernel, &later);
	fake_error.count = 0;
	is_status(host->event_query(device, event), GPUMEM_NOT_READY,
		  "not ready while the kernel runs");
	is_uint(fake_error.count, 0, "which is no error");
	is_status(host->event_record(device, idle, other), GPUMEM_OK,
		  "record on an idle stream");
	is_status(host->event_query(device, idle), GPUMEM_OK,
		  "is over, whatever other streams do");
	door_open(&door);
	is_status(host->event_sync(device, event), GPUMEM_OK,
		  "sync waits for what was before it, not for what is after");
	is_status(host->event_query(device, event), GPUMEM_OK, "it is over");
	is_status(host->event_record(device, event, stream), GPUMEM_OK,
		  "record again");
	is_status(host->event_query(device, event), GPUMEM_NOT_READY,
		  "the newer record counts");
	is_status(host->event_record(device, event, other), GPUMEM_OK,
		  "record on the idle stream");
	is_status(host->event_query(device, event), GPUMEM_OK,
		  "the newest record counts");
	door_open(&later);
	is_status(host->stream_destroy(device, stream), GPUMEM_OK, "destroy");
	is_status(host->stream_destroy(device, other), GPUMEM_OK, "destroy");
	is_status(host->event_query(device, idle), GPUMEM_OK,
		  "an event outlives its stream");
	is_status(host->event_destroy(device, event), GPUMEM_OK, "destroy");
	is_status(host->event_destroy(device, idle), GPUMEM_OK, "destroy");
}

/* A new event knows nothing of the one whose place it took. */
static void test_new_event(void *device)
{
	void *event = new_event(device);
	struct door door = DOOR;

	must_launch(0, NULL, door_kernel, &door);
	(void)!host->event_record(device, event, NULL);
	(void)!host->event_destroy(device, event);
	event = new_event(device);
	is_status(host->event_query(device, event), GPUMEM_OK,
		  "a new event is over, whatever an old one waited for");
	door_open(&door);
	is_status(host->stream_sync(device, NULL), GPUMEM_OK, "sync");
	(void)!host->event_destroy(device, event);
}

/* An event that is over stays over when the stream's place is used again. */
static void test_outlived(void *device)
{
	gpumem_stream stream = new_stream(device), next;
	void *event = new_event(device);
	struct door first = DOOR, door = DOOR;

	must_launch(0, stream, door_kernel, &first);
	(void)!host->event_record(device, event, stream);
	door_open(&first);
	is_status(host->stream_destroy(device, stream), GPUMEM_OK,
		  "destroying a stream waits for its work");
	is_status(host->event_query(device, event), GPUMEM_OK, "it is over");
	next = new_stream(device);
	must_launch(0, next, door_kernel, &door);
	is_status(host->event_query(device, event), GPUMEM_OK,
		  "another stream's work does not undo it");
	ok(stream != next, "a handle is not used again at once");
	is_status(host->event_record(device, event, stream), GPUMEM_INVALID,
		  "the old one is bad");
	door_open(&door);
	(void)!host->stream_destroy(device, next);
	(void)!host->event_destroy(device, event);
}

static void test_wait(void *device)
{
	gpumem_stream from = new_stream(device), to = new_stream(device);
	void *event = new_event(device), *mark = new_event(device);
	struct door door = DOOR;
	_Atomic bool ran = false;

	must_launch(0, from, door_kernel, &door);
	(void)!host->event_record(device, event, from);
	is_status(host->stream_wait(device, to, event), GPUMEM_OK,
		  "stream_wait");
	/* What the event stands for later must not matter. */
	(void)!host->event_record(device, event, to);
	must_launch(0, to, set_flag, &ran);
	(void)!host->event_record(device, mark, to);
	door_await(&door);
	is_status(host->event_query(device, mark), GPUMEM_NOT_READY,
		  "the waiting stream waits");
	ok(!ran, "its work has not run");
	door_open(&door);
	is_status(host->stream_sync(device, to), GPUMEM_OK, "sync");
	ok(ran, "then it has");
	is_status(host->stream_wait(device, to, mark), GPUMEM_OK,
		  "waiting for what is over");
	is_status(host->stream_wait(device, NULL, event), GPUMEM_OK,
		  "the default stream can wait");
	is_status(host->stream_sync(device, NULL), GPUMEM_OK, "and be synced");
	(void)!host->stream_destroy(device, from);
	(void)!host->stream_destroy(device, to);
	(void)!host->event_destroy(device, event);
	(void)!host->event_destroy(device, mark);
}

int main(void)
{
	void *device;

	fake_start();
	device = open_device(0);
	test_event(device);
	test_new_event(device);
	test_outlived(device);
	test_wait(device);
	host->device_close(device);
	return done_testing();
}
