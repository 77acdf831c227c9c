/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Queues of work and who runs them: the thread that queues, at once; or the
 * one that waits, while queues are stepped by hand; or a thread for each. The
 * bytes are moved under the mutex, so memory that is unmapped too early is
 * found and never read.
 */
#include "cuda_fake.h"

#include <stdlib.h>

static bool over(const struct fake_stream *stream, uint64_t ticket)
{
	return stream->done >= ticket;
}

static bool can_run(const struct fake_stream *stream)
{
	const struct fake_work *work = stream->first;

	return work && !stream->running &&
	       (work->kind != FAKE_WAIT || over(work->stream, work->ticket));
}

static void run_host_function(const struct fake_work *work)
{
	fake_unlock();
	fake_in_host_function = true;
	work->function(work->argument);
	fake_in_host_function = false;
	fake_lock();
}

/* Memory that went since this was queued is the kernel's illegal access. */
static void move(struct fake_context *context, const struct fake_work *work)
{
	bool copy = work->kind == FAKE_COPY;
	void *to = (void *)(uintptr_t)work->to;

	if (!fake_may_write(context, work->to, work->bytes, copy) ||
	    (copy && !fake_may_read(context, work->from, work->bytes)))
		fake_context_lose(context, CUDA_ERROR_ILLEGAL_ADDRESS);
	else if (copy)
		memmove(to, (const void *)(uintptr_t)work->from, work->bytes);
	else
		memset(to, work->value, work->bytes);
}

static void release_work(struct fake_work *work)
{
	if (work->stream)
		fake_stream_put(work->stream);
	free(work);
}

static struct fake_work *take(struct fake_stream *stream)
{
	struct fake_work *work = stream->first;

	stream->first = work->next;
	if (!stream->first)
		stream->last = &stream->first;
	return work;
}

static void run_one(struct fake_stream *stream)
{
	struct fake_work *work = take(stream);

	stream->running = true;
	/* Nothing of a lost context runs, host functions included. */
	if (stream->context->lost == CUDA_SUCCESS) {
		if (work->kind == FAKE_HOST_FUNCTION)
			run_host_function(work);
		else if (work->kind == FAKE_FREE)
			fake_free_run(work);
		else if (work->kind == FAKE_FILL || work->kind == FAKE_COPY)
			move(stream->context, work);
	}
	stream->running = false;
	stream->done++;
	pthread_cond_broadcast(&fake.changed);
	release_work(work);
	fake_stream_put(stream); /* the item's */
}

unsigned fake_queue_run(struct fake_stream *stream, uint64_t count)
{
	unsigned ran = 0;

	stream->refs++;
	for (; ran < count && can_run(stream); ran++)
		run_one(stream);
	fake_stream_put(stream);
	return ran;
}

void fake_queue_run_all(void)
{
	bool moved;

	do {
		moved = false;
		for (struct fake_stream *s = fake_streams, *next; s; s = next) {
			/* Its turn may end with it, so that the list is begun
			 * again then. */
			next = s->next;
			if (!can_run(s))
				continue;
			fake_queue_run(s, UINT64_MAX);
			moved = true;
			break;
		}
	} while (moved);
}

static bool worker_may_run(const struct fake_stream *stream)
{
	return !fake.stepping && can_run(stream);
}

static void *worker(void *arg)
{
	struct fake_stream *stream = arg;

	fake_lock();
	while (stream->context && !fake.shut_down &&
	       (stream->object.handle || stream->first)) {
		if (worker_may_run(stream))
			fake_queue_run(stream, 1);
		else
			fake_wait(&fake.changed);
	}
	stream->thread_started = false;
	fake_stream_put(stream);
	fake_unlock();
	return NULL;
}

static void start_worker(struct fake_stream *stream)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (!pthread_create(&thread, &attributes, worker, stream)) {
		stream->thread_started = true;
		stream->refs++;
	}
	pthread_attr_destroy(&attributes);
}

static bool append(struct fake_stream *stream, const struct fake_work *work)
{
	struct fake_work *copy = malloc(sizeof(*copy));

	if (!copy)
		return false;
	*copy = *work;
	copy->next = NULL;
	if (copy->stream)
		copy->stream->refs++;
	*stream->last = copy;
	stream->last = &copy->next;
	stream->refs++;
	stream->queued++;
	return true;
}

/* `stream` waits for what is in `other` now. */
static bool append_wait(struct fake_stream *stream, struct fake_stream *other)
{
	struct fake_work wait = {
		.kind = FAKE_WAIT,
		.stream = other,
		.ticket = other->queued,
	};

	return over(other, other->queued) || append(stream, &wait);
}

/* Work of the legacy stream waits for all blocking streams of its context, and
 * theirs for it. */
static bool append_implicit(struct fake_stream *stream)
{
	struct fake_stream *legacy = stream->context->legacy;

	if (stream->blocking && legacy)
		return append_wait(stream, legacy);
	if (!stream->legacy)
		return true;
	for (struct fake_stream *s = fake_streams; s; s = s->next)
		if (s->blocking && s->context == stream->context &&
		    !append_wait(stream, s))
			return false;
	return true;
}

CUresult fake_queue_push(struct fake_stream *stream,
			 const struct fake_work *work)
{
	if (!append_implicit(stream) || !append(stream, work))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (fake.async && !stream->thread_started)
		start_worker(stream);
	pthread_cond_broadcast(&fake.changed);
	if (!fake.async && !fake.stepping)
		fake_queue_run_all();
	return CUDA_SUCCESS;
}

/* One step towards the end of the stream; false: another stream must move
 * first. */
static bool drive(struct fake_stream *stream)
{
	if (fake.async && !fake.stepping)
		return false;
	while (stream->first && !stream->running && !can_run(stream))
		stream = stream->first->stream;
	return fake_queue_run(stream, 1) != 0;
}

static CUresult wait_for(struct fake_stream *stream, uint64_t ticket)
{
	CUresult result = CUDA_SUCCESS;

	stream->refs++;
	while (!over(stream, ticket) && stream->context &&
	       !stream->context->lost)
		if (!drive(stream))
			fake_wait(&fake.changed);
	if (!stream->context)
		result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
	else
		result = stream->context->lost;
	fake_stream_put(stream);
	return result;
}

CUresult fake_queue_await(struct fake_stream *stream, uint64_t ticket)
{
	CUresult result = CUDA_SUCCESS;

	if (!over(stream, ticket)) {
		fake.waits++;
		result = wait_for(stream, ticket);
	}
	fake_pool_settle();
	return result;
}

CUresult fake_queue_await_device(int device)
{
	bool counted = false;

	for (struct fake_stream *s = fake_streams; s;) {
		if (!s->context || s->context->device != device ||
		    s->context->lost || over(s, s->queued)) {
			s = s->next;
			continue;
		}
		fake.waits += !counted;
		counted = true;
		(void)wait_for(s, s->queued);
		s = fake_streams; /* it may have changed meanwhile */
	}
	fake_pool_settle();
	return CUDA_SUCCESS;
}
