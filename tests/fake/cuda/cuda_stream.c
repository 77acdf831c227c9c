/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Streams. One that is destroyed lives on until its work is over. The stream
 * per thread (2) is one for all threads of a context here.
 */
#include "cuda_fake.h"

#include <stdlib.h>

struct fake_stream *fake_streams;

struct fake_stream *fake_stream_new(struct fake_context *context, bool blocking,
				    bool legacy)
{
	struct fake_stream *stream =
		fake_object_new(FAKE_STREAM, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->context = context;
	stream->blocking = blocking;
	stream->legacy = legacy;
	stream->refs = 1;
	stream->last = &stream->first;
	stream->next = fake_streams;
	fake_streams = stream;
	return stream;
}

void fake_stream_put(struct fake_stream *stream)
{
	struct fake_stream **link = &fake_streams;

	if (--stream->refs)
		return;
	while (*link != stream)
		link = &(*link)->next;
	*link = stream->next;
	free(stream);
}

static void drop_queue(struct fake_stream *stream)
{
	struct fake_work *work = stream->first;

	stream->first = NULL;
	stream->last = &stream->first;
	stream->done = stream->queued - stream->running;
	while (work) {
		struct fake_work *next = work->next;

		if (work->stream)
			fake_stream_put(work->stream);
		free(work);
		fake_stream_put(stream);
		work = next;
	}
}

void fake_stream_orphan(struct fake_stream *stream)
{
	bool had_handle = stream->object.handle;

	stream->refs++;
	fake_capture_forget(stream);
	drop_queue(stream);
	stream->context = NULL;
	fake_object_retire(stream);
	stream->refs -= had_handle;
	fake_stream_put(stream);
}

static CUresult special(struct fake_stream **place,
			struct fake_context *context, bool legacy,
			struct fake_stream **stream_out)
{
	if (!*place)
		*place = fake_stream_new(context, !legacy, legacy);
	*stream_out = *place;
	return *place ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fake_stream_find(CUstream handle, struct fake_stream **stream_out)
{
	struct fake_context *context;
	CUresult result;

	if ((uintptr_t)handle > 2) {
		*stream_out = fake_object_find(FAKE_STREAM, handle);
		if (!*stream_out)
			return CUDA_ERROR_INVALID_HANDLE;
		return fake_context_may((*stream_out)->context)
			       ? (*stream_out)->context->lost
			       : CUDA_ERROR_INVALID_CONTEXT;
	}
	result = fake_context_current(&context);
	if (result != CUDA_SUCCESS)
		return result;
	if (handle == CU_STREAM_PER_THREAD)
		return special(&context->per_thread, context, false,
			       stream_out);
	return special(&context->legacy, context, true, stream_out);
}

static CUresult create(CUstream *stream_out, unsigned flags)
{
	struct fake_context *context;
	struct fake_stream *stream;
	CUresult result = fake_context_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!stream_out || flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	stream = fake_stream_new(context, !flags, false);
	if (!stream)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*stream_out = fake_handle_of(stream);
	return CUDA_SUCCESS;
}

/* Does not wait. A capture ends with it. */
static CUresult destroy(CUstream handle)
{
	struct fake_stream *stream = fake_object_find(FAKE_STREAM, handle);

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!fake_context_may(stream->context))
		return CUDA_ERROR_INVALID_CONTEXT;
	fake_capture_forget(stream);
	fake_object_retire(stream);
	pthread_cond_broadcast(&fake.changed);
	fake_stream_put(stream);
	return CUDA_SUCCESS;
}

/* Query and synchronise are refused alike (seen): 906 of the legacy stream
 * that would wait for a capture, 900 of a captured stream, which also ends the
 * capture's good, and 900 of any stream while unsafe calls are forbidden. */
static CUresult find_to_ask(CUstream handle, struct fake_stream **stream_out)
{
	CUresult result = fake_stream_find(handle, stream_out);

	if (result == CUDA_SUCCESS)
		result = fake_capture_implicit(*stream_out, true);
	if (result != CUDA_SUCCESS)
		return result;
	if ((*stream_out)->capture) {
		(*stream_out)->capture->invalid = true;
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	return fake_capture_unsafe();
}

/* The legacy stream stands for all blocking ones too. */
static bool concerns(const struct fake_stream *asked,
		     const struct fake_stream *other)
{
	return asked == other || (asked->legacy && other->blocking &&
				  other->context == asked->context);
}

static struct fake_stream *unfinished(const struct fake_stream *stream)
{
	for (struct fake_stream *s = fake_streams; s; s = s->next)
		if (concerns(stream, s) && s->done < s->queued)
			return s;
	return NULL;
}

static CUresult query(CUstream handle)
{
	struct fake_stream *stream;
	CUresult result = find_to_ask(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	return unfinished(stream) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult synchronize(CUstream handle)
{
	struct fake_stream *stream, *busy;
	CUresult result = find_to_ask(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!stream->legacy)
		return fake_queue_await(stream, stream->queued);
	stream->refs++;
	while (result == CUDA_SUCCESS && stream->context &&
	       (busy = unfinished(stream)) != NULL)
		result = fake_queue_await(busy, busy->queued);
	fake_stream_put(stream);
	return result;
}

static CUresult get_context(CUstream handle, CUcontext *context_out)
{
	struct fake_stream *stream;
	CUresult result = fake_stream_find(handle, &stream);

	if (result == CUDA_SUCCESS)
		result = fake_capture_admit(stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!context_out)
		return CUDA_ERROR_INVALID_VALUE;
	*context_out = fake_handle_of(stream->context);
	return CUDA_SUCCESS;
}

static CUresult get_flags(CUstream handle, unsigned *flags_out)
{
	struct fake_stream *stream;
	CUresult result = fake_stream_find(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!flags_out)
		return CUDA_ERROR_INVALID_VALUE;
	*flags_out = stream->blocking || stream->legacy
			     ? CU_STREAM_DEFAULT
			     : CU_STREAM_NON_BLOCKING;
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream_out, unsigned flags)
{
	FAKE_CALL(cuStreamCreate, create(stream_out, flags));
}

/* Priorities make no difference here. */
CUresult cuStreamCreateWithPriority(CUstream *stream_out, unsigned flags,
				    int priority)
{
	(void)priority;
	FAKE_CALL(cuStreamCreateWithPriority, create(stream_out, flags));
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
	FAKE_CALL(cuStreamDestroy_v2, destroy(stream));
}

CUresult cuStreamQuery(CUstream stream)
{
	FAKE_CALL(cuStreamQuery, query(stream));
}

CUresult cuStreamSynchronize(CUstream stream)
{
	FAKE_CALL(cuStreamSynchronize, synchronize(stream));
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context_out)
{
	FAKE_CALL(cuStreamGetCtx, get_context(stream, context_out));
}

CUresult cuStreamGetFlags(CUstream stream, unsigned *flags_out)
{
	FAKE_CALL(cuStreamGetFlags, get_flags(stream, flags_out));
}
