/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Physical memory with handles. It is held until its handle is released as
 * often as it was made or asked for, and is mapped nowhere; what was imported
 * is counted where it was made.
 */
#include "hip_current.h"

#include <string.h>

/* hipMemAllocationProp as releases have it whose hipMemCreate() allocates: that
 * of 5.2 has one field more at its front, and only refuses. */
struct properties {
	int type, handle_type;
	struct {
		int type, id;
	} location;
};

#define VERSION_MIN 50300000
#define ON_DEVICE 1

/* -1: it is no device's, or of a release that has none. */
static int device_of(const hipMemAllocationProp *theirs)
{
	struct properties prop;
	int version = 0;

	if (!theirs || REAL(hipRuntimeGetVersion)(&version) != hipSuccess ||
	    version < VERSION_MIN)
		return -1;
	memcpy(&prop, theirs, sizeof(prop));
	return prop.location.type == ON_DEVICE &&
			       count_is_device(prop.location.id)
		       ? prop.location.id
		       : -1;
}

hipError_t wrap_hipMemCreate(hipMemGenericAllocationHandle_t *handle_out,
			     size_t bytes, const hipMemAllocationProp *prop,
			     unsigned long long flags)
{
	struct hip_alloc alloc = {.kind = LEDGER_VIRTUAL, .bytes = bytes};
	hipError_t result = hipErrorOutOfMemory;
	int device;

	if (!hip_enter())
		return REAL(hipMemCreate)(handle_out, bytes, prop, flags);
	device = device_of(prop);
	if (device < 0) {
		result = REAL(hipMemCreate)(handle_out, bytes, prop, flags);
	} else if (hip_alloc_begin_on(&alloc, handle_out, device)) {
		result = REAL(hipMemCreate)(handle_out, bytes, prop, flags);
		hip_alloc_end(&alloc, result,
			      result == hipSuccess ? *handle_out : NULL);
	}
	preload_leave();
	return result;
}

hipError_t wrap_hipMemRelease(hipMemGenericAllocationHandle_t handle)
{
	hipError_t result;

	if (!hip_enter())
		return REAL(hipMemRelease)(handle);
	count_release(LEDGER_HIP, (uintptr_t)handle);
	result = REAL(hipMemRelease)(handle);
	limit_leave();
	preload_leave();
	return result;
}

hipError_t
wrap_hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t *handle_out,
				  void *address)
{
	hipError_t result;

	if (!hip_enter())
		return REAL(hipMemRetainAllocationHandle)(handle_out, address);
	result = REAL(hipMemRetainAllocationHandle)(handle_out, address);
	if (result == hipSuccess)
		count_retain(LEDGER_HIP, (uintptr_t)*handle_out);
	preload_leave();
	return result;
}

hipError_t wrap_hipMemMap(void *address, size_t bytes, size_t offset,
			  hipMemGenericAllocationHandle_t handle,
			  unsigned long long flags)
{
	hipError_t result;

	if (!hip_enter())
		return REAL(hipMemMap)(address, bytes, offset, handle, flags);
	result = REAL(hipMemMap)(address, bytes, offset, handle, flags);
	if (result == hipSuccess)
		count_map(LEDGER_HIP, (uintptr_t)address, bytes,
			  (uintptr_t)handle);
	preload_leave();
	return result;
}

hipError_t wrap_hipMemUnmap(void *address, size_t bytes)
{
	hipError_t result;

	if (!hip_enter())
		return REAL(hipMemUnmap)(address, bytes);
	result = REAL(hipMemUnmap)(address, bytes);
	if (result == hipSuccess)
		count_unmap(LEDGER_HIP, (uintptr_t)address, bytes);
	preload_leave();
	return result;
}
