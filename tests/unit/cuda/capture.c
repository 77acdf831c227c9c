/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Captures and the cuda backend: what touches a stream that is being captured
 * is refused and leaves the capture whole, and everything else goes on, in the
 * thread that captures and whatever its mode.
 */
#include "fixture.h"

static void *device, *graph;
static uint64_t raw;

static int state_of(void *stream)
{
	int state = CAPTURE_NONE;
	uint64_t id;

	return driver.cuStreamGetCaptureInfo(stream, &state, &id) ? -1 : state;
}

static uint64_t id_of(void *stream)
{
	uint64_t id = 0;

	is_status(cuda->capture_id(device, stream, &id), GPUMEM_OK,
		  "its number");
	return id;
}

static void begin(void *stream, int mode)
{
	if (driver.cuStreamBeginCapture_v2(stream, mode))
		bail("cuStreamBeginCapture");
}

/* True when the capture came to a graph. */
static bool end(void *stream)
{
	graph = NULL;
	return !driver.cuStreamEndCapture(stream, &graph) && graph &&
	       !driver.cuGraphDestroy(graph);
}

#define REFUSED(call)                                                          \
	do {                                                                   \
		said.count = 0;                                                \
		is_status((call), GPUMEM_CAPTURING, #call);                    \
		ok(said.count, "with a sentence");                             \
	} while (0)

static void refuse_all(void *stream, void *event)
{
	REFUSED(cuda->event_record(device, event, stream));
	REFUSED(cuda->stream_query(device, stream));
	REFUSED(cuda->stream_sync(device, stream));
	REFUSED(cuda->stream_wait(device, stream, event));
}

/* Whatever a pool may do for other streams meanwhile. */
static void go_on(void *other, void *event)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	uint64_t address = 0, block = 0;
	void *fresh = NULL;
	gpumem_page page = 0;
	void *stream = NULL;
	int bad = 0;

	bad += cuda->event_query(device, event) != GPUMEM_OK;
	bad += cuda->event_sync(device, event) != GPUMEM_OK;
	bad += cuda->event_create(device, &fresh) != GPUMEM_OK;
	bad += cuda->event_record(device, fresh, other) != GPUMEM_OK;
	bad += cuda->event_query(device, fresh) != GPUMEM_OK;
	bad += cuda->event_destroy(device, fresh) != GPUMEM_OK;
	bad += cuda->stream_query(device, other) != GPUMEM_OK;
	bad += cuda->stream_create(device, &stream) != GPUMEM_OK;
	bad += cuda->stream_sync(device, stream) != GPUMEM_OK;
	bad += cuda->stream_destroy(device, stream) != GPUMEM_OK;
	bad += cuda->memory_info(device, &memory) != GPUMEM_OK;
	bad += cuda->alloc(device, PAGE, &block) != GPUMEM_OK;
	bad += cuda->free(device, block, PAGE) != GPUMEM_OK;
	bad += cuda->va_reserve(device, PAGE, PAGE, &address) != GPUMEM_OK;
	bad += cuda->page_create(device, PAGE, &page) != GPUMEM_OK;
	bad += cuda->map(device, address, &page, 1, PAGE) != GPUMEM_OK;
	bad += cuda->unmap(device, address, 1, PAGE) != GPUMEM_OK;
	bad += cuda->page_destroy(device, page, PAGE) != GPUMEM_OK;
	bad += cuda->va_release(device, address, PAGE) != GPUMEM_OK;
	is_int(bad, 0, "all else goes on: %s", said.text);
}

static void one_capture(int mode, int thread_mode)
{
	void *stream = new_stream(STREAM_NON_BLOCKING);
	void *other = new_stream(STREAM_NON_BLOCKING);
	void *event = NULL;
	int was = thread_mode;
	uint64_t id;

	diag("captured in mode %d, thread in mode %d", mode, thread_mode);
	if (cuda->event_create(device, &event) != GPUMEM_OK ||
	    cuda->event_record(device, event, stream) != GPUMEM_OK)
		bail("%s", said.text);
	is_uint(id_of(stream), 0, "no capture yet");
	begin(stream, mode);
	driver.cuThreadExchangeStreamCaptureMode(&was);
	id = id_of(stream);
	ok(id, "a capture");
	is_uint(id_of(stream), id, "the same one");
	refuse_all(stream, event);
	REFUSED(cuda->stream_destroy(device, stream));
	go_on(other, event);
	is_uint(id_of(other), 0, "another stream is not captured");
	is_status(cuda->fill(device, raw, 3, PAGE, stream), GPUMEM_OK,
		  "work is captured");
	is_status(cuda->copy(device, raw, raw + MIB, MIB, stream), GPUMEM_OK,
		  "copies too");
	is_int(state_of(stream), CAPTURE_ACTIVE, "the capture is whole");
	driver.cuThreadExchangeStreamCaptureMode(&was);
	is_int(was, thread_mode, "the thread's mode is what it was");
	ok(end(stream), "it comes to a graph");
	is_uint(id_of(stream), 0, "it is over");
	begin(stream, mode);
	ok(id_of(stream) && id_of(stream) != id, "the next is another one");
	ok(end(stream), "and comes to a graph too");
	is_status(cuda->event_destroy(device, event), GPUMEM_OK, "the event");
	driver.cuStreamDestroy_v2(stream);
	driver.cuStreamDestroy_v2(other);
}

/* The default stream waits for streams that are not NON_BLOCKING, so it can be
 * used for nothing while one of those is captured. */
static void elsewhere(void *name)
{
	void *stream = new_stream(STREAM_BLOCKING);
	void *event = NULL;

	if (cuda->event_create(device, &event) != GPUMEM_OK)
		bail("%s", said.text);
	begin(stream, MODE_GLOBAL);
	ok(id_of(name), "the default stream is captured with another");
	refuse_all(name, event);
	REFUSED(cuda->fill(device, raw, 0, PAGE, name));
	REFUSED(cuda->copy(device, raw, raw + MIB, MIB, name));
	is_int(state_of(stream), CAPTURE_ACTIVE, "the capture is whole");
	ok(end(stream), "it comes to a graph");
	is_uint(id_of(name), 0, "and the default stream is free");
	is_status(cuda->event_record(device, event, name), GPUMEM_OK,
		  "to be used");
	is_status(cuda->event_destroy(device, event), GPUMEM_OK, "the event");
	driver.cuStreamDestroy_v2(stream);
}

/* A capture that the program has spoiled itself lasts until it ends it. */
static void spoiled(void)
{
	void *one = new_stream(STREAM_NON_BLOCKING);
	void *two = new_stream(STREAM_NON_BLOCKING);
	void *event = NULL;

	if (cuda->event_create(device, &event) != GPUMEM_OK)
		bail("%s", said.text);
	begin(one, MODE_RELAXED);
	begin(two, MODE_RELAXED);
	ok(driver.cuStreamSynchronize(one) && driver.cuStreamSynchronize(two),
	   "two captures are spoiled");
	is_int(state_of(one), CAPTURE_INVALIDATED, "the driver says so");
	ok(id_of(one) && id_of(one) != id_of(two), "each has a number");
	refuse_all(one, event);
	ok(!end(one) && !end(two), "they come to nothing");
	is_uint(id_of(one), 0, "and are over");
	is_status(cuda->event_record(device, event, one), GPUMEM_OK,
		  "the stream is free");
	is_status(cuda->event_destroy(device, event), GPUMEM_OK, "the event");
	driver.cuStreamDestroy_v2(one);
	driver.cuStreamDestroy_v2(two);
}

int main(void)
{
	void *context = NULL;

	cuda_start();
	device = open_device(0);
	if (driver.cuDevicePrimaryCtxRetain(&context, 0) ||
	    driver.cuCtxSetCurrent(context))
		bail("no context");
	if (cuda->alloc(device, PAGE, &raw) != GPUMEM_OK)
		bail("%s", said.text);
	for (int mode = MODE_GLOBAL; mode <= MODE_RELAXED; mode++)
		for (int own = MODE_GLOBAL; own <= MODE_RELAXED; own++)
			one_capture(mode, own);
	elsewhere(NULL);
	elsewhere((void *)1);
	spoiled();
	is_uint(audit().streams + audit().events + audit().captures, 0,
		"nothing is left");
	return done_testing();
}
