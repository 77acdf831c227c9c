/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Streams: queues with a thread each, which starts with the first work. One
 * mutex per stream guards its list; whether work is over can be seen without
 * it. A thread that waits for another stream holds no lock of its own.
 */
#include "host_device.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

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

gpumem_status gm_host_stream_open(struct host_device *device,
				  struct host_stream **stream_out)
{
	struct host_stream *stream = gm_host_table_take(&device->streams);

	if (!stream)
		return gm_host_fail_system(ENOMEM, "memory for a stream");
	if (!atomic_load(&stream->made)) {
		pthread_mutex_init(&stream->mutex, NULL);
		pthread_cond_init(&stream->more, NULL);
		pthread_cond_init(&stream->less, NULL);
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

/* The next work, waited for. NULL: the stream stops and has none. The mutex is
 * held. */
static struct host_work *take_work(struct host_stream *stream)
{
	struct host_work *work;

	while (!stream->first && !stream->stop)
		pthread_cond_wait(&stream->more, &stream->mutex);
	work = stream->first;
	if (work) {
		stream->first = work->next;
		if (!stream->first)
			stream->last = &stream->first;
	}
	return work;
}

static void *run(void *arg)
{
	struct host_stream *stream = arg;
	struct host_device *device = stream->device;
	struct host_work *work;

	pthread_mutex_lock(&stream->mutex);
	while ((work = take_work(stream))) {
		pthread_mutex_unlock(&stream->mutex);
		if (!atomic_load(&device->lost))
			gm_host_work_run(device, work);
		free(work);
		pthread_mutex_lock(&stream->mutex);
		atomic_fetch_add_explicit(&stream->done, 1,
					  memory_order_release);
		pthread_cond_broadcast(&stream->less);
	}
	pthread_mutex_unlock(&stream->mutex);
	return NULL;
}

/* The thread takes no signal of the program's, but what it does wrong itself
 * reaches the program's handlers. The mutex is held. */
static gpumem_status start(struct host_stream *stream)
{
	static const int own[] = {SIGSEGV, SIGBUS,  SIGFPE,
				  SIGILL,  SIGTRAP, SIGABRT};
	sigset_t none, before;
	int error;

	if (stream->started)
		return GPUMEM_OK;
	sigfillset(&none);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&none, own[i]);
	pthread_sigmask(SIG_BLOCK, &none, &before);
	error = pthread_create(&stream->thread, NULL, run, stream);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return gm_host_fail_system(error, "a stream's thread");
	stream->started = true;
	return GPUMEM_OK;
}

static gpumem_status queue_locked(struct host_stream *stream,
				  struct host_work *work)
{
	gpumem_status status;

	if (!stream->open)
		return gm_host_fail(GPUMEM_INVALID, "the stream is destroyed");
	status = start(stream);
	if (status != GPUMEM_OK)
		return status;
	work->next = NULL;
	*stream->last = work;
	stream->last = &work->next;
	atomic_fetch_add_explicit(&stream->queued, 1, memory_order_release);
	pthread_cond_signal(&stream->more);
	return GPUMEM_OK;
}

gpumem_status gm_host_stream_queue(struct host_stream *stream,
				   const struct host_work *work)
{
	struct host_work *copy;
	gpumem_status status;

	if (atomic_load(&stream->capture))
		return GPUMEM_OK;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return gm_host_fail_system(ENOMEM, "memory for queued work");
	*copy = *work;
	pthread_mutex_lock(&stream->mutex);
	status = queue_locked(stream, copy);
	pthread_mutex_unlock(&stream->mutex);
	if (status != GPUMEM_OK)
		free(copy);
	return status;
}

gpumem_status gm_host_stream_await(struct host_stream *stream, uint64_t ticket)
{
	_Atomic bool *lost = &stream->device->lost;

	if (atomic_load_explicit(&stream->done, memory_order_acquire) >= ticket)
		return GPUMEM_OK;
	pthread_mutex_lock(&stream->mutex);
	while (atomic_load(&stream->done) < ticket && !atomic_load(lost))
		pthread_cond_wait(&stream->less, &stream->mutex);
	pthread_mutex_unlock(&stream->mutex);
	return atomic_load(lost) ? GPUMEM_LOST : GPUMEM_OK;
}

void gm_host_stream_wake(struct host_stream *stream)
{
	if (!atomic_load(&stream->made))
		return;
	pthread_mutex_lock(&stream->mutex);
	pthread_cond_broadcast(&stream->less);
	pthread_mutex_unlock(&stream->mutex);
}

void gm_host_stream_close(struct host_stream *stream)
{
	bool started;

	(void)gm_host_stream_capture(stream, false);
	pthread_mutex_lock(&stream->mutex);
	stream->open = false;
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
	gpumem_status status = gm_host_enter(device, HOST_SLOT_stream_create);

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
	gpumem_status status = gm_host_enter(device, HOST_SLOT_stream_destroy);

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
				      uint64_t ticket)
{
	gpumem_status status = gm_host_stream_await(stream, ticket);

	return status == GPUMEM_OK
		       ? GPUMEM_OK
		       : gm_host_fail(status, "the simulated device was lost "
					      "meanwhile");
}

gpumem_status gm_host_stream_sync(void *handle, gpumem_stream name)
{
	struct host_device *device = handle;
	struct host_stream *stream;
	gpumem_status status = gm_host_enter(device, HOST_SLOT_stream_sync);

	if (status != GPUMEM_OK)
		return status;
	stream = gm_host_stream_find(device, name);
	if (!stream)
		return GPUMEM_INVALID;
	status = gm_host_stream_leave_alone(stream);
	if (status != GPUMEM_OK)
		return status;
	return gm_host_stream_wait_for(stream, atomic_load(&stream->queued));
}

gpumem_status gm_host_stream_query(void *handle, gpumem_stream name)
{
	struct host_device *device = handle;
	struct host_stream *stream;
	gpumem_status status = gm_host_enter(device, HOST_SLOT_stream_query);

	if (status != GPUMEM_OK)
		return status;
	stream = gm_host_stream_find(device, name);
	if (!stream)
		return GPUMEM_INVALID;
	status = gm_host_stream_leave_alone(stream);
	if (status != GPUMEM_OK)
		return status;
	if (atomic_load(&stream->done) < atomic_load(&stream->queued))
		return GPUMEM_NOT_READY;
	return GPUMEM_OK;
}
