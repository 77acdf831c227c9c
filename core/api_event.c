/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* API layer: events, and frees after them. See api.c. */
#include "api_check.h"
#include "device/event.h"
#include "pool/pool.h"

gpumem_status gpumem_event_create(gpumem_device *device,
				  gpumem_event **event_out)
{
	GM_SCOPE;
	gpumem_status status =
		gm_enter_with(device, GPUMEM_CAP_STREAMS, "events");

	if (status != GPUMEM_OK)
		return status;
	return event_out ? gm_event_create(device, event_out)
			 : gm_null_argument("event_out");
}

gpumem_status gpumem_event_import(gpumem_device *device, void *native_event,
				  gpumem_event **event_out)
{
	GM_SCOPE;
	gpumem_status status =
		gm_enter_with(device, GPUMEM_CAP_STREAMS, "events");

	if (status != GPUMEM_OK)
		return status;
	if (!native_event)
		return gm_null_argument("native_event");
	return event_out ? gm_event_import(device, native_event, event_out)
			 : gm_null_argument("event_out");
}

gpumem_status gpumem_event_destroy(gpumem_event *event)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(event);

	return status != GPUMEM_OK ? status : gm_event_destroy(event);
}

gpumem_status gpumem_event_record(gpumem_event *event, gpumem_stream stream)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(event);

	return status != GPUMEM_OK ? status : gm_event_record(event, stream);
}

gpumem_status gpumem_event_query(gpumem_event *event)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(event);

	return status != GPUMEM_OK ? status : gm_event_query(event);
}

gpumem_status gpumem_event_sync(gpumem_event *event)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(event);

	return status != GPUMEM_OK ? status : gm_event_sync(event);
}

gpumem_status gpumem_event_native(gpumem_event *event, void **native_out)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(event);

	if (status != GPUMEM_OK)
		return status;
	return native_out ? gm_event_native(event, native_out)
			  : gm_null_argument("native_out");
}

gpumem_status gpumem_stream_wait(gpumem_device *device, gpumem_stream stream,
				 gpumem_event *event)
{
	GM_SCOPE;
	gpumem_status status =
		gm_enter_with(device, GPUMEM_CAP_STREAMS, "streams");

	if (status != GPUMEM_OK)
		return status;
	return event ? gm_event_stream_wait(device, stream, event)
		     : gm_null_argument("event");
}

gpumem_status gpumem_free_after(void *ptr, gpumem_event *event)
{
	GM_SCOPE;
	struct gm_recording *recording;
	gpumem_status status = GM_ENTER(event);

	if (status == GPUMEM_OK)
		status = gm_event_take(event, &recording);
	if (status != GPUMEM_OK)
		return status;
	if (ptr)
		status = gm_pool_explain(ptr,
					 gm_heap_free_after(ptr, recording));
	(void)gm_recording_drop(recording);
	gm_locals_end_call();
	return status;
}
