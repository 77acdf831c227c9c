/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Events: a stream and the number of its last item.
 */
#include "cuda_fake.h"

#include <stdlib.h>

static CUresult find(CUevent handle, struct fake_event **event_out)
{
	*event_out = fake_object_find(FAKE_EVENT, handle);
	if (!*event_out)
		return CUDA_ERROR_INVALID_HANDLE;
	return fake_context_may((*event_out)->context)
		       ? (*event_out)->context->lost
		       : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult create(CUevent *event_out, unsigned flags)
{
	struct fake_context *context;
	struct fake_event *event;
	CUresult result = fake_context_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	if (!event_out || flags > 7 ||
	    (flags & CU_EVENT_INTERPROCESS &&
	     !(flags & CU_EVENT_DISABLE_TIMING)))
		return CUDA_ERROR_INVALID_VALUE;
	event = fake_object_new(FAKE_EVENT, sizeof(*event));
	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	event->context = context;
	*event_out = fake_handle_of(event);
	return CUDA_SUCCESS;
}

static CUresult destroy(CUevent handle)
{
	struct fake_event *event = fake_object_find(FAKE_EVENT, handle);

	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!fake_context_may(event->context))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (event->stream)
		fake_stream_put(event->stream);
	fake_object_retire(event);
	free(event);
	return CUDA_SUCCESS;
}

static void stand_for(struct fake_event *event, struct fake_stream *stream)
{
	stream->refs++;
	if (event->stream)
		fake_stream_put(event->stream);
	event->stream = stream;
	event->ticket = stream->queued;
	event->capture_id = stream->capture ? stream->capture->id : 0;
}

static CUresult record(CUevent handle, CUstream stream_handle)
{
	struct fake_work mark = {.kind = FAKE_MARK};
	struct fake_stream *stream;
	struct fake_event *event;
	CUresult result = find(handle, &event);

	if (result == CUDA_SUCCESS)
		result = fake_stream_find(stream_handle, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (event->context != stream->context)
		return CUDA_ERROR_INVALID_HANDLE;
	result = fake_capture_implicit(stream, true);
	if (result == CUDA_SUCCESS)
		result = fake_capture_admit(stream);
	if (result == CUDA_SUCCESS && !stream->capture)
		result = fake_queue_push(stream, &mark);
	if (result == CUDA_SUCCESS)
		stand_for(event, stream);
	return result;
}

/* Seen: 907 while that capture goes on, which is no good any more then; 1
 * after it; and asking is unsafe while others are captured, even of an event
 * that has nothing to do with them. */
static CUresult find_to_ask(CUevent handle, struct fake_event **event_out)
{
	CUresult result = find(handle, event_out);
	struct fake_capture *capture;

	if (result != CUDA_SUCCESS)
		return result;
	if ((*event_out)->capture_id) {
		capture = fake_capture_find((*event_out)->capture_id);
		if (!capture)
			return CUDA_ERROR_INVALID_VALUE;
		capture->invalid = true;
		return CUDA_ERROR_CAPTURED_EVENT;
	}
	return fake_capture_unsafe();
}

static CUresult query(CUevent handle)
{
	struct fake_event *event;
	CUresult result = find_to_ask(handle, &event);

	if (result != CUDA_SUCCESS || !event->stream)
		return result;
	return event->stream->done >= event->ticket ? CUDA_SUCCESS
						    : CUDA_ERROR_NOT_READY;
}

static CUresult synchronize(CUevent handle)
{
	struct fake_event *event;
	CUresult result = find_to_ask(handle, &event);

	if (result != CUDA_SUCCESS || !event->stream)
		return result;
	return fake_queue_await(event->stream, event->ticket);
}

static CUresult wait(CUstream handle, CUevent event_handle, unsigned flags)
{
	struct fake_work work = {.kind = FAKE_WAIT};
	struct fake_stream *stream;
	struct fake_event *event;
	CUresult result = fake_stream_find(handle, &stream);

	if (result == CUDA_SUCCESS)
		result = find(event_handle, &event);
	if (result != CUDA_SUCCESS)
		return result;
	if (flags == CU_EVENT_WAIT_EXTERNAL && !stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE; /* seen */
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	result = fake_capture_implicit(stream, true);
	if (result == CUDA_SUCCESS)
		result = fake_capture_wait(stream, event);
	if (result != CUDA_SUCCESS || stream->capture || !event->stream ||
	    event->stream == stream || event->stream->done >= event->ticket)
		return result;
	work.stream = event->stream;
	work.ticket = event->ticket;
	return fake_queue_push(stream, &work);
}

CUresult cuEventCreate(CUevent *event_out, unsigned flags)
{
	FAKE_CALL(cuEventCreate, create(event_out, flags));
}

CUresult cuEventDestroy_v2(CUevent event)
{
	FAKE_CALL(cuEventDestroy_v2, destroy(event));
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	FAKE_CALL(cuEventRecord, record(event, stream));
}

CUresult cuEventQuery(CUevent event)
{
	FAKE_CALL(cuEventQuery, query(event));
}

CUresult cuEventSynchronize(CUevent event)
{
	FAKE_CALL(cuEventSynchronize, synchronize(event));
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
	FAKE_CALL(cuStreamWaitEvent, wait(stream, event, flags));
}
