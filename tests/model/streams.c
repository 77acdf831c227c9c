/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The steps of streams and events. */
#include "model.h"

static struct device *pick_device(void)
{
	const struct pool *pool = pick_pool();

	return pool ? pool->device : &world.device[0];
}

/* Some of what is queued, the oldest first; or all of it, and then the library
 * sees that the stream has nothing to do. */
void step_run(void)
{
	struct device *device = pick_device();
	int number = pick_stream();
	const struct stream *stream = &device->stream[number];
	uint64_t left = stream->queued - stream->done;

	if (one_in(3) && !stream->captured)
		must(gpumem_stream_sync(device->handle, stream->handle));
	else if (left)
		stream_step(device, number,
			    stream->queued - random_below(left));
}

static void query(struct device *device, struct event *event)
{
	const struct stream *stream = &device->stream[event->stream];
	uint64_t until = event->stands_for.at[event->stream];
	gpumem_status status = gpumem_event_query(event->handle);

	expect(status == GPUMEM_OK || status == GPUMEM_NOT_READY, "query: %s",
	       gpumem_status_name(status));
	expect(status == GPUMEM_NOT_READY || stream->done >= until,
	       "e%d is over, and work %llu of s%d is not",
	       (int)(event - device->event), (ull)until, event->stream);
}

static void use_event(struct device *device, struct event *event)
{
	int stream = pick_stream();

	switch (random_below(6)) {
	case 0:
	case 1:
		if (device->stream[stream].captured)
			return;
		event_record(device, event, stream);
		say(0, 0, "host:%d: e%d is recorded on s%d, at %llu",
		    device->number, (int)(event - device->event), stream,
		    (ull)event->stands_for.at[stream]);
		return;
	case 2:
		if (event_wait(device, stream, event))
			say(0, 0, "host:%d: s%d waits for e%d", device->number,
			    stream, (int)(event - device->event));
		return;
	case 3:
		query(device, event);
		return;
	case 4:
		must(gpumem_event_sync(event->handle));
		must(gpumem_event_query(event->handle));
		query(device, event);
		return;
	default:
		must(gpumem_event_destroy(event->handle));
		*event = (struct event){0};
	}
}

void step_event(void)
{
	struct device *device = pick_device();
	struct event *event = &device->event[random_below(EVENTS)];

	if (event->handle)
		use_event(device, event);
	else
		must(gpumem_event_create(device->handle, &event->handle));
}

static void drop(struct device *device, int number)
{
	struct pool *pool = pick_pool();
	gpumem_status status;

	if (!pool || pool->device != device)
		return;
	perhaps_failing(status,
			gpumem_pool_drop_stream(pool->handle,
						device->stream[number].handle));
	say(0, 0, "%s drops s%d: %s", name_of(pool), number,
	    gpumem_status_name(status));
	judge("gpumem_pool_drop_stream", status);
	blocks_dropped(device, pool, number);
}

/* After a failure some pools may have removed it. */
void step_stream(void)
{
	struct device *device = pick_device();
	int number = pick_stream();
	struct stream *stream = &device->stream[number];
	gpumem_status status;

	if (stream->capture)
		return;
	if (!number || one_in(2)) {
		drop(device, number);
		return;
	}
	perhaps_failing(status,
			gpumem_stream_destroy(device->handle, stream->handle));
	say(0, 0, "host:%d: s%d is destroyed: %s", device->number, number,
	    gpumem_status_name(status));
	judge("gpumem_stream_destroy", status);
	blocks_dropped(device, NULL, number);
	if (!status)
		stream_new(device, number);
}
