/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Streams of the runtime hip_below, and their capture into graphs
 * (hip_below_graph.c). Any number is a stream, too, which is not captured. One
 * thread, so no lock.
 */
#include "hip_below_graph.h"

enum { STREAMS = 16, ACTIVE = 1, IMPLICIT = 906 };

static struct stream {
	int device;
	struct graph *graph;
} streams[STREAMS];
static int count, captures;

static struct stream *stream_of(void *handle)
{
	for (int i = 0; i < count; i++)
		if (handle == &streams[i])
			return handle;
	return NULL;
}

struct graph *capture_of(void *stream)
{
	return stream_of(stream) ? stream_of(stream)->graph : NULL;
}

int hipStreamCreateWithFlags(void **out, unsigned flags)
{
	streams[count] = (struct stream){.device = current};
	*out = &streams[count++];
	return leave(OK);
}

int hipStreamBeginCapture(void *handle, int mode)
{
	struct stream *stream = stream_of(handle);

	if (!stream || stream->graph)
		return leave(INVALID);
	stream->graph = new_graph(stream->device);
	captures++;
	return leave(OK);
}

int hipStreamEndCapture(void *handle, struct graph **out)
{
	struct stream *stream = stream_of(handle);

	if (!stream || !stream->graph)
		return leave(INVALID);
	*out = stream->graph;
	stream->graph = NULL;
	captures--;
	return leave(OK);
}

/* The legacy stream must not be asked about while another one is captured. */
int hipStreamIsCapturing(void *handle, int *out)
{
	if (captures && (!handle || handle == (void *)1))
		return leave(IMPLICIT);
	*out = capture_of(handle) ? ACTIVE : 0;
	return leave(OK);
}
