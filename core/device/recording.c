/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Recordings, and the slots of a program's events: see event.h. Of the same
 * shape as driver.c, and not counted.
 */
#include "event.h"
#include "driver_call.h"
#include "base/error.h"

#include <stdlib.h>

static gpumem_status create(struct gpumem_device *device, void **native_out)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_event_create);
	void *native = NULL;

	if (call.status == GPUMEM_OK)
		call.status = call.ops->event_create(call.handle, &native);
	gm_call_check_set(&call, native != NULL, "event");
	if (call.status == GPUMEM_OK)
		*native_out = native;
	return gm_call_end(&call);
}

static gpumem_status import(struct gpumem_device *device, void *theirs,
			    void **native_out)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_event_import);
	void *native = NULL;

	if (call.status == GPUMEM_OK)
		call.status =
			call.ops->event_import(call.handle, theirs, &native);
	gm_call_check_set(&call, native != NULL, "event");
	if (call.status == GPUMEM_OK)
		*native_out = native;
	return gm_call_end(&call);
}

/* What the plugin keeps for it goes, whatever became of the device. */
static gpumem_status destroy(struct gpumem_device *device, void *native)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_event_destroy);

	call.made = true;
	call.status = call.ops->event_destroy(call.handle, native);
	return gm_call_end(&call);
}

gpumem_status gm_recording_record(const struct gm_recording *recording,
				  gpumem_stream stream)
{
	struct gm_call call =
		gm_call_begin(recording->device, GPUMEM_SLOT_event_record);

	if (call.status == GPUMEM_OK)
		call.status = call.ops->event_record(call.handle,
						     recording->native, stream);
	return gm_call_end(&call);
}

gpumem_status gm_recording_query(const struct gm_recording *recording)
{
	struct gm_call call =
		gm_call_begin(recording->device, GPUMEM_SLOT_event_query);

	if (call.status == GPUMEM_OK)
		call.status =
			call.ops->event_query(call.handle, recording->native);
	return gm_call_end(&call);
}

gpumem_status gm_recording_sync(const struct gm_recording *recording)
{
	struct gm_call call =
		gm_call_begin(recording->device, GPUMEM_SLOT_event_sync);

	if (call.status == GPUMEM_OK)
		call.status =
			call.ops->event_sync(call.handle, recording->native);
	return gm_call_end(&call);
}

gpumem_status gm_recording_stream_wait(const struct gm_recording *recording,
				       gpumem_stream stream)
{
	struct gm_call call =
		gm_call_begin(recording->device, GPUMEM_SLOT_stream_wait);

	if (call.status == GPUMEM_OK)
		call.status = call.ops->stream_wait(call.handle, stream,
						    recording->native);
	return gm_call_end(&call);
}

gpumem_status gm_recording_native(const struct gm_recording *recording,
				  void **native_out)
{
	struct gm_call call =
		gm_call_begin(recording->device, GPUMEM_SLOT_event_native);
	void *native = NULL;

	if (call.status == GPUMEM_OK)
		call.status = call.ops->event_native(
			call.handle, recording->native, &native);
	gm_call_check_set(&call, native != NULL, "event");
	if (call.status == GPUMEM_OK)
		*native_out = native;
	return gm_call_end(&call);
}

gpumem_status gm_recording_new(struct gpumem_device *device, void *theirs,
			       struct gm_recording **recording_out)
{
	struct gm_recording *recording = malloc(sizeof(*recording));
	gpumem_status status;

	if (!recording)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for an event");
	recording->device = device;
	atomic_init(&recording->refs, 1);
	status = theirs ? import(device, theirs, &recording->native)
			: create(device, &recording->native);
	if (status != GPUMEM_OK) {
		free(recording);
		return status;
	}
	*recording_out = recording;
	return GPUMEM_OK;
}

void gm_recording_keep(struct gm_recording *recording)
{
	atomic_fetch_add(&recording->refs, 1);
}

gpumem_status gm_recording_drop(struct gm_recording *recording)
{
	gpumem_status status;

	if (atomic_fetch_sub(&recording->refs, 1) > 1)
		return GPUMEM_OK;
	status = destroy(recording->device, recording->native);
	free(recording);
	return status;
}
