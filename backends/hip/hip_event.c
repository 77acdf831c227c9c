/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Events, which are the runtime's own. Keeps nothing; nobody locks.
 */
#include "plugin.h"

gpumem_status gm_hip_event_create(void *handle, gpumem_event *event_out)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, handle);
	hipEvent_t event = NULL;

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(gm_hip.EventCreate(&event, hipEventDisableTiming),
			      "hipEventCreateWithFlags");
	if (status == GPUMEM_OK)
		*event_out = event;
	gm_hip_leave(&visit);
	return status;
}

gpumem_status gm_hip_event_destroy(void *handle, gpumem_event event)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, handle);

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(gm_hip.EventDestroy(event), "hipEventDestroy");
	gm_hip_leave(&visit);
	return status;
}

gpumem_status gm_hip_event_record(void *handle, gpumem_event event,
				  gpumem_stream stream)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter_stream(&visit, handle, stream);

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(gm_hip.EventRecord(event, stream),
			      "hipEventRecord");
	gm_hip_leave(&visit);
	return status;
}

gpumem_status gm_hip_event_query(void *handle, gpumem_event event)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, handle);

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(gm_hip.EventQuery(event), "hipEventQuery");
	gm_hip_leave(&visit);
	return status;
}

gpumem_status gm_hip_event_sync(void *handle, gpumem_event event)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, handle);

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(gm_hip.EventSynchronize(event),
			      "hipEventSynchronize");
	gm_hip_leave(&visit);
	return status;
}

gpumem_status gm_hip_stream_wait(void *handle, gpumem_stream stream,
				 gpumem_event event)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter_stream(&visit, handle, stream);

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(gm_hip.StreamWaitEvent(stream, event, 0),
			      "hipStreamWaitEvent");
	gm_hip_leave(&visit);
	return status;
}
