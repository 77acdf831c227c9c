/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Streams: which there are, for they may be at work on what is freed, and when
 * they are captured. A capture begins under the mutex, so that none begins
 * between the question whether there is one and an event that would become part
 * of it.
 */
#include "pool.h"
#include "served.h"

static void add(CUstream stream)
{
	struct preload_state *state;
	CUcontext context = NULL;
	bool ok = REAL(cuCtxGetCurrent)(&context) == CUDA_SUCCESS;

	state = preload_lock();
	epoch_add_stream(&state->epochs, stream, context);
	ok = ok && !state->epochs.broken;
	preload_unlock(state);
	if (!ok)
		preload_stop_keeping("cuStreamCreate");
}

/* The others are those that the legacy stream waits for. */
static void created(CUresult result, const CUstream *stream, unsigned flags)
{
	if (result == CUDA_SUCCESS && flags & CU_STREAM_NON_BLOCKING)
		add(*stream);
	preload_leave();
}

CUresult wrap_cuStreamCreate(CUstream *stream_out, unsigned flags)
{
	bool ours = pool_enter();
	CUresult result = REAL(cuStreamCreate)(stream_out, flags);

	if (ours)
		created(result, stream_out, flags);
	return result;
}

CUresult wrap_cuStreamCreateWithPriority(CUstream *stream_out, unsigned flags,
					 int priority)
{
	bool ours = pool_enter();
	CUresult result =
		REAL(cuStreamCreateWithPriority)(stream_out, flags, priority);

	if (ours)
		created(result, stream_out, flags);
	return result;
}

static void before_destroy(CUstream stream)
{
	struct preload_state *state;
	bool broken;

	if (!pool_enter())
		return;
	served_drop_stream(stream);
	state = preload_lock();
	epoch_end_stream(&state->epochs, stream);
	broken = state->epochs.broken;
	preload_unlock(state);
	if (broken)
		preload_stop_keeping("cuStreamDestroy");
	preload_leave();
}

CUresult wrap_cuStreamDestroy(CUstream stream)
{
	before_destroy(stream);
	return REAL(cuStreamDestroy)(stream);
}

CUresult wrap_cuStreamDestroy_v2(CUstream stream)
{
	before_destroy(stream);
	return REAL(cuStreamDestroy_v2)(stream);
}

/* ---- captures --------------------------------------------------------------
 */

#define BEGIN_CAPTURE(name, parameters, ...)                                   \
	CUresult wrap_##name parameters                                        \
	{                                                                      \
		struct preload_state *state;                                   \
		CUresult result;                                               \
                                                                               \
		if (!pool_enter())                                             \
			return REAL(name)(__VA_ARGS__);                        \
		state = preload_lock();                                        \
		result = REAL(name)(__VA_ARGS__);                              \
		state->epochs.captured |= result == CUDA_SUCCESS;              \
		preload_unlock(state);                                         \
		preload_leave();                                               \
		return result;                                                 \
	}

BEGIN_CAPTURE(cuStreamBeginCapture, (CUstream stream), stream)
BEGIN_CAPTURE(cuStreamBeginCapture_ptsz, (CUstream stream), stream)
BEGIN_CAPTURE(cuStreamBeginCapture_v2,
	      (CUstream stream, CUstreamCaptureMode mode), stream, mode)
BEGIN_CAPTURE(cuStreamBeginCapture_v2_ptsz,
	      (CUstream stream, CUstreamCaptureMode mode), stream, mode)

#define TO_GRAPH                                                               \
	(CUstream stream, CUgraph graph, const CUgraphNode *nodes,             \
	 const void *edges, size_t count, CUstreamCaptureMode mode)

BEGIN_CAPTURE(cuStreamBeginCaptureToGraph, TO_GRAPH, stream, graph, nodes,
	      edges, count, mode)
BEGIN_CAPTURE(cuStreamBeginCaptureToGraph_ptsz, TO_GRAPH, stream, graph, nodes,
	      edges, count, mode)

#define TO_SAME_GRAPH                                                          \
	(CUstream stream, CUstreamCaptureMode mode, CUgraph graph,             \
	 void (*callback)(void), void *context)

BEGIN_CAPTURE(cuStreamBeginRecaptureToGraph, TO_SAME_GRAPH, stream, mode, graph,
	      callback, context)
BEGIN_CAPTURE(cuStreamBeginRecaptureToGraph_ptsz, TO_SAME_GRAPH, stream, mode,
	      graph, callback, context)

/* What graphics will run, and when, no event of the stream says. */
CUresult wrap_cuStreamBeginCaptureToCig(CUstream stream, void *params)
{
	preload_stop("cuStreamBeginCaptureToCig");
	return REAL(cuStreamBeginCaptureToCig)(stream, params);
}

CUresult wrap_cuStreamBeginCaptureToCig_ptsz(CUstream stream, void *params)
{
	preload_stop("cuStreamBeginCaptureToCig");
	return REAL(cuStreamBeginCaptureToCig_ptsz)(stream, params);
}
