/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The program's own CUevents in the cuda backend: what an import stands for,
 * whatever the program does with the event afterwards, and the streams that it
 * takes. Nothing that is queued runs but what a call waits for.
 */
#include "fixture.h"

static void *device;
static uint64_t block;

/* Work on the stream, and the event after it. */
static void queue_work(void *native, void *stream)
{
	if (gpu->fill(device, block, 1, MIB, stream) != GPUMEM_OK ||
	    driver.cuEventRecord(native, stream))
		bail("%s", said.text);
}

static void *new_native(void)
{
	void *native = NULL;

	if (driver.cuEventCreate(&native, 2 /* CU_EVENT_DISABLE_TIMING */))
		bail("cuEventCreate");
	return native;
}

static void *import(void *native)
{
	void *event = NULL;

	if (!is_status(gpu->event_import(device, native, &event), GPUMEM_OK,
		       "import"))
		bail("%s", said.text);
	return event;
}

static void is(void *event, gpumem_status status, const char *what)
{
	is_status(gpu->event_query(device, event), status, "%s", what);
}

static void test_imports(void *a, void *b)
{
	void *native = new_native(), *one, *two;
	uint64_t streams = audit().streams, waits = driver.fakecuda_waits();

	queue_work(native, a);
	one = import(native);
	queue_work(native, b);
	two = import(native);
	if (driver.cuEventDestroy_v2(native))
		bail("cuEventDestroy");
	is(one, GPUMEM_NOT_READY, "the first import");
	is(two, GPUMEM_NOT_READY, "the second");
	is_uint(driver.fakecuda_waits(), waits, "nothing has waited");
	is_status(gpu->event_sync(device, two), GPUMEM_OK, "wait");
	is(two, GPUMEM_OK, "the second is over");
	is(one, GPUMEM_NOT_READY, "and has not waited for the first");
	is_status(gpu->stream_wait(device, b, one), GPUMEM_OK,
		  "a stream waits for the first");
	is_status(gpu->stream_sync(device, b), GPUMEM_OK, "wait");
	is(one, GPUMEM_OK, "the first is over");
	is_status(gpu->event_destroy(device, one), GPUMEM_OK, "destroy");
	is_status(gpu->event_destroy(device, two), GPUMEM_OK, "destroy");
	is_uint(audit().streams, streams + 2, "each took a stream");
}

/* The streams of imports that are over serve later ones. */
static void test_again(void *a)
{
	uint64_t streams = audit().streams, events = audit().events;
	void *native = new_native(), *event;

	for (int i = 0; i < 20; i++) {
		queue_work(native, a);
		event = import(native);
		is(event, GPUMEM_NOT_READY, "under way");
		is_status(gpu->event_sync(device, event), GPUMEM_OK, "over");
		is_status(gpu->event_destroy(device, event), GPUMEM_OK,
			  "destroyed");
	}
	is_uint(audit().streams, streams, "no more streams");
	event = import(native);
	is(event, GPUMEM_OK, "an event that is over");
	is_status(gpu->event_destroy(device, event), GPUMEM_OK, "destroyed");
	driver.cuEventDestroy_v2(native);
	is_uint(audit().events, events, "no event is left");
}

static void test_native(void *a)
{
	void *event = NULL, *native = NULL;

	if (gpu->event_create(device, &event) != GPUMEM_OK ||
	    gpu->fill(device, block, 1, MIB, a) != GPUMEM_OK ||
	    gpu->event_record(device, event, a) != GPUMEM_OK)
		bail("%s", said.text);
	is_status(gpu->event_native(device, event, &native), GPUMEM_OK,
		  "the driver's event");
	is_int(driver.cuEventQuery(native), 600, "not ready");
	is_status(gpu->stream_sync(device, a), GPUMEM_OK, "wait");
	is_int(driver.cuEventQuery(native), 0, "over");
	is_status(gpu->event_destroy(device, event), GPUMEM_OK, "destroyed");
}

static void test_refused(void *a)
{
	void *native = new_native(), *event = NULL, *graph = NULL;

	if (driver.cuStreamBeginCapture_v2(a, MODE_GLOBAL) ||
	    driver.cuEventRecord(native, a))
		bail("no capture");
	is_status(gpu->event_import(device, native, &event), GPUMEM_CAPTURING,
		  "recorded in a capture, which asking for it has spoiled");
	if (!driver.cuStreamEndCapture(a, &graph))
		driver.cuGraphDestroy(graph);
	driver.cuEventDestroy_v2(native);
	is_status(gpu->event_import(device, native, &event), GPUMEM_INVALID,
		  "destroyed");
	ok(strstr(said.text, "is no event, or it was destroyed"), "%s",
	   said.text);
	is_ptr(event, NULL, "no output is touched");
}

/* Each call of the driver fails once. */
static void test_faults(void *a)
{
	static const char *const names[] = {
		"cuEventCreate",   "cuEventQuery",	"cuStreamQuery",
		"cuStreamCreate",  "cuStreamWaitEvent", "cuEventRecord",
		"cuCtxPushCurrent"};
	void *native = new_native(), *held = new_native(), *first,
	     *event = NULL;
	uint64_t events;

	/* All streams that there are wait, so that one more is made. */
	queue_work(held, a);
	first = import(held);
	events = audit().events;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *more[8];
		int count = 0;

		queue_work(native, a);
		if (!strcmp(names[i], "cuStreamCreate"))
			while (count < 4)
				more[count++] = import(native);
		driver.fakecuda_fault(names[i], 1, false, 999);
		said.text[0] = '\0';
		is_status(gpu->event_import(device, native, &event),
			  GPUMEM_DRIVER, "%s fails", names[i]);
		ok(said.text[0] && !event, "%s", said.text);
		driver.fakecuda_heal();
		while (count)
			(void)!gpu->event_destroy(device, more[--count]);
		is_uint(audit().events, events, "no event is left");
		event = import(native);
		is(event, GPUMEM_NOT_READY, "then it works");
		is_status(gpu->event_destroy(device, event), GPUMEM_OK, "ends");
		event = NULL;
	}
	is_status(gpu->event_destroy(device, first), GPUMEM_OK, "ends");
	driver.cuEventDestroy_v2(native);
	driver.cuEventDestroy_v2(held);
}

int main(void)
{
	struct fakecuda_held before;
	void *a = NULL, *b = NULL;

	cuda_start();
	before = audit();
	device = open_device(0);
	if (driver.cuDevicePrimaryCtxRetain(&a, 0) ||
	    driver.cuCtxSetCurrent(a) ||
	    gpu->alloc(device, MIB, &block) != GPUMEM_OK ||
	    gpu->stream_create(device, &a) != GPUMEM_OK ||
	    gpu->stream_create(device, &b) != GPUMEM_OK)
		bail("%s", said.text);
	driver.fakecuda_stepping(true);
	test_imports(a, b);
	test_again(a);
	test_native(a);
	test_refused(a);
	test_faults(a);
	driver.fakecuda_stepping(false);
	(void)!gpu->stream_destroy(device, a);
	(void)!gpu->stream_destroy(device, b);
	(void)!gpu->free(device, block, MIB);
	driver.cuCtxSetCurrent(NULL);
	driver.cuDevicePrimaryCtxRelease_v2(0);
	gpu->device_close(device);
	is_uint(audit().streams, before.streams, "the device's end ends them");
	is_uint(audit().events, before.events, "no event is left");
	return done_testing();
}
