/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Streams: made, found by their handles, waited for and destroyed. What is
 * queued on them and runs is host_queue.c. One mutex per stream guards its
 * state.
 */
#include "host_device.h"

#include <errno.h>

struct host_stream *gm_host_stream_find(struct host_device *device,
					gpumem_stream handle)
{
	struct host_stream *stream = device->default_stream;

	if (handle)
		stream = gm_host_table_find(&device->streams,
					    (uint64_t)(uintptr_t)handle);
	if (!stream)
		(void)gm_host_fail(GPUMEM_INVALID,
				   "%p is no stream of this device", handle);
	return stream;
}

/* A condition that is waited for by the monotonic clock. */
static void init_timed(pthread_cond_t *condition)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

gpumem_status gm_host_stream_open(struct host_device *device,
				  struct host_stream **stream_out)
{
	struct host_stream *stream = gm_host_table_take(&device->streams);

	if (!stream)
		return gm_host_fail_system(ENOMEM, "memory for a stream");
	if (!atomic_load(&stream->made)) {
		pthread_mutex_init(&stream->mutex, NULL);
		pthread_cond_init(&stream->more, NULL);
		init_timed(&stream->less);
		stream->device = device;
		stream->last = &stream->first;
		atomic_store(&stream->made, true);
	}
	pthread_mutex_lock(&stream->mutex);
	stream->open = true;
	pthread_mutex_unlock(&stream->mutex);
	(void)gm_host_table_publish(&device->streams, stream);
	*stream_out = stream;
	return GPUMEM_OK;
}

void gm_host_stream_free_all(struct host_table *table)
{
	for (uint32_t i = 0; i < table->made; i++) {
		struct host_stream *stream = gm_host_table_at(table, i);

		if (!atomic_load(&stream->made))
			continue;
		pthread_cond_destroy(&stream->less);
		pthread_cond_destroy(&stream->more);
		pthread_mutex_destroy(&stream->mutex);
	}
}

void gm_host_stream_close(struct host_stream *stream)
{
	bool started;

	(void)gm_host_stream_capture(stream, false);
	/* What is queued on a held one is done here. */
	gm_host_stream_step(stream, UINT64_MAX);
	pthread_mutex_lock(&stream->mutex);
	stream->open = false;
	stream->held = false;
	stream->stop = true;
	started = stream->started;
	pthread_cond_signal(&stream->more);
	pthread_mutex_unlock(&stream->mutex);
	if (started)
		pthread_join(stream->thread, NULL);
	pthread_mutex_lock(&stream->mutex);
	stream->started = false;
	stream->stop = false;
	pthread_mutex_unlock(&stream->mutex);
	gm_host_table_give(&stream->device->streams, stream);
}

gpumem_status gm_host_stream_create(void *handle, gpumem_stream *stream_out)
{
	struct host_device *device = handle;
	struct host_stream *stream;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_stream_create);

	if (status == GPUMEM_OK)
		status = gm_host_stream_open(device, &stream);
	if (status != GPUMEM_OK)
		return status;
	*stream_out =
		(gpumem_stream)(uintptr_t)atomic_load(&stream->object.handle);
	return GPUMEM_OK;
}

static bool is_own_thread(struct host_stream *stream)
{
	bool own;

	pthread_mutex_lock(&stream->mutex);
	own = stream->started && pthread_equal(stream->thread, pthread_self());
	pthread_mutex_unlock(&stream->mutex);
	return own;
}

gpumem_status gm_host_stream_destroy(void *handle, gpumem_stream name)
{
	struct host_device *device = handle;
	struct host_stream *stream;
	gpumem_status status =
		gm_host_enter(device, GPUMEM_SLOT_stream_destroy);

	if (status != GPUMEM_OK)
		return status;
	stream = gm_host_stream_find(device, name);
	if (!stream)
		return GPUMEM_INVALID;
	if (!name)
		return gm_host_fail(GPUMEM_INVALID,
				    "the default stream cannot be destroyed");
	if (is_own_thread(stream))
		return gm_host_fail(GPUMEM_INVALID,
				    "a stream cannot destroy itself");
	if (!gm_host_table_retract(stream, (uint64_t)(uintptr_t)name))
		return gm_host_fail(GPUMEM_INVALID, "destroyed already");
	gm_host_stream_close(stream);
	return GPUMEM_OK;
}

gpumem_status gm_host_stream_leave_alone(const struct host_stream *stream)
{
	if (!atomic_load(&stream->capture))
		return GPUMEM_OK;
	gm_host_violation();
	return gm_host_fail(GPUMEM_CAPTURING, "the stream is being captured");
}

gpumem_status gm_host_stream_wait_for(struct host_stream *stream,
				      uint64_t ticket,
				      const struct timespec *until)
{
	gpumem_status status = gm_host_stream_await(stream, ticket, until);

	return status == GPUMEM_LOST ? gm_host_fail_lost(stream->device)
				     : status;
}

gpumem_status gm_host_stream_sync(void *handle, gpumem_stream name)
{
	struct host_device *device = handle;
	struct host_stream *stream;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_stream_sync);

	if (status != GPUMEM_OK)
		return status;
	stream = gm_host_stream_find(device, name);
	if (!stream)
		return GPUMEM_INVALID;
	status = gm_host_stream_leave_alone(stream);
	if (status != GPUMEM_OK)
		return status;
	return gm_host_stream_wait_for(stream, atomic_load(&stream->queued),
				       NULL);
}

gpumem_status gm_host_stream_query(void *handle, gpumem_stream name)
{
	struct host_device *device = handle;
	struct host_stream *stream;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_stream_query);

	if (status != GPUMEM_OK)
		return status;
	stream = gm_host_stream_find(device, name);
	if (!stream)
		return GPUMEM_INVALID;
	if (atomic_load(&stream->capture))
		return gm_host_fail(GPUMEM_CAPTURING,
				    "the stream is being captured");
	if (atomic_load(&stream->done) < atomic_load(&stream->queued))
		return GPUMEM_NOT_READY;
	return GPUMEM_OK;
}
