/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Streams and events, and which work comes before which: vector clocks that
 * know of the program's own waits alone. What the library makes a stream wait
 * for is not in them; it shows in what is over when work runs.
 */
#include "model.h"

void clock_merge(struct clock *clock, const struct clock *with)
{
	for (int i = 0; i < STREAMS; i++)
		if (clock->at[i] < with->at[i])
			clock->at[i] = with->at[i];
}

struct clock clock_of(const struct device *device, int stream)
{
	struct clock clock = device->stream[stream].before;

	clock.at[stream] = device->stream[stream].queued;
	return clock;
}

bool is_over(const struct work *work)
{
	return work->number <= work->device->stream[work->stream].done;
}

bool comes_before(const struct work *work, const struct clock *clock)
{
	return is_over(work) || work->number <= clock->at[work->stream];
}

bool event_wait(struct device *device, int stream, struct event *event)
{
	struct stream *waits = &device->stream[stream];

	if (waits->captured)
		return false;
	must(gpumem_stream_wait(device->handle, waits->handle, event->handle));
	clock_merge(&waits->before, &event->stands_for);
	return true;
}

void event_record(struct device *device, struct event *event, int stream)
{
	must(gpumem_event_record(event->handle, device->stream[stream].handle));
	event->stands_for = clock_of(device, stream);
	event->stream = stream;
}

/* All of the one comes before what is queued on the other. */
static bool follow(struct device *device, int second, int first)
{
	struct event event = {.handle = device->scratch};

	if (first == second)
		return true;
	if (device->stream[first].captured || device->stream[second].captured)
		return false;
	event_record(device, &event, first);
	say(0, 0, "host:%d: s%d waits for s%d, up to %llu", device->number,
	    second, first, (ull)device->stream[first].queued);
	return event_wait(device, second, &event);
}

bool stream_after(struct device *device, int second, const struct work *work)
{
	const struct clock clock = clock_of(device, second);

	return comes_before(work, &clock) ||
	       follow(device, second, work->stream);
}

bool stream_after_all(struct device *device, int second,
		      const struct clock *clock)
{
	for (int i = 0; i < STREAMS; i++) {
		const struct stream *first = &device->stream[i];
		const struct clock now = clock_of(device, second);

		if (clock->at[i] > first->done && clock->at[i] > now.at[i] &&
		    !follow(device, second, i))
			return false;
	}
	return true;
}

void stream_new(struct device *device, int stream)
{
	struct stream *new = &device->stream[stream];

	if (stream)
		must(gpumem_stream_create(device->handle, &new->handle));
	must(gpumem_host_hold(device->number, new->handle, true));
}

void stream_step(struct device *device, int stream, uint64_t number)
{
	const struct work *work = world.first;

	while (work && (work->device != device || work->stream != stream ||
			work->number != number))
		work = work->next;
	if (work)
		must(gpumem_host_step(device->number,
				      device->stream[stream].handle,
				      work->ticket));
	expect(device->stream[stream].done >= number,
	       "host:%d: s%d does not go on", device->number, stream);
}

void stream_sync_all(struct device *device)
{
	for (int i = 0; i < STREAMS; i++)
		if (!device->stream[i].captured)
			must(gpumem_stream_sync(device->handle,
						device->stream[i].handle));
}

int pick_stream(void)
{
	return (int)random_below(STREAMS);
}
