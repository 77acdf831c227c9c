/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Streams, which are the driver's own, and group CAPTURE. Keeps nothing; no
 * lock.
 */
#include "plugin.h"

/* Not ordered with the legacy default stream: a pool orders what it must by
 * events. */
gpumem_status GPU(stream_create)(void *handle, gpumem_stream *stream_out)
{
	struct gpu_call call = gpu_begin(handle);
	gpu_stream stream = NULL;

	if (call.status == GPUMEM_OK)
		call.status = gpu_check(
			gpu.StreamCreate(&stream, GPU_STREAM_NON_BLOCKING),
			STREAM_CREATE);
	if (call.status == GPUMEM_OK)
		*stream_out = stream;
	return gpu_end(&call);
}

gpumem_status GPU(stream_destroy)(void *handle, gpumem_stream stream)
{
	struct gpu_call call = gpu_begin_stream(handle, stream);

	if (call.status == GPUMEM_OK)
		call.status = gpu_check(gpu.StreamDestroy(stream),
					PREFIX "StreamDestroy");
	return gpu_end(&call);
}

gpumem_status GPU(stream_sync)(void *handle, gpumem_stream stream)
{
	struct gpu_call call = gpu_begin_stream(handle, stream);

	if (call.status == GPUMEM_OK)
		call.status = gpu_check(gpu.StreamSynchronize(stream),
					PREFIX "StreamSynchronize");
	return gpu_end(&call);
}

gpumem_status GPU(stream_query)(void *handle, gpumem_stream stream)
{
	struct gpu_call call = gpu_begin_stream(handle, stream);

	if (call.status == GPUMEM_OK)
		call.status = gpu_check(gpu.StreamQuery(stream),
					PREFIX "StreamQuery");
	return gpu_end(&call);
}

gpumem_status GPU(capture_id)(void *handle, gpumem_stream stream,
			      uint64_t *id_out)
{
	struct gpu_call call = gpu_begin(handle);

	if (call.status == GPUMEM_OK)
		call.status = gpu_capture(stream, id_out);
	return gpu_end(&call);
}
