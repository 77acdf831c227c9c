/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Capture of streams into graphs, as far as a pool of memory meets it. Modes
 * and states have CUDA's numbers.
 */
#include "hip_fake.h"

static hipError_t state(hipStream_t stream, hipStreamCaptureStatus *state_out,
			unsigned long long *id_out)
{
	CUstreamCaptureStatus status;
	cuuint64_t id = 0;
	hipError_t error;

	if (!state_out)
		return hipErrorInvalidValue;
	error = hip_error_of(
		cu.cuStreamGetCaptureInfo((CUstream)stream, &status, &id));
	if (error != hipSuccess)
		return error;
	*state_out = (hipStreamCaptureStatus)status;
	if (id_out)
		*id_out = id;
	return hipSuccess;
}

static hipError_t exchange(hipStreamCaptureMode *mode)
{
	CUstreamCaptureMode theirs;
	hipError_t error;

	if (!mode)
		return hipErrorInvalidValue;
	theirs = (CUstreamCaptureMode)*mode;
	error = hip_error_of(cu.cuThreadExchangeStreamCaptureMode(&theirs));
	if (error == hipSuccess)
		*mode = (hipStreamCaptureMode)theirs;
	return error;
}

static hipError_t begin(hipStream_t stream, hipStreamCaptureMode mode)
{
	return hip_error_of(cu.cuStreamBeginCapture_v2(
		(CUstream)stream, (CUstreamCaptureMode)mode));
}

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode)
{
	HIP_CALL_ON(stream, hipStreamBeginCapture, begin(stream, mode));
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph_out)
{
	HIP_CALL_ON(stream, hipStreamEndCapture,
		    hip_error_of(cu.cuStreamEndCapture((CUstream)stream,
						       (CUgraph *)graph_out)));
}

hipError_t hipStreamIsCapturing(hipStream_t stream,
				hipStreamCaptureStatus *state_out)
{
	HIP_CALL_ON(stream, hipStreamIsCapturing,
		    state(stream, state_out, NULL));
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream,
				   hipStreamCaptureStatus *state_out,
				   unsigned long long *id_out)
{
	HIP_CALL_ON(stream, hipStreamGetCaptureInfo,
		    state(stream, state_out, id_out));
}

/* Nobody who pools memory wants to know the nodes. */
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream,
				      hipStreamCaptureStatus *state_out,
				      unsigned long long *id_out,
				      hipGraph_t *graph_out,
				      const hipGraphNode_t **nodes_out,
				      size_t *node_count_out)
{
	HIP_CALL_ON(stream, hipStreamGetCaptureInfo_v2,
		    graph_out || nodes_out || node_count_out
			    ? hipErrorNotSupported
			    : state(stream, state_out, id_out));
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode)
{
	HIP_CALL_ON(NULL, hipThreadExchangeStreamCaptureMode, exchange(mode));
}
