/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stream-ordered memory, which is that of the driver below. In a captured
 * stream it becomes a node of the graph, and the last error stays as it was;
 * .5 takes and gives at once then, as of 5.2, which captures neither.
 */
#include "hip_fake.h"

static bool captured(hipStream_t stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	return stream && cu.cuStreamIsCapturing &&
	       cu.cuStreamIsCapturing((CUstream)stream, &status) ==
		       CUDA_SUCCESS &&
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static CUstream queue_of(hipStream_t stream)
{
	return FAKEHIP_MAJOR == 5 && captured(stream) ? CU_STREAM_PER_THREAD
						      : (CUstream)stream;
}

/* pool NULL: the device's. */
static hipError_t allocate(void **out, size_t bytes, hipMemPool_t pool,
			   hipStream_t stream)
{
	CUstream queue = queue_of(stream);
	CUdeviceptr address = 0;
	hipError_t error;

	if (!out)
		return hipErrorInvalidValue;
	*out = NULL;
	if (!bytes)
		return hipSuccess;
	error = hip_error_of(
		pool ? cu.cuMemAllocFromPoolAsync(&address, bytes,
						  (CUmemoryPool)pool, queue)
		     : cu.cuMemAllocAsync(&address, bytes, queue));
	if (error == hipSuccess)
		*out = (void *)(uintptr_t)address;
	return error;
}

static hipError_t release(void *address, hipStream_t stream)
{
	if (!address)
		return hipErrorInvalidValue;
	return hip_error_of(cu.cuMemFreeAsync((CUdeviceptr)(uintptr_t)address,
					      queue_of(stream)));
}

static hipError_t malloc_async(void **out, size_t bytes, hipStream_t stream)
{
	HIP_CALL_ON(stream, hipMallocAsync, allocate(out, bytes, NULL, stream));
}

static hipError_t malloc_from(void **out, size_t bytes, hipMemPool_t pool,
			      hipStream_t stream)
{
	HIP_CALL_ON(stream, hipMallocFromPoolAsync,
		    pool ? allocate(out, bytes, pool, stream)
			 : hipErrorInvalidValue);
}

static hipError_t free_async(void *address, hipStream_t stream)
{
	HIP_CALL_ON(stream, hipFreeAsync, release(address, stream));
}

/* `before` is the last error of before the call. */
static hipError_t leave(hipError_t result, hipStream_t stream,
			hipError_t before)
{
	if (FAKEHIP_MAJOR >= 6 && hip.device_count && captured(stream))
		hip_last_error = before;
	return result;
}

hipError_t hipMallocAsync(void **out, size_t bytes, hipStream_t stream)
{
	hipError_t before = hip_last_error;

	return leave(malloc_async(out, bytes, stream), stream, before);
}

hipError_t hipMallocFromPoolAsync(void **out, size_t bytes, hipMemPool_t pool,
				  hipStream_t stream)
{
	hipError_t before = hip_last_error;

	return leave(malloc_from(out, bytes, pool, stream), stream, before);
}

hipError_t hipFreeAsync(void *address, hipStream_t stream)
{
	hipError_t before = hip_last_error;

	return leave(free_async(address, stream), stream, before);
}
