/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Events. Flags have CUDA's numbers, but for those that say how far a record
 * makes memory visible, which CUDA has not.
 */
#include "hip_fake.h"

#define EVENT_FLAGS 7u /* blocking sync, disable timing, interprocess */

static hipError_t create(hipEvent_t *event_out, unsigned flags)
{
	if (!event_out)
		return hipErrorInvalidValue;
	return hip_error_of(
		cu.cuEventCreate((CUevent *)event_out, flags & EVENT_FLAGS));
}

hipError_t hipEventCreate(hipEvent_t *event_out)
{
	HIP_CALL_ON(NULL, hipEventCreate, create(event_out, 0));
}

hipError_t hipEventCreateWithFlags(hipEvent_t *event_out, unsigned flags)
{
	HIP_CALL_ON(NULL, hipEventCreateWithFlags, create(event_out, flags));
}

hipError_t hipEventDestroy(hipEvent_t event)
{
	HIP_CALL_ON(NULL, hipEventDestroy,
		    hip_error_of(cu.cuEventDestroy_v2((CUevent)event)));
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
	HIP_CALL_ON(stream, hipEventRecord,
		    hip_error_of(cu.cuEventRecord((CUevent)event,
						  (CUstream)stream)));
}

hipError_t hipEventQuery(hipEvent_t event)
{
	HIP_CALL_ON(NULL, hipEventQuery,
		    hip_error_of(cu.cuEventQuery((CUevent)event)));
}

hipError_t hipEventSynchronize(hipEvent_t event)
{
	HIP_CALL_ON(NULL, hipEventSynchronize,
		    hip_error_of(cu.cuEventSynchronize((CUevent)event)));
}
