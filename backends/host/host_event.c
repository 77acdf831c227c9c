/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Events: the number of the last work that was queued on a stream, packed into
 * one word so that asking and recording need no lock. Slot 0 of the streams is
 * the default stream's, so an event that was never recorded, all zero, is
 * over.
 *
 *     word = number << 20 | slot of the stream
 */
#include "host_device.h"

#include <errno.h>
#include <time.h>

struct host_event {
	struct host_object object;
	_Atomic uint64_t word;
};

const size_t gm_host_event_bytes = sizeof(struct host_event);

static struct host_event *find_event(struct host_device *device, void *handle)
{
	struct host_event *event = gm_host_table_find(
		&device->events, (uint64_t)(uintptr_t)handle);

	if (!event)
		(void)gm_host_fail(GPUMEM_INVALID,
				   "%p is no event of this device", handle);
	return event;
}

/* What the event stands for at this instant. */
static struct host_stream *read_event(struct host_device *device,
				      struct host_event *event,
				      uint64_t *ticket_out)
{
	uint64_t word =
		atomic_load_explicit(&event->word, memory_order_acquire);

	*ticket_out = word >> HOST_SLOT_BITS;
	return gm_host_table_at(&device->streams,
				(uint32_t)word & ((1u << HOST_SLOT_BITS) - 1));
}

gpumem_status gm_host_event_create(void *handle, void **event_out)
{
	struct host_device *device = handle;
	struct host_event *event;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_event_create);

	if (status != GPUMEM_OK)
		return status;
	event = gm_host_table_take(&device->events);
	if (!event)
		return gm_host_fail_system(ENOMEM, "memory for an event");
	atomic_store_explicit(&event->word, 0, memory_order_relaxed);
	*event_out = (void *)(uintptr_t)gm_host_table_publish(&device->events,
							      event);
	return GPUMEM_OK;
}

gpumem_status gm_host_event_destroy(void *handle, void *name)
{
	struct host_device *device = handle;
	struct host_event *event;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_event_destroy);

	if (status != GPUMEM_OK)
		return status;
	event = find_event(device, name);
	if (!event)
		return GPUMEM_INVALID;
	if (!gm_host_table_retract(event, (uint64_t)(uintptr_t)name))
		return gm_host_fail(GPUMEM_INVALID, "destroyed already");
	gm_host_table_give(&device->events, event);
	return GPUMEM_OK;
}

gpumem_status gm_host_event_record(void *handle, void *name,
				   gpumem_stream stream_name)
{
	struct host_device *device = handle;
	struct host_stream *stream;
	struct host_event *event;
	uint64_t queued;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_event_record);

	if (status != GPUMEM_OK)
		return status;
	event = find_event(device, name);
	if (!event)
		return GPUMEM_INVALID;
	stream = gm_host_stream_find(device, stream_name);
	if (!stream)
		return GPUMEM_INVALID;
	status = gm_host_stream_leave_alone(stream);
	if (status != GPUMEM_OK)
		return status;
	queued = atomic_load_explicit(&stream->queued, memory_order_acquire);
	atomic_store_explicit(&event->word,
			      queued << HOST_SLOT_BITS | stream->object.slot,
			      memory_order_release);
	return GPUMEM_OK;
}

gpumem_status gm_host_event_query(void *handle, void *name)
{
	struct host_device *device = handle;
	struct host_stream *stream;
	struct host_event *event;
	uint64_t ticket;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_event_query);

	if (status != GPUMEM_OK)
		return status;
	event = find_event(device, name);
	if (!event)
		return GPUMEM_INVALID;
	stream = read_event(device, event, &ticket);
	if (atomic_load_explicit(&stream->done, memory_order_acquire) < ticket)
		return GPUMEM_NOT_READY;
	return GPUMEM_OK;
}

static gpumem_status await(void *handle, void *name, enum gpumem_slot slot,
			   const struct timespec *until)
{
	struct host_device *device = handle;
	struct host_stream *stream;
	struct host_event *event;
	uint64_t ticket;
	gpumem_status status = gm_host_enter(device, slot);

	if (status != GPUMEM_OK)
		return status;
	event = find_event(device, name);
	if (!event)
		return GPUMEM_INVALID;
	stream = read_event(device, event, &ticket);
	return gm_host_stream_wait_for(stream, ticket, until);
}

gpumem_status gm_host_event_sync(void *device, void *event)
{
	return await(device, event, GPUMEM_SLOT_event_sync, NULL);
}

gpumem_status gm_host_event_wait(void *device, void *event, uint64_t ns)
{
	enum { SECOND = 1000000000 };
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / SECOND);
	until.tv_nsec = (long)(ns % SECOND);
	return await(device, event, GPUMEM_SLOT_event_wait, &until);
}

gpumem_status gm_host_stream_wait(void *handle, gpumem_stream name,
				  void *event_name)
{
	struct host_device *device = handle;
	struct host_work work = {.kind = HOST_WORK_WAIT};
	struct host_stream *stream;
	struct host_event *event;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_stream_wait);

	if (status != GPUMEM_OK)
		return status;
	stream = gm_host_stream_find(device, name);
	if (!stream)
		return GPUMEM_INVALID;
	event = find_event(device, event_name);
	if (!event)
		return GPUMEM_INVALID;
	status = gm_host_stream_leave_alone(stream);
	if (status != GPUMEM_OK)
		return status;
	work.wait.stream = read_event(device, event, &work.wait.ticket);
	/* What is over, or comes before in the same queue, needs no waiting. */
	if (work.wait.stream == stream ||
	    atomic_load_explicit(&work.wait.stream->done,
				 memory_order_acquire) >= work.wait.ticket)
		return GPUMEM_OK;
	return gm_host_stream_queue(stream, &work);
}

/* The vendor's events are these, by their handles. */
gpumem_status gm_host_event_import(void *handle, void *native, void **event_out)
{
	struct host_device *device = handle;
	struct host_event *theirs, *event;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_event_import);

	if (status != GPUMEM_OK)
		return status;
	theirs = find_event(device, native);
	if (!theirs)
		return GPUMEM_INVALID;
	event = gm_host_table_take(&device->events);
	if (!event)
		return gm_host_fail_system(ENOMEM, "memory for an event");
	atomic_store_explicit(&event->word, atomic_load(&theirs->word),
			      memory_order_release);
	*event_out = (void *)(uintptr_t)gm_host_table_publish(&device->events,
							      event);
	return GPUMEM_OK;
}

gpumem_status gm_host_event_native(void *handle, void *name, void **native_out)
{
	struct host_device *device = handle;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_event_native);

	if (status != GPUMEM_OK)
		return status;
	if (!find_event(device, name))
		return GPUMEM_INVALID;
	*native_out = name;
	return GPUMEM_OK;
}
