/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of the runtime's stream-ordered pools. What is counted is what the
 * program holds; the runtime's pool may keep more. There is one function for
 * both default streams.
 */
#include "hip_current.h"

/* hipStreamLegacy of newer headers: what NULL means, too. */
#define LEGACY ((hipStream_t)1)

static const void *stream_of(hipStream_t stream)
{
	return stream == LEGACY ? NULL : stream;
}

hipError_t wrap_hipMallocAsync(void **address_out, size_t bytes,
			       hipStream_t stream)
{
	HIP_ALLOC(hipMallocAsync, address_out, LEDGER_ASYNC, bytes,
		  stream_of(stream), address_out, bytes, stream);
}

hipError_t wrap_hipMallocFromPoolAsync(void **address_out, size_t bytes,
				       void *pool, hipStream_t stream)
{
	HIP_ALLOC(hipMallocFromPoolAsync, address_out, LEDGER_ASYNC, bytes,
		  stream_of(stream), address_out, bytes, pool, stream);
}

hipError_t wrap_hipFreeAsync(void *address, hipStream_t stream)
{
	HIP_FREE(hipFreeAsync, BLOCK_HIP_ADDRESS, address, stream_of(stream),
		 address, stream);
}
