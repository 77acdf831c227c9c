/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The program's own hipEvent_t in the hip backend: what an import stands for,
 * whatever the program does with the event afterwards. Nothing that is queued
 * runs but what a call waits for. The rest is as in ../cuda/native.c.
 */
#include "fixture.h"

static void *device;
static uint64_t block;

static void queue_work(void *native, void *stream)
{
	if (gpu->fill(device, block, 1, MIB, stream) != GPUMEM_OK ||
	    runtime.hipEventRecord(native, stream))
		bail("%s", said.text);
}

static void *import(void *native)
{
	void *event = NULL;

	if (!is_status(gpu->event_import(device, native, &event), GPUMEM_OK,
		       "import"))
		bail("%s", said.text);
	is_int(runtime.hipPeekAtLastError(), 0, "the thread has no error");
	return event;
}

static void is(void *event, gpumem_status status, const char *what)
{
	is_status(gpu->event_query(device, event), status, "%s", what);
}

static void test_imports(void *a, void *b)
{
	void *native = NULL, *one, *two, *event = NULL;
	uint64_t streams = audit().streams, waits = driver.fakecuda_waits();

	if (runtime.hipEventCreateWithFlags(&native, 2))
		bail("hipEventCreateWithFlags");
	queue_work(native, a);
	one = import(native);
	queue_work(native, b);
	two = import(native);
	is_status(gpu->event_native(device, two, &event), GPUMEM_OK,
		  "the runtime's event");
	ok(event && event != native, "which is another one");
	event = NULL;
	runtime.hipEventDestroy(native);
	is(one, GPUMEM_NOT_READY, "the first import");
	is(two, GPUMEM_NOT_READY, "the second");
	is_uint(driver.fakecuda_waits(), waits, "nothing has waited");
	is_status(gpu->event_sync(device, two), GPUMEM_OK, "wait");
	is(two, GPUMEM_OK, "the second is over");
	is(one, GPUMEM_NOT_READY, "and has not waited for the first");
	is_status(gpu->event_sync(device, one), GPUMEM_OK, "wait");
	is(one, GPUMEM_OK, "the first is over");
	is_status(gpu->event_destroy(device, one), GPUMEM_OK, "destroy");
	is_status(gpu->event_destroy(device, two), GPUMEM_OK, "destroy");
	is_uint(audit().streams, streams + 2, "each took a stream");
	is_status(gpu->event_import(device, native, &event), GPUMEM_INVALID,
		  "what was destroyed");
	ok(strstr(said.text, "is no event") && !event, "%s", said.text);
	is_int(runtime.hipPeekAtLastError(), 0, "the thread has no error");
}

static void checks(void)
{
	struct fakecuda_held before = audit();
	void *a = NULL, *b = NULL;

	device = open_device(0);
	if (gpu->alloc(device, MIB, &block) != GPUMEM_OK ||
	    gpu->stream_create(device, &a) != GPUMEM_OK ||
	    gpu->stream_create(device, &b) != GPUMEM_OK)
		bail("%s", said.text);
	driver.fakecuda_stepping(true);
	test_imports(a, b);
	driver.fakecuda_stepping(false);
	(void)!gpu->stream_destroy(device, a);
	(void)!gpu->stream_destroy(device, b);
	(void)!gpu->free(device, block, MIB);
	gpu->device_close(device);
	is_uint(audit().streams, before.streams, "the device's end ends them");
	is_uint(audit().events, before.events, "no event is left");
}

int main(void)
{
	return on_all_releases(checks);
}
