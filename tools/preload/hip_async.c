/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of the runtime's stream-ordered pools. What is counted is what the
 * program holds; the runtime's pool may keep more. There is one function for
 * both default streams. What is allocated in a captured stream is no memory of
 * a pool, and nothing limits it.
 */
#include "hip_graph.h"

static const void *stream_of(hipStream_t stream)
{
	return stream == HIP_LEGACY ? NULL : stream;
}

/* In a wrapper of that name and parameters. */
#define ALLOC(name, ...)                                                       \
	do {                                                                   \
		struct hip_alloc alloc = {.kind = LEDGER_ASYNC,                \
					  .bytes = bytes,                      \
					  .stream = stream_of(stream)};        \
		hipError_t result = hipErrorOutOfMemory;                       \
                                                                               \
		if (!hip_enter())                                              \
			return REAL(name)(__VA_ARGS__);                        \
		if (hip_graph_captures(stream)) {                              \
			result = REAL(name)(__VA_ARGS__);                      \
			hip_graph_captured(result, address_out);               \
		} else if (hip_alloc_begin(&alloc, address_out)) {             \
			result = REAL(name)(__VA_ARGS__);                      \
			hip_alloc_end(&alloc, result,                          \
				      result == hipSuccess ? *address_out      \
							   : NULL);            \
		}                                                              \
		preload_leave();                                               \
		return result;                                                 \
	} while (0)

hipError_t wrap_hipMallocAsync(void **address_out, size_t bytes,
			       hipStream_t stream)
{
	ALLOC(hipMallocAsync, address_out, bytes, stream);
}

hipError_t wrap_hipMallocFromPoolAsync(void **address_out, size_t bytes,
				       void *pool, hipStream_t stream)
{
	ALLOC(hipMallocFromPoolAsync, address_out, bytes, pool, stream);
}

/* In a captured stream it leaves the last error as it was. */
hipError_t wrap_hipFreeAsync(void *address, hipStream_t stream)
{
	HIP_FREE_ANY(hipFreeAsync, hip_graph_changed_quietly(), address,
		     stream_of(stream), address, stream);
}
