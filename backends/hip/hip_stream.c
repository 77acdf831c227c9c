/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Streams, which are the runtime's own, and group CAPTURE. Keeps nothing;
 * nobody locks.
 */
#include "hip_plugin.h"

/* Not ordered with the legacy default stream: a pool orders what it must by
 * events. */
gpumem_status gm_hip_stream_create(void *handle, gpumem_stream *stream_out)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, handle);
	hipStream_t stream = NULL;

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(
		gm_hip.hipStreamCreateWithFlags(&stream, hipStreamNonBlocking),
		"hipStreamCreateWithFlags");
	if (status == GPUMEM_OK)
		*stream_out = stream;
	gm_hip_leave(&visit);
	return status;
}

gpumem_status gm_hip_stream_destroy(void *handle, gpumem_stream stream)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter_stream(&visit, handle, stream);

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(gm_hip.hipStreamDestroy(stream),
			      "hipStreamDestroy");
	gm_hip_leave(&visit);
	return status;
}

gpumem_status gm_hip_stream_sync(void *handle, gpumem_stream stream)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter_stream(&visit, handle, stream);

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(gm_hip.hipStreamSynchronize(stream),
			      "hipStreamSynchronize");
	gm_hip_leave(&visit);
	return status;
}

gpumem_status gm_hip_stream_query(void *handle, gpumem_stream stream)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter_stream(&visit, handle, stream);

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(gm_hip.hipStreamQuery(stream), "hipStreamQuery");
	gm_hip_leave(&visit);
	return status;
}

gpumem_status gm_hip_capture_id(void *handle, gpumem_stream stream,
				uint64_t *id_out)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, handle);

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_capture(stream, id_out);
	gm_hip_leave(&visit);
	return status;
}
