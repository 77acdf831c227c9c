/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Copies and fills. The direction of a copy is what the addresses say.
 */
#include "hip_fake.h"

static CUdeviceptr at(const void *address)
{
	return (CUdeviceptr)(uintptr_t)address;
}

static hipError_t copy(void *to, const void *from, size_t bytes, int kind,
		       hipStream_t stream)
{
	if (kind < hipMemcpyHostToHost || kind > hipMemcpyDefault)
		return hipErrorInvalidMemcpyDirection;
	if (!bytes)
		return hipSuccess;
	if (!to || !from)
		return hipErrorInvalidValue;
	return hip_error_of(
		cu.cuMemcpyAsync(at(to), at(from), bytes, (CUstream)stream));
}

/* The null stream waits for all that is not told otherwise, and the caller
 * waits for it. */
static hipError_t copy_now(void *to, const void *from, size_t bytes, int kind)
{
	hipError_t error = copy(to, from, bytes, kind, NULL);

	if (error != hipSuccess || !bytes)
		return error;
	return hip_error_of(cu.cuStreamSynchronize(NULL));
}

static hipError_t fill(void *to, int value, size_t bytes, hipStream_t stream)
{
	if (!bytes)
		return hipSuccess;
	if (!to)
		return hipErrorInvalidValue;
	return hip_error_of(cu.cuMemsetD8Async(at(to), (unsigned char)value,
					       bytes, (CUstream)stream));
}

hipError_t hipMemcpy(void *to, const void *from, size_t bytes,
		     hipMemcpyKind kind)
{
	HIP_CALL_ON(NULL, hipMemcpy, copy_now(to, from, bytes, (int)kind));
}

hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes)
{
	HIP_CALL_ON(NULL, hipMemcpyDtoH,
		    copy_now(to, from, bytes, hipMemcpyDeviceToHost));
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes,
			  hipMemcpyKind kind, hipStream_t stream)
{
	HIP_CALL_ON(stream, hipMemcpyAsync,
		    copy(to, from, bytes, (int)kind, stream));
}

hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream)
{
	HIP_CALL_ON(stream, hipMemsetAsync, fill(to, value, bytes, stream));
}

hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value,
			    size_t bytes, hipStream_t stream)
{
	HIP_CALL_ON(stream, hipMemsetD8Async, fill(to, value, bytes, stream));
}
