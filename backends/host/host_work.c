/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The work of streams: launches, fills, copies and waits; group COPY; and
 * capture, during which work is dropped. Locks as in host_queue.c.
 */
#include "host_device.h"

#include <string.h>

static _Atomic uint64_t captures; /* the last capture's number */
static _Atomic uint64_t violations;

static struct host_touch target_of(const struct host_work *work)
{
	return (struct host_touch){work->move.to, work->move.bytes, true};
}

static struct host_touch source_of(const struct host_work *work)
{
	return (struct host_touch){work->move.from, work->move.bytes, false};
}

/* Looks at both ends, that is at one of a fill. */
static gpumem_status look(const struct host_work *work,
			  gpumem_status (*at)(const struct host_touch *touch))
{
	struct host_touch target = target_of(work), source = source_of(work);
	gpumem_status status = at(&target);

	if (status == GPUMEM_OK && work->kind == HOST_WORK_COPY)
		status = at(&source);
	return status;
}

static gpumem_status move(const struct host_device *device,
			  const struct host_work *work)
{
	void *to = (void *)(uintptr_t)work->move.to;
	const void *from = (const void *)(uintptr_t)work->move.from;
	uint64_t rate = device->config.copy_rate;
	gpumem_status status;

	if (rate)
		gm_host_sleep((uint64_t)((double)work->move.bytes * 1e9 /
					 (double)rate));
	status = look(work, gm_host_touch_now);
	if (status != GPUMEM_OK)
		return status;
	if (work->kind == HOST_WORK_FILL)
		memset(to, work->move.value, work->move.bytes);
	else
		memmove(to, from, work->move.bytes);
	return GPUMEM_OK;
}

gpumem_status gm_host_work_run(struct host_device *device,
			       const struct host_work *work)
{
	switch (work->kind) {
	case HOST_WORK_LAUNCH:
		work->launch.fn(work->launch.arg);
		break;
	case HOST_WORK_WAIT:
		/* Lost or not, this stream goes on. */
		(void)gm_host_stream_await(work->wait.stream, work->wait.ticket,
					   NULL);
		break;
	case HOST_WORK_FILL:
	case HOST_WORK_COPY:
		return move(device, work);
	}
	return GPUMEM_OK;
}

/* Queues the work, whose addresses are the device's; one without streams does
 * it at once. */
static gpumem_status submit(struct host_device *device, enum gpumem_slot slot,
			    gpumem_stream name, struct host_work *work)
{
	struct host_stream *stream;
	gpumem_status status = gm_host_enter(device, slot);

	if (status != GPUMEM_OK)
		return status;
	stream = gm_host_stream_find(device, name);
	if (!stream)
		return GPUMEM_INVALID;
	if (work->kind == HOST_WORK_FILL)
		status = gm_host_may_touch(device, work->move.to,
					   work->move.bytes);
	if (status == GPUMEM_OK)
		status = look(work, gm_host_touch_look);
	if (status != GPUMEM_OK)
		return status;
	work->move.to = gm_host_memory_at(device, work->move.to);
	work->move.from = gm_host_memory_at(device, work->move.from);
	if (device->config.caps & GPUMEM_CAP_STREAMS)
		return gm_host_stream_queue(stream, work);
	return gm_host_work_run(device, work);
}

gpumem_status gm_host_fill(void *handle, uint64_t address, uint8_t value,
			   uint64_t bytes, gpumem_stream stream)
{
	struct host_work work = {
		.kind = HOST_WORK_FILL,
		.move = {.to = address, .bytes = bytes, .value = value},
	};

	return submit(handle, GPUMEM_SLOT_fill, stream, &work);
}

gpumem_status gm_host_copy(void *handle, uint64_t to, uint64_t from,
			   uint64_t bytes, gpumem_stream stream)
{
	struct host_work work = {
		.kind = HOST_WORK_COPY,
		.move = {.to = to, .from = from, .bytes = bytes},
	};

	return submit(handle, GPUMEM_SLOT_copy, stream, &work);
}

bool gm_host_stream_capture(struct host_stream *stream, bool on)
{
	bool changed;

	pthread_mutex_lock(&stream->mutex);
	changed = on == !atomic_load(&stream->capture);
	if (changed && on) {
		atomic_store(&stream->capture,
			     atomic_fetch_add(&captures, 1) + 1);
		atomic_fetch_add(&stream->device->capturing, 1);
	} else if (changed) {
		/* In this order: who sees that the stream is not captured any
		 * more may do at once what a capture forbids. */
		atomic_fetch_sub(&stream->device->capturing, 1);
		atomic_store(&stream->capture, 0);
	}
	pthread_mutex_unlock(&stream->mutex);
	return changed;
}

gpumem_status gm_host_capture_id(void *handle, gpumem_stream name,
				 uint64_t *id_out)
{
	struct host_device *device = handle;
	struct host_stream *stream;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_capture_id);

	if (status != GPUMEM_OK)
		return status;
	stream = gm_host_stream_find(device, name);
	if (!stream)
		return GPUMEM_INVALID;
	*id_out = atomic_load(&stream->capture);
	return GPUMEM_OK;
}

void gm_host_violation(void)
{
	atomic_fetch_add(&violations, 1);
}

void gm_host_free_in_capture(struct host_device *device)
{
	if (!(device->config.caps & GPUMEM_CAP_FREES_IN_CAPTURE) &&
	    atomic_load(&device->capturing))
		gm_host_violation();
}

uint64_t gpumem_host_capture_violations(void)
{
	return atomic_load(&violations);
}
