/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stream capture: who is captured, and what that forbids to whom. Potentially
 * unsafe are (all seen) cuMemAlloc, cuMemFree, cuMemAllocManaged, pinning and
 * unpinning, and asking or awaiting any stream or event; the calls for virtual
 * memory, cuMemGetInfo, and making, recording and destroying are not. A call
 * that is refused makes the captures that stood against it invalid.
 */
#include "cuda_graph.h"

#include <stdlib.h>

struct fake_capture *fake_captures;

static _Thread_local CUstreamCaptureMode thread_mode =
	CU_STREAM_CAPTURE_MODE_GLOBAL;

struct fake_capture *fake_capture_find(uint64_t id)
{
	struct fake_capture *capture = fake_captures;

	while (capture && capture->id != id)
		capture = capture->next;
	return capture;
}

static bool forbids(const struct fake_capture *capture)
{
	if (pthread_equal(capture->owner, pthread_self()))
		return capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
		       thread_mode != CU_STREAM_CAPTURE_MODE_RELAXED;
	return capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
	       thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult fake_capture_unsafe(void)
{
	CUresult result = CUDA_SUCCESS;

	for (struct fake_capture *c = fake_captures; c; c = c->next) {
		if (!forbids(c))
			continue;
		c->invalid = true;
		result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	return result;
}

CUresult fake_capture_implicit(const struct fake_stream *stream, bool use)
{
	CUresult result = CUDA_SUCCESS;

	for (struct fake_stream *s = fake_streams; stream->legacy && s;
	     s = s->next) {
		if (!s->capture || !s->blocking ||
		    s->context != stream->context)
			continue;
		if (use)
			s->capture->invalid = true;
		result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	return result;
}

CUresult fake_capture_admit(const struct fake_stream *stream)
{
	return stream->capture && stream->capture->invalid
		       ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
		       : CUDA_SUCCESS;
}

/* A captured stream waits for something that is not of its capture. */
static CUresult wait_outside(struct fake_stream *stream,
			     const struct fake_event *event,
			     struct fake_capture *other)
{
	if (!other && !event->stream)
		return CUDA_SUCCESS; /* never recorded: no work */
	stream->capture->invalid = true;
	if (!other)
		return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
	other->invalid = true;
	return CUDA_ERROR_STREAM_CAPTURE_MERGE;
}

/* By waiting for an event of a capture a stream joins that capture. */
CUresult fake_capture_wait(struct fake_stream *stream,
			   const struct fake_event *event)
{
	struct fake_capture *capture = fake_capture_find(event->capture_id);
	CUresult result = fake_capture_admit(stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (event->capture_id && !capture)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->capture != capture && stream->capture)
		return wait_outside(stream, event, capture);
	if (!capture)
		return CUDA_SUCCESS;
	if (capture->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (stream->legacy) {
		capture->invalid = true;
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	stream->capture = capture;
	event->stream->unjoined = false;
	return CUDA_SUCCESS;
}

static void end_capture(struct fake_capture *capture)
{
	struct fake_capture **link = &fake_captures;

	for (struct fake_stream *s = fake_streams; s; s = s->next) {
		if (s->capture != capture)
			continue;
		s->capture = NULL;
		s->unjoined = false;
	}
	while (*link != capture)
		link = &(*link)->next;
	*link = capture->next;
	fake_nodes_disown(capture);
	free(capture);
}

void fake_capture_forget(struct fake_stream *stream)
{
	if (!stream->capture)
		return;
	if (stream->capture->origin == stream) {
		end_capture(stream->capture);
		return;
	}
	stream->capture->invalid = true;
	stream->capture = NULL;
}

static CUresult begin(CUstream handle, CUstreamCaptureMode mode)
{
	static uint64_t last_id;
	struct fake_capture *capture;
	struct fake_stream *stream;
	CUresult result = fake_stream_find(handle, &stream);

	if (result == CUDA_SUCCESS)
		result = fake_capture_implicit(stream, true);
	if (result != CUDA_SUCCESS)
		return result;
	if (stream->legacy)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	capture = calloc(1, sizeof(*capture));
	if (!capture)
		return CUDA_ERROR_OUT_OF_MEMORY;
	capture->id = ++last_id;
	capture->mode = mode;
	capture->owner = pthread_self();
	capture->origin = stream;
	capture->next = fake_captures;
	fake_captures = capture;
	stream->capture = capture;
	return CUDA_SUCCESS;
}

static CUresult verdict(const struct fake_capture *capture)
{
	if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
	    !pthread_equal(capture->owner, pthread_self()))
		return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	if (capture->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	for (const struct fake_stream *s = fake_streams; s; s = s->next)
		if (s->capture == capture && s->unjoined)
			return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	return CUDA_SUCCESS;
}

/* Of a graph that allocates: whether it is the same again is not looked at. */
static CUresult begin_again(CUstream handle, CUstreamCaptureMode mode,
			    CUgraph again)
{
	struct fake_graph *graph = fake_object_find(FAKE_GRAPH, again);
	struct fake_stream *stream;
	CUresult result;

	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	if (fake_node_next(NULL, graph))
		return CUDA_ERROR_NOT_SUPPORTED;
	result = begin(handle, mode);
	if (result == CUDA_SUCCESS) {
		(void)fake_stream_find(handle, &stream);
		stream->capture->again = again;
	}
	return result;
}

/* Seen: from the wrong thread, too, it is over. */
static CUresult end(CUstream handle, CUgraph *graph_out)
{
	struct fake_graph *graph = NULL;
	struct fake_stream *stream;
	CUresult result = fake_stream_find(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!graph_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (stream->capture->origin != stream)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	result = verdict(stream->capture);
	if (result == CUDA_SUCCESS && stream->capture->again)
		graph = fake_object_find(FAKE_GRAPH, stream->capture->again);
	else if (result == CUDA_SUCCESS)
		graph = fake_graph_new(stream->capture);
	end_capture(stream->capture);
	*graph_out = graph ? fake_handle_of(graph) : NULL;
	return result == CUDA_SUCCESS && !graph ? CUDA_ERROR_OUT_OF_MEMORY
						: result;
}

/* Of the legacy stream this too is 906, but harms no capture (seen). The
 * number is written only while all is well. */
static CUresult info(CUstream handle, CUstreamCaptureStatus *status_out,
		     cuuint64_t *id_out)
{
	struct fake_stream *stream;
	CUresult result = fake_stream_find(handle, &stream);

	if (result == CUDA_SUCCESS)
		result = fake_capture_implicit(stream, false);
	if (result != CUDA_SUCCESS)
		return result;
	if (!status_out)
		return CUDA_ERROR_INVALID_VALUE;
	*status_out = CU_STREAM_CAPTURE_STATUS_NONE;
	if (!stream->capture)
		return CUDA_SUCCESS;
	*status_out = stream->capture->invalid
			      ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
			      : CU_STREAM_CAPTURE_STATUS_ACTIVE;
	if (id_out && !stream->capture->invalid)
		*id_out = stream->capture->id;
	return CUDA_SUCCESS;
}

static CUresult exchange(CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode before = thread_mode;

	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	/* The driver refuses no number; what it does with others is not known.
	 */
	if ((unsigned)*mode <= CU_STREAM_CAPTURE_MODE_RELAXED)
		thread_mode = *mode;
	*mode = before;
	return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
	FAKE_CALL(cuStreamBeginCapture_v2, begin(stream, mode));
}

CUresult cuStreamBeginRecaptureToGraph(CUstream stream,
				       CUstreamCaptureMode mode, CUgraph graph,
				       CUgraphRecaptureCallback callback,
				       void *context)
{
	(void)callback;
	(void)context;
	FAKE_CALL(cuStreamBeginRecaptureToGraph,
		  begin_again(stream, mode, graph));
}

/* No context of the double is one for graphics. */
CUresult cuStreamBeginCaptureToCig(CUstream stream,
				   CUstreamCigCaptureParams *params)
{
	(void)stream;
	(void)params;
	FAKE_CALL(cuStreamBeginCaptureToCig, CUDA_ERROR_INVALID_CONTEXT);
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph_out)
{
	FAKE_CALL(cuStreamEndCapture, end(stream, graph_out));
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status_out)
{
	FAKE_CALL(cuStreamIsCapturing, info(stream, status_out, NULL));
}

CUresult cuStreamGetCaptureInfo(CUstream stream,
				CUstreamCaptureStatus *status_out,
				cuuint64_t *id_out)
{
	FAKE_CALL(cuStreamGetCaptureInfo, info(stream, status_out, id_out));
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	FAKE_CALL(cuThreadExchangeStreamCaptureMode, exchange(mode));
}
