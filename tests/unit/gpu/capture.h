/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Captures: what touches a stream that is being captured is refused and leaves
 * the capture whole, and everything else goes on, in the thread that captures
 * and whatever its mode. Compiled for each vendor, behind its fixture.
 */
#ifndef GPU_CAPTURE_H
#define GPU_CAPTURE_H

#include "double.h"

static void *device, *graph;
static uint64_t raw;

static int state_of(void *stream)
{
	int state = CAPTURE_NONE;
	VENDOR(uint64_t, unsigned long long) id;

	return raw_capture_info(stream, &state, &id) ? -1 : state;
}

static uint64_t id_of(void *stream)
{
	uint64_t id = 0;

	is_status(gpu->capture_id(device, stream, &id), GPUMEM_OK,
		  "its number");
	return id;
}

static void begin(void *stream, int mode)
{
	if (raw_begin_capture(stream, mode))
		bail("no capture");
}

/* True when the capture came to a graph. */
static bool end(void *stream)
{
	graph = NULL;
	return !raw_end_capture(stream, &graph) && graph &&
	       !raw_graph_destroy(graph);
}

#define REFUSED(call)                                                          \
	do {                                                                   \
		said.count = 0;                                                \
		is_status((call), GPUMEM_CAPTURING, #call);                    \
		ok(said.count, "with a sentence");                             \
	} while (0)

/* The calls that a stream under capture must not see: most would spoil it. */
static uint64_t touches(void)
{
	return count_calls(VENDOR("cuEventRecord", "hipEventRecord")) +
	       count_calls(VENDOR("cuStreamQuery", "hipStreamQuery")) +
	       count_calls(
		       VENDOR("cuStreamSynchronize", "hipStreamSynchronize")) +
	       count_calls(VENDOR("cuStreamWaitEvent", "hipStreamWaitEvent")) +
	       count_calls(VENDOR("cuStreamDestroy_v2", "hipStreamDestroy"));
}

static void refuse_all(void *stream, void *event)
{
	uint64_t before = touches();

	REFUSED(gpu->event_record(device, event, stream));
	REFUSED(gpu->stream_query(device, stream));
	REFUSED(gpu->stream_sync(device, stream));
	REFUSED(gpu->stream_wait(device, stream, event));
	is_uint(touches(), before, "the stream was not touched");
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

	bad += gpu->event_query(device, event) != GPUMEM_OK;
	bad += gpu->event_sync(device, event) != GPUMEM_OK;
	bad += gpu->event_create(device, &fresh) != GPUMEM_OK;
	bad += gpu->event_record(device, fresh, other) != GPUMEM_OK;
	bad += gpu->event_query(device, fresh) != GPUMEM_OK;
	bad += gpu->event_destroy(device, fresh) != GPUMEM_OK;
	bad += gpu->stream_query(device, other) != GPUMEM_OK;
	bad += gpu->stream_create(device, &stream) != GPUMEM_OK;
	bad += gpu->stream_sync(device, stream) != GPUMEM_OK;
	bad += gpu->stream_destroy(device, stream) != GPUMEM_OK;
	bad += gpu->memory_info(device, &memory) != GPUMEM_OK;
	bad += gpu->alloc(device, PAGE, &block) != GPUMEM_OK;
	bad += gpu->free(device, block, PAGE) != GPUMEM_OK;
	if (has_virtual()) {
		bad += gpu->va_reserve(device, PAGE, PAGE, &address) !=
		       GPUMEM_OK;
		bad += gpu->page_create(device, PAGE, &page) != GPUMEM_OK;
		bad += gpu->map(device, address, &page, 1, PAGE) != GPUMEM_OK;
		bad += gpu->unmap(device, address, 1, PAGE) != GPUMEM_OK;
		bad += gpu->page_destroy(device, page, PAGE) != GPUMEM_OK;
		bad += gpu->va_release(device, address, PAGE) != GPUMEM_OK;
	}
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
	if (gpu->event_create(device, &event) != GPUMEM_OK ||
	    gpu->event_record(device, event, stream) != GPUMEM_OK)
		bail("%s", said.text);
	is_uint(id_of(stream), 0, "no capture yet");
	begin(stream, mode);
	raw_exchange_mode(&was);
	id = id_of(stream);
	ok(id, "a capture");
	is_uint(id_of(stream), id, "the same one");
	refuse_all(stream, event);
	REFUSED(gpu->stream_destroy(device, stream));
	go_on(other, event);
	is_uint(id_of(other), 0, "another stream is not captured");
	is_status(gpu->fill(device, raw, 3, PAGE, stream), GPUMEM_OK,
		  "work is captured");
	is_status(gpu->copy(device, raw, raw + MIB, MIB, stream), GPUMEM_OK,
		  "copies too");
	is_int(state_of(stream), CAPTURE_ACTIVE, "the capture is whole");
	raw_exchange_mode(&was);
	is_int(was, thread_mode, "the thread's mode is what it was");
	ok(end(stream), "it comes to a graph");
	is_uint(id_of(stream), 0, "it is over");
	begin(stream, mode);
	ok(id_of(stream) && id_of(stream) != id, "the next is another one");
	ok(end(stream), "and comes to a graph too");
	is_status(gpu->event_destroy(device, event), GPUMEM_OK, "the event");
	raw_stream_destroy(stream);
	raw_stream_destroy(other);
}

/* The default stream waits for streams that are not NON_BLOCKING, so it can be
 * used for nothing while one of those is captured. */
static void elsewhere(void *name)
{
	void *stream = new_stream(STREAM_BLOCKING);
	void *event = NULL;

	if (gpu->event_create(device, &event) != GPUMEM_OK)
		bail("%s", said.text);
	begin(stream, MODE_GLOBAL);
	ok(id_of(name), "the default stream is captured with another");
	refuse_all(name, event);
	REFUSED(gpu->fill(device, raw, 0, PAGE, name));
	REFUSED(gpu->copy(device, raw, raw + MIB, MIB, name));
	is_int(state_of(stream), CAPTURE_ACTIVE, "the capture is whole");
	ok(end(stream), "it comes to a graph");
	is_uint(id_of(name), 0, "and the default stream is free");
	is_status(gpu->event_record(device, event, name), GPUMEM_OK,
		  "to be used");
	is_status(gpu->event_destroy(device, event), GPUMEM_OK, "the event");
	raw_stream_destroy(stream);
}

/* A stream that we made is not ordered with the default one. */
static void our_own(void)
{
	void *stream = NULL;

	if (gpu->stream_create(device, &stream) != GPUMEM_OK)
		bail("%s", said.text);
	begin(stream, MODE_GLOBAL);
	is_uint(id_of(NULL), 0, "a capture of ours leaves the default stream");
	is_status(gpu->stream_query(device, NULL), GPUMEM_OK, "to others");
	ok(end(stream), "and comes to a graph");
	is_status(gpu->stream_destroy(device, stream), GPUMEM_OK, "destroy it");
}

/* A capture that the program has spoiled itself lasts until it ends it. */
static void spoiled(void)
{
	void *one = new_stream(STREAM_NON_BLOCKING);
	void *two = new_stream(STREAM_NON_BLOCKING);
	void *event = NULL;

	if (gpu->event_create(device, &event) != GPUMEM_OK)
		bail("%s", said.text);
	begin(one, MODE_RELAXED);
	begin(two, MODE_RELAXED);
	ok(raw_stream_sync(one) && raw_stream_sync(two),
	   "two captures are spoiled");
	is_int(state_of(one), CAPTURE_INVALIDATED, "the driver says so");
	ok(id_of(one) && id_of(one) != id_of(two), "each has a number");
	refuse_all(one, event);
	ok(!end(one) && !end(two), "they come to nothing");
	is_uint(id_of(one), 0, "and are over");
	is_status(gpu->event_record(device, event, one), GPUMEM_OK,
		  "the stream is free");
	is_status(gpu->event_destroy(device, event), GPUMEM_OK, "the event");
	raw_stream_destroy(one);
	raw_stream_destroy(two);
}

static void capture_checks(void)
{
	uint64_t events;

	device = open_device(0);
	if (gpu->alloc(device, PAGE, &raw) != GPUMEM_OK)
		bail("%s", said.text);
	events = audit().events;
	for (int mode = MODE_GLOBAL; mode <= MODE_RELAXED; mode++)
		for (int own = MODE_GLOBAL; own <= MODE_RELAXED; own++)
			one_capture(mode, own);
	elsewhere(NULL);
	if (has_virtual())
		elsewhere((void *)1);
	our_own();
	spoiled();
	is_uint(audit().streams + audit().events + audit().captures, events,
		"nothing is left");
	gpu->device_close(device);
}

#endif
