/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Work for streams: fills, copies and host functions, which stand for kernels.
 * What goes into a captured stream is never run, since no graph is launched.
 */
#include "cuda_fake.h"

static CUresult submit(struct fake_stream *stream, const struct fake_work *work)
{
	CUresult result = fake_capture_implicit(stream, true);

	if (result == CUDA_SUCCESS)
		result = fake_capture_admit(stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!stream->capture)
		return fake_queue_push(stream, work);
	stream->unjoined = stream != stream->capture->origin;
	return CUDA_SUCCESS;
}

/* Seen: an address that the device has no access to is refused at once. One
 * that goes while the work is queued is for the queue to find. */
static CUresult move(CUstream handle, const struct fake_work *work)
{
	bool copy = work->kind == FAKE_COPY;
	struct fake_stream *stream;
	CUresult result = fake_stream_find(handle, &stream);

	if (result != CUDA_SUCCESS || !work->bytes)
		return result;
	if (!fake_may_write(stream->context, work->to, work->bytes, copy) ||
	    (copy && !fake_may_read(stream->context, work->from, work->bytes)))
		return CUDA_ERROR_INVALID_VALUE;
	return submit(stream, work);
}

static CUresult launch(CUstream handle, const struct fake_work *work)
{
	struct fake_stream *stream;
	CUresult result = fake_stream_find(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!work->function)
		return CUDA_ERROR_INVALID_VALUE;
	return submit(stream, work);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes,
			 CUstream stream)
{
	struct fake_work work = {
		.kind = FAKE_FILL,
		.to = to,
		.bytes = bytes,
		.value = value,
	};

	FAKE_CALL(cuMemsetD8Async, move(stream, &work));
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
		       CUstream stream)
{
	struct fake_work work = {
		.kind = FAKE_COPY,
		.to = to,
		.from = from,
		.bytes = bytes,
	};

	FAKE_CALL(cuMemcpyAsync, move(stream, &work));
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *argument)
{
	struct fake_work work = {
		.kind = FAKE_HOST_FUNCTION,
		.function = function,
		.argument = argument,
	};

	FAKE_CALL(cuLaunchHostFunc, launch(stream, &work));
}
