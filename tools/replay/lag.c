/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A device that lags behind: each block is filled on its stream when it is
 * allocated, and on each that uses it, so that no stream is idle. On `host` the
 * streams are held, and the work of an event is over exactly so many events
 * later, or when the library waits for it; there a fill is of a few bytes, for
 * the host would have to do it. Elsewhere the device does what it can as fast
 * as it can.
 */
#include "replay.h"

#include <gpumem/host.h>

#include <stdlib.h>
#include <string.h>

enum { HOST_FILL_BYTES = 64 };

/* The work of one event. */
struct replay_work {
	uint64_t event, number; /* of the event, of the work on its stream */
	gpumem_stream stream;
};

static bool is_host(const struct replay *replay)
{
	return !strncmp(replay->device_name, "host:", 5);
}

static int host_number(const struct replay *replay)
{
	return atoi(replay->device_name + 5);
}

bool replay_lag_open(struct replay *replay)
{
	if (!replay->config->lag)
		return true;
	if (!(replay->info.caps & GPUMEM_CAP_STREAMS) ||
	    !(replay->info.caps & GPUMEM_CAP_COPY))
		return replay_fail(replay,
				   "%s has no streams that fill: --lag needs "
				   "them",
				   replay->device_name);
	return replay_lag_stream(replay, NULL);
}

bool replay_lag_stream(struct replay *replay, gpumem_stream stream)
{
	if (!replay->config->lag || !is_host(replay) ||
	    gpumem_host_hold(host_number(replay), stream, true) == GPUMEM_OK)
		return true;
	return replay_fail_last(replay, "cannot hold a stream");
}

static gpumem_status remember(struct replay_lag *lag,
			      const struct replay_work *work)
{
	if (lag->last - lag->first == lag->room) {
		size_t room = lag->room ? 2 * lag->room : 1024;
		struct replay_work *ring = calloc(room, sizeof(*ring));

		if (!ring)
			return GPUMEM_NO_HOST_MEMORY;
		for (uint64_t i = lag->first; i != lag->last; i++)
			ring[i % room] = lag->ring[i % lag->room];
		free(lag->ring);
		lag->ring = ring;
		lag->room = room;
	}
	lag->ring[lag->last++ % lag->room] = *work;
	return GPUMEM_OK;
}

static gpumem_status queue(struct replay *replay,
			   const struct trace_event *event)
{
	void *ptr = replay->ptrs[event->slot];
	struct replay_work work = {.event = replay->lag.event,
				   .stream = replay->streams[event->stream]};
	uint64_t bytes = event->bytes;
	gpumem_status status;

	if (is_host(replay) && bytes > HOST_FILL_BYTES)
		bytes = HOST_FILL_BYTES;
	status = gpumem_fill(replay->device, ptr, 0x5a, bytes, work.stream);
	if (status != GPUMEM_OK || !is_host(replay) ||
	    replay->config->lag == REPLAY_LAG_INF)
		return status;
	work.number = gpumem_host_queued(host_number(replay), work.stream);
	return remember(&replay->lag, &work);
}

/* The device gets as far as it should be by now. */
static gpumem_status catch_up(struct replay *replay)
{
	struct replay_lag *lag = &replay->lag;
	gpumem_status status = GPUMEM_OK;

	while (lag->first != lag->last && status == GPUMEM_OK) {
		const struct replay_work *work =
			&lag->ring[lag->first % lag->room];

		if (lag->event - work->event < replay->config->lag)
			break;
		status = gpumem_host_step(host_number(replay), work->stream,
					  work->number);
		lag->first++;
	}
	return status;
}

gpumem_status replay_lag_event(struct replay *replay,
			       const struct trace_event *event)
{
	gpumem_status status = GPUMEM_OK;

	if ((event->kind == TRACE_ALLOC || event->kind == TRACE_USE) &&
	    replay->ptrs[event->slot])
		status = queue(replay, event);
	replay->lag.event++;
	return status == GPUMEM_OK ? catch_up(replay) : status;
}

void replay_lag_close(struct replay *replay)
{
	free(replay->lag.ring);
	replay->lag = (struct replay_lag){0};
}
