/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of a device that hipFree() frees, and managed memory; and how much
 * there is.
 */
#include "hip_graph.h"

hipError_t wrap_hipMalloc(void **address_out, size_t bytes)
{
	HIP_ALLOC(hipMalloc, address_out, LEDGER_ALLOC, bytes, NULL,
		  address_out, bytes);
}

hipError_t wrap_hipExtMallocWithFlags(void **address_out, size_t bytes,
				      unsigned flags)
{
	HIP_ALLOC(hipExtMallocWithFlags, address_out, LEDGER_ALLOC, bytes, NULL,
		  address_out, bytes, flags);
}

hipError_t wrap_hipMallocManaged(void **address_out, size_t bytes,
				 unsigned flags)
{
	HIP_ALLOC(hipMallocManaged, address_out, LEDGER_MANAGED, bytes, NULL,
		  address_out, bytes, flags);
}

/* May also be of a stream-ordered pool, of the host, or of a node. */
hipError_t wrap_hipFree(void *address)
{
	HIP_FREE_ANY(hipFree, hip_graph_changed(result), address, NULL,
		     address);
}

/* ---- rows ------------------------------------------------------------------
 */

/* The same as HIP_ALLOC(), but only the runtime knows how long a row is. */
#define ALLOC_ROWS(name, out, address, pitch, width, height, ...)              \
	do {                                                                   \
		struct hip_alloc alloc = {.kind = LEDGER_ALLOC,                \
					  .bytes = limit_rows(width, height)}; \
		hipError_t result = hipErrorOutOfMemory;                       \
                                                                               \
		if (!hip_enter())                                              \
			return REAL(name)(__VA_ARGS__);                        \
		if (hip_alloc_begin(&alloc, out)) {                            \
			result = REAL(name)(__VA_ARGS__);                      \
			if (result == hipSuccess)                              \
				alloc.bytes = (pitch) * (height);              \
			hip_alloc_end(&alloc, result,                          \
				      result == hipSuccess ? (address)         \
							   : NULL);            \
		}                                                              \
		preload_leave();                                               \
		return result;                                                 \
	} while (0)

hipError_t wrap_hipMallocPitch(void **address_out, size_t *pitch_out,
			       size_t width, size_t height)
{
	ALLOC_ROWS(hipMallocPitch, address_out, *address_out, *pitch_out, width,
		   height, address_out, pitch_out, width, height);
}

hipError_t wrap_hipMemAllocPitch(void **address_out, size_t *pitch_out,
				 size_t width, size_t height, unsigned element)
{
	ALLOC_ROWS(hipMemAllocPitch, address_out, *address_out, *pitch_out,
		   width, height, address_out, pitch_out, width, height,
		   element);
}

static size_t rows_of(hipExtent extent)
{
	size_t rows;

	return __builtin_mul_overflow(extent.height, extent.depth, &rows)
		       ? SIZE_MAX
		       : rows;
}

hipError_t wrap_hipMalloc3D(hipPitchedPtr *pitched_out, hipExtent extent)
{
	ALLOC_ROWS(hipMalloc3D, pitched_out, pitched_out->ptr,
		   pitched_out->pitch, extent.width, rows_of(extent),
		   pitched_out, extent);
}

/* ---- how much there is -----------------------------------------------------
 */

/* Either may be NULL. */
hipError_t wrap_hipMemGetInfo(size_t *free_out, size_t *total_out)
{
	hipError_t result;
	int device;

	if (!hip_enter())
		return REAL(hipMemGetInfo)(free_out, total_out);
	device = hip_device();
	hip_graph_refresh();
	result = REAL(hipMemGetInfo)(free_out, total_out);
	if (result == hipSuccess && total_out)
		*total_out = limit_total(*total_out);
	if (result == hipSuccess && free_out && device >= 0)
		*free_out = limit_left(LEDGER_HIP, device, *free_out);
	preload_leave();
	return result;
}

hipError_t wrap_hipDeviceTotalMem(size_t *bytes_out, hipDevice_t device)
{
	hipError_t result;

	if (!hip_enter())
		return REAL(hipDeviceTotalMem)(bytes_out, device);
	result = REAL(hipDeviceTotalMem)(bytes_out, device);
	if (result == hipSuccess && bytes_out)
		*bytes_out = limit_total(*bytes_out);
	preload_leave();
	return result;
}

/* How both layouts begin. */
struct properties_old {
	char name[256];
	size_t total_bytes;
};

struct properties_new {
	char name[256], uuid[16], luid[8];
	unsigned luid_mask;
	size_t total_bytes;
};

#define PROPERTIES(function, layout)                                           \
	hipError_t wrap_##function(void *properties_out, int device)           \
	{                                                                      \
		struct layout *properties = properties_out;                    \
		hipError_t result;                                             \
                                                                               \
		if (!hip_enter())                                              \
			return REAL(function)(properties_out, device);         \
		result = REAL(function)(properties_out, device);               \
		if (result == hipSuccess && properties)                        \
			properties->total_bytes =                              \
				limit_total(properties->total_bytes);          \
		preload_leave();                                               \
		return result;                                                 \
	}

PROPERTIES(hipGetDeviceProperties, properties_old)
PROPERTIES(hipGetDevicePropertiesR0000, properties_old)
PROPERTIES(hipGetDevicePropertiesR0600, properties_new)

/* ---- its end ---------------------------------------------------------------
 */

hipError_t wrap_hipDeviceReset(void)
{
	hipError_t result;
	int device;

	if (!hip_enter())
		return REAL(hipDeviceReset)();
	device = hip_device();
	result = REAL(hipDeviceReset)();
	if (result == hipSuccess)
		hip_device_gone(device);
	hip_graph_changed(result);
	preload_leave();
	return result;
}
