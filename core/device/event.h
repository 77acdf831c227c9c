/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The program's events. An event can be recorded again while a freed block
 * still waits for what it stood for: so each record that something else refers
 * to keeps the backend's event to itself, a *recording*, and the next record
 * takes another one. The calls are not counted: a program's own business, not
 * a pool's; a pool's queries of a recording are its own.
 *
 *     refs of a recording == 1 if it is the newest of an event, + 1 for each
 *                            block that waits for it, and each call under way
 *     refs == 1, and it is an event's newest  <=>  it may be recorded again
 *
 * Each event has a mutex; refs are atomic. A recording has no lock: its native
 * event is constant.
 */
#ifndef GM_DEVICE_EVENT_H
#define GM_DEVICE_EVENT_H

#include "device.h"

struct gm_recording {
	struct gpumem_device *device; /* constant */
	void *native;		      /* constant: the backend's event */
	_Atomic unsigned refs;
};

/* ---- recording.c ---- */

/* `theirs`: what an event of the vendor's stands for now; NULL: nothing yet.
 * The caller has the one reference. */
gpumem_status gm_recording_new(struct gpumem_device *device, void *theirs,
			       struct gm_recording **recording_out);
void gm_recording_keep(struct gm_recording *recording);
/* The last one destroys the backend's event, for which the device must still
 * be open. What that call said; the recording is gone all the same. */
gpumem_status gm_recording_drop(struct gm_recording *recording);
/* The slots of these names. */
gpumem_status gm_recording_record(const struct gm_recording *recording,
				  gpumem_stream stream);
gpumem_status gm_recording_query(const struct gm_recording *recording);
gpumem_status gm_recording_sync(const struct gm_recording *recording);
gpumem_status gm_recording_stream_wait(const struct gm_recording *recording,
				       gpumem_stream stream);
gpumem_status gm_recording_native(const struct gm_recording *recording,
				  void **native_out);

/* ---- event.c: see gpumem.h ---- */

/* The device has CAP_STREAMS. An event that was destroyed is INVALID, as long
 * as its memory is no other event's. */
gpumem_status gm_event_create(struct gpumem_device *device,
			      struct gpumem_event **event_out);
gpumem_status gm_event_import(struct gpumem_device *device, void *native,
			      struct gpumem_event **event_out);
gpumem_status gm_event_destroy(struct gpumem_event *event);
gpumem_status gm_event_record(struct gpumem_event *event, gpumem_stream stream);
gpumem_status gm_event_query(struct gpumem_event *event);
gpumem_status gm_event_sync(struct gpumem_event *event);
gpumem_status gm_event_native(struct gpumem_event *event, void **native_out);
gpumem_status gm_event_stream_wait(struct gpumem_device *device,
				   gpumem_stream stream,
				   struct gpumem_event *event);
/* What it stands for now; the caller drops it. */
gpumem_status gm_event_take(struct gpumem_event *event,
			    struct gm_recording **recording_out);

#endif
