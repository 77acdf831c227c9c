/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Streams, which are the driver's own, and group CAPTURE. Keeps nothing; nobody
 * locks.
 */
#include "cuda_plugin.h"

/* Not ordered with the legacy default stream: a pool orders what it must by
 * events. */
gpumem_status gm_cuda_stream_create(void *handle, gpumem_stream *stream_out)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, handle);
	CUstream stream = NULL;

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(
		gm_cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING),
		"cuStreamCreate");
	if (status == GPUMEM_OK)
		*stream_out = stream;
	gm_cuda_leave(&visit);
	return status;
}

gpumem_status gm_cuda_stream_destroy(void *handle, gpumem_stream stream)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter_stream(&visit, handle, stream);

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(gm_cuda.cuStreamDestroy_v2(stream),
			       "cuStreamDestroy");
	gm_cuda_leave(&visit);
	return status;
}

gpumem_status gm_cuda_stream_sync(void *handle, gpumem_stream stream)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter_stream(&visit, handle, stream);

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(gm_cuda.cuStreamSynchronize(stream),
			       "cuStreamSynchronize");
	gm_cuda_leave(&visit);
	return status;
}

gpumem_status gm_cuda_stream_query(void *handle, gpumem_stream stream)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter_stream(&visit, handle, stream);

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(gm_cuda.cuStreamQuery(stream), "cuStreamQuery");
	gm_cuda_leave(&visit);
	return status;
}

gpumem_status gm_cuda_capture_id(void *handle, gpumem_stream stream,
				 uint64_t *id_out)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, handle);

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_capture(stream, id_out);
	gm_cuda_leave(&visit);
	return status;
}
