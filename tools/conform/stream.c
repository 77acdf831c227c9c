/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The groups STREAMS and NATIVE_EVENTS: streams, events, and the order that
 * they give. See conform.h.
 */
#include "conform.h"

#include <time.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)
#define ROUNDS 16
#define ROUNDS_LEAST 2 /* one of either kind */
#define ROUNDS_SECONDS 1
#define LONG_NS ((uint64_t)3600 * 1000 * 1000 * 1000)

/* Where only commands can be asked about, and not queues, an idle stream may be
 * known as one a moment later; but not never. */
static gpumem_status query_idle(const struct conform *c, gpumem_stream stream)
{
	gpumem_status status = c->ops->stream_query(c->device, stream);

	for (int i = 0; i < 1000 && status == GPUMEM_NOT_READY; i++) {
		usleep(10000);
		status = c->ops->stream_query(c->device, stream);
	}
	return status;
}

/* An event's life on one stream. */
static void check_event(struct conform *c, gpumem_stream stream,
			const char *name)
{
	void *event = NULL;
	gpumem_status status;

	if (!conform_is(c, c->ops->event_create(c->device, &event), GPUMEM_OK,
			"%s: event", name))
		return;
	conform_is(c, c->ops->event_query(c->device, event), GPUMEM_OK,
		   "%s: one that was never recorded is over", name);
	conform_is(c, c->ops->event_sync(c->device, event), GPUMEM_OK,
		   "%s: nor is it waited for", name);
	conform_is(c, c->ops->event_record(c->device, event, stream), GPUMEM_OK,
		   "%s: record", name);
	status = c->ops->event_query(c->device, event);
	conform_ok(c, status == GPUMEM_OK || status == GPUMEM_NOT_READY,
		   "%s: then it is over or not ready", name);
	if (c->ops->event_wait) {
		status = c->ops->event_wait(c->device, event, 0);
		conform_ok(c, status == GPUMEM_OK || status == GPUMEM_NOT_READY,
			   "%s: so it is after a wait of no time", name);
	}
	conform_is(c, c->ops->event_sync(c->device, event), GPUMEM_OK,
		   "%s: wait for it", name);
	conform_is(c, c->ops->event_query(c->device, event), GPUMEM_OK,
		   "%s: then it is over", name);
	conform_is(c, c->ops->event_record(c->device, event, stream), GPUMEM_OK,
		   "%s: record again", name);
	conform_is(c, c->ops->stream_sync(c->device, stream), GPUMEM_OK,
		   "%s: wait for the stream", name);
	conform_is(c, c->ops->event_query(c->device, event), GPUMEM_OK,
		   "%s: then nothing is queued, so it is over", name);
	conform_is(c, query_idle(c, stream), GPUMEM_OK,
		   "%s: and the stream has nothing to do", name);
	conform_is(c, c->ops->stream_wait(c->device, stream, event), GPUMEM_OK,
		   "%s: an event that is over holds nothing up", name);
	conform_is(c, c->ops->stream_sync(c->device, stream), GPUMEM_OK,
		   "%s: wait again", name);
	conform_is(c, c->ops->event_destroy(c->device, event), GPUMEM_OK,
		   "%s: destroy the event", name);
}

/* Two at one time. */
static void check_two_events(struct conform *c)
{
	void *one, *two;

	if (!conform_is(c, c->ops->event_create(c->device, &one), GPUMEM_OK,
			"an event"))
		return;
	if (conform_is(c, c->ops->event_create(c->device, &two), GPUMEM_OK,
		       "another event"))
		conform_is(c, c->ops->event_destroy(c->device, two), GPUMEM_OK,
			   "destroy the other event");
	conform_is(c, c->ops->event_destroy(c->device, one), GPUMEM_OK,
		   "destroy the first event");
}

void conform_streams(struct conform *c)
{
	gpumem_stream one = NULL, two = NULL;

	if (!conform_has(c, GPUMEM_CAP_STREAMS)) {
		conform_skip(c, "streams", "the device has no streams");
		return;
	}
	conform_is(c, c->ops->stream_sync(c->device, NULL), GPUMEM_OK,
		   "wait for the default stream");
	check_two_events(c);
	check_event(c, NULL, "default stream");
	if (!conform_is(c, c->ops->stream_create(c->device, &one), GPUMEM_OK,
			"a stream"))
		return;
	if (conform_is(c, c->ops->stream_create(c->device, &two), GPUMEM_OK,
		       "another stream")) {
		check_event(c, one, "own stream");
		conform_is(c, c->ops->stream_destroy(c->device, two), GPUMEM_OK,
			   "destroy the other");
	}
	conform_is(c, c->ops->stream_destroy(c->device, one), GPUMEM_OK,
		   "destroy the first");
}

/* Two streams, two blocks, an event. */
struct order {
	struct conform *c;
	gpumem_stream first, second;
	void *event;
	uint64_t from, to, bytes;
};

/* Four fills, of which the last counts, and the event after them. */
static gpumem_status fill_first(const struct order *o, uint8_t value)
{
	const struct gpumem_backend *ops = o->c->ops;
	gpumem_status status = GPUMEM_OK;

	for (int i = 3; i >= 0 && status == GPUMEM_OK; i--)
		status = ops->fill(o->c->device, o->from, (uint8_t)(value + i),
				   o->bytes, o->first);
	if (status == GPUMEM_OK)
		status = ops->event_record(o->c->device, o->event, o->first);
	return status;
}

/* Slow work on the first stream; its result is copied by the second, which
 * waits for the event. Without the wait the copy would be too early. */
static gpumem_status one_round(const struct order *o, uint8_t value)
{
	const struct gpumem_backend *ops = o->c->ops;
	void *device = o->c->device;
	gpumem_status status = fill_first(o, value);

	if (status == GPUMEM_OK)
		status = ops->stream_wait(device, o->second, o->event);
	if (status == GPUMEM_OK)
		status = ops->copy(device, o->to, o->from, o->bytes, o->second);
	if (status == GPUMEM_OK)
		status = conform_sync(o->c, o->second);
	if (status == GPUMEM_OK)
		status = conform_verify(o->c, o->to, value, o->bytes);
	return status;
}

/* The newest record of an event counts: it was recorded before the work, too.
 */
static gpumem_status newest_record(const struct order *o, uint8_t value)
{
	const struct gpumem_backend *ops = o->c->ops;
	void *device = o->c->device;
	gpumem_status status;

	status = ops->event_record(device, o->event, o->first);
	if (status == GPUMEM_OK)
		status = fill_first(o, value);
	if (status == GPUMEM_OK)
		status = value % 2 && ops->event_wait
				 ? ops->event_wait(device, o->event, LONG_NS)
				 : ops->event_sync(device, o->event);
	if (status == GPUMEM_OK)
		status = ops->copy(device, o->to, o->from, o->bytes, o->second);
	if (status == GPUMEM_OK)
		status = conform_sync(o->c, o->second);
	if (status == GPUMEM_OK)
		status = conform_verify(o->c, o->to, value, o->bytes);
	return status;
}

/* What is imported stands for the work of before, when the event that it is
 * from was recorded again: on the other stream, which has nothing to do. */
static gpumem_status imported(const struct order *o, uint8_t value)
{
	const struct gpumem_backend *ops = o->c->ops;
	void *device = o->c->device, *native = NULL, *copy = NULL;
	gpumem_status status = fill_first(o, value), destroyed;

	if (status == GPUMEM_OK)
		status = ops->event_native(device, o->event, &native);
	if (status == GPUMEM_OK)
		status = ops->event_import(device, native, &copy);
	if (status != GPUMEM_OK)
		return status;
	status = ops->event_record(device, o->event, o->second);
	if (status == GPUMEM_OK)
		status = value % 2 ? ops->event_sync(device, copy)
				   : ops->stream_wait(device, o->second, copy);
	if (status == GPUMEM_OK)
		status = ops->copy(device, o->to, o->from, o->bytes, o->second);
	if (status == GPUMEM_OK)
		status = conform_sync(o->c, o->second);
	if (status == GPUMEM_OK)
		status = ops->event_query(device, copy);
	destroyed = ops->event_destroy(device, copy);
	if (status == GPUMEM_OK)
		status = destroyed;
	return status == GPUMEM_OK
		       ? conform_verify(o->c, o->to, value, o->bytes)
		       : status;
}

typedef gpumem_status round_fn(const struct order *o, uint8_t value);

/* A simulator, which needs a second for each round, is done with a few. */
static void check_rounds(const struct order *o, round_fn *round, int value,
			 const char *name)
{
	gpumem_status status = GPUMEM_OK;
	time_t end = time(NULL) + ROUNDS_SECONDS;

	for (int i = 0; i < ROUNDS && status == GPUMEM_OK &&
			(i < ROUNDS_LEAST || time(NULL) <= end);
	     i++)
		status = round(o, (uint8_t)(value + i * 5));
	conform_is(o->c, status, GPUMEM_OK, "%s", name);
}

static void check_order(const struct order *o)
{
	check_rounds(o, one_round, 0, "a stream waits for another's event");
	check_rounds(o, newest_record, 101,
		     "an event stands for its newest record");
	if (o->c->ops->event_import)
		check_rounds(o, imported, 51,
			     "an import stands for what its event stood for");
	else
		conform_skip(o->c, "events of the vendor's own",
			     "the backend has no event_import");
	/* Whatever is still queued when a check failed. */
	(void)conform_sync(o->c, o->first);
	(void)conform_sync(o->c, o->second);
}

void conform_order(struct conform *c)
{
	struct order o = {.c = c, .bytes = conform_raw(c, 8 * MIB)};
	const struct gpumem_backend *ops = c->ops;

	if (!conform_has(c, GPUMEM_CAP_STREAMS) ||
	    !conform_has(c, GPUMEM_CAP_COPY)) {
		conform_skip(c, "order between streams",
			     "the device has no streams, or no fill and copy");
		return;
	}
	if (ops->alloc(c->device, o.bytes, &o.from) != GPUMEM_OK)
		goto failed;
	if (ops->alloc(c->device, o.bytes, &o.to) != GPUMEM_OK)
		goto free_from;
	if (ops->stream_create(c->device, &o.first) != GPUMEM_OK)
		goto free_to;
	if (ops->stream_create(c->device, &o.second) != GPUMEM_OK)
		goto destroy_first;
	if (ops->event_create(c->device, &o.event) != GPUMEM_OK)
		goto destroy_second;
	check_order(&o);
	(void)ops->event_destroy(c->device, o.event);
	(void)ops->stream_destroy(c->device, o.second);
	(void)ops->stream_destroy(c->device, o.first);
	(void)ops->free(c->device, o.to, o.bytes);
	(void)ops->free(c->device, o.from, o.bytes);
	return;
destroy_second:
	(void)ops->stream_destroy(c->device, o.second);
destroy_first:
	(void)ops->stream_destroy(c->device, o.first);
free_to:
	(void)ops->free(c->device, o.to, o.bytes);
free_from:
	(void)ops->free(c->device, o.from, o.bytes);
failed:
	conform_ok(c, false,
		   "order between streams: two blocks, two streams "
		   "and an event");
}
