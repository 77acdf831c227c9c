/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What is queued on a stream, and the thread that does it, which starts with
 * the first work. The stream's mutex guards the list; whether work is over can
 * be seen without it. A thread that waits for another stream holds no lock of
 * its own. While a stream is held its work is done by those who wait for it.
 */
#include "host_device.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

/* As a real device that is told to use what is no memory: nothing of what it
 * did afterwards could be relied on. */
static void lose(struct host_device *device, const struct host_work *work)
{
	atomic_store(&device->bad_address, work->move.to);
	gm_host_lose(device);
}

/* Does the oldest work, which is there; no other is being done. The mutex is
 * held, but not meanwhile. */
static void do_oldest(struct host_stream *stream)
{
	struct host_device *device = stream->device;
	struct host_work *work = stream->first;

	stream->first = work->next;
	if (!stream->first)
		stream->last = &stream->first;
	stream->running = true;
	pthread_mutex_unlock(&stream->mutex);
	if (!atomic_load(&device->lost) &&
	    gm_host_work_run(device, work) != GPUMEM_OK)
		lose(device, work);
	free(work);
	pthread_mutex_lock(&stream->mutex);
	stream->running = false;
	atomic_fetch_add_explicit(&stream->done, 1, memory_order_release);
	pthread_cond_broadcast(&stream->less);
	/* If it was let go meanwhile, its thread looked and slept again. */
	pthread_cond_signal(&stream->more);
}

/* For the thread. */
static bool has_work(const struct host_stream *stream)
{
	return stream->first && !stream->held && !stream->running;
}

static void *run(void *arg)
{
	struct host_stream *stream = arg;

	pthread_mutex_lock(&stream->mutex);
	while (has_work(stream) || !stream->stop) {
		if (has_work(stream))
			do_oldest(stream);
		else
			pthread_cond_wait(&stream->more, &stream->mutex);
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
	status = stream->held ? GPUMEM_OK : start(stream);
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

/* One step for a thread that needs work to be over: does some of a held stream,
 * or waits, if there is a time until then only. False: it has come. The mutex
 * is held. */
static bool help_or_wait(struct host_stream *stream,
			 const struct timespec *until)
{
	if (stream->held && stream->first && !stream->running) {
		do_oldest(stream);
		return true;
	}
	if (until)
		return pthread_cond_timedwait(&stream->less, &stream->mutex,
					      until) != ETIMEDOUT;
	pthread_cond_wait(&stream->less, &stream->mutex);
	return true;
}

gpumem_status gm_host_stream_await(struct host_stream *stream, uint64_t ticket,
				   const struct timespec *until)
{
	_Atomic bool *lost = &stream->device->lost;
	bool done;

	if (atomic_load_explicit(&stream->done, memory_order_acquire) >= ticket)
		return GPUMEM_OK;
	pthread_mutex_lock(&stream->mutex);
	while (atomic_load(&stream->done) < ticket && !atomic_load(lost))
		if (!help_or_wait(stream, until))
			break;
	done = atomic_load(&stream->done) >= ticket;
	pthread_mutex_unlock(&stream->mutex);
	if (atomic_load(lost))
		return GPUMEM_LOST;
	return done ? GPUMEM_OK : GPUMEM_NOT_READY;
}

gpumem_status gm_host_stream_hold(struct host_stream *stream, bool on)
{
	gpumem_status status = GPUMEM_OK;

	pthread_mutex_lock(&stream->mutex);
	if (!on && stream->first)
		status = start(stream);
	if (status == GPUMEM_OK)
		stream->held = on;
	/* Either may have to do what the other did until now. */
	pthread_cond_broadcast(&stream->more);
	pthread_cond_broadcast(&stream->less);
	pthread_mutex_unlock(&stream->mutex);
	return status;
}

void gm_host_stream_step(struct host_stream *stream, uint64_t ticket)
{
	pthread_mutex_lock(&stream->mutex);
	while (stream->held && (stream->first || stream->running) &&
	       atomic_load(&stream->done) < ticket)
		(void)help_or_wait(stream, NULL);
	pthread_mutex_unlock(&stream->mutex);
}

void gm_host_stream_wake(struct host_stream *stream)
{
	if (!atomic_load(&stream->made))
		return;
	pthread_mutex_lock(&stream->mutex);
	pthread_cond_broadcast(&stream->less);
	pthread_mutex_unlock(&stream->mutex);
}
