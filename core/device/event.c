/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The program's events: see event.h. The struct of an event that was destroyed
 * is kept for another one, so that a call with the old pointer finds it as
 * such; a mutex guards the list of these. Each event's own is held in calls of
 * the driver that do not wait.
 */
#include "event.h"
#include "base/error.h"

#include <stdlib.h>

struct gpumem_event {
	pthread_mutex_t mutex;	      /* guards the following */
	struct gpumem_device *device; /* NULL: it was destroyed */
	struct gm_recording *newest;  /* NULL: likewise */
	bool recorded;		      /* or imported */
	struct gpumem_event *next;    /* among those that were destroyed */
};

/* Destroyed events, the oldest first. */
static struct {
	pthread_mutex_t mutex;
	struct gpumem_event *first, **last;
} spare = {.mutex = PTHREAD_MUTEX_INITIALIZER, .last = &spare.first};

/* One that was destroyed, or a new one; NULL: no host memory. */
static struct gpumem_event *event_new(void)
{
	struct gpumem_event *event;

	pthread_mutex_lock(&spare.mutex);
	event = spare.first;
	if (event) {
		spare.first = event->next;
		if (!spare.first)
			spare.last = &spare.first;
	}
	pthread_mutex_unlock(&spare.mutex);
	if (event)
		return event;
	event = calloc(1, sizeof(*event));
	if (event)
		pthread_mutex_init(&event->mutex, NULL);
	return event;
}

static void event_keep(struct gpumem_event *event)
{
	event->next = NULL;
	pthread_mutex_lock(&spare.mutex);
	*spare.last = event;
	spare.last = &event->next;
	pthread_mutex_unlock(&spare.mutex);
}

/* Locks an event that is there. INVALID: it is not locked. */
static gpumem_status enter(struct gpumem_event *event)
{
	pthread_mutex_lock(&event->mutex);
	if (event->device)
		return GPUMEM_OK;
	pthread_mutex_unlock(&event->mutex);
	return gm_fail(GPUMEM_INVALID, "event %p was destroyed", (void *)event);
}

static gpumem_status leave(struct gpumem_event *event, gpumem_status status)
{
	pthread_mutex_unlock(&event->mutex);
	return status;
}

static gpumem_status make(struct gpumem_device *device, void *theirs,
			  struct gpumem_event **event_out)
{
	struct gpumem_event *event = event_new();
	struct gm_recording *newest;
	gpumem_status status;

	if (!event)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for an event");
	status = gm_recording_new(device, theirs, &newest);
	if (status != GPUMEM_OK) {
		event_keep(event);
		return status;
	}
	gm_device_hold(device, GM_HOLD_EVENT);
	pthread_mutex_lock(&event->mutex);
	event->device = device;
	event->newest = newest;
	event->recorded = theirs != NULL;
	pthread_mutex_unlock(&event->mutex);
	*event_out = event;
	return GPUMEM_OK;
}

gpumem_status gm_event_create(struct gpumem_device *device,
			      struct gpumem_event **event_out)
{
	return make(device, NULL, event_out);
}

gpumem_status gm_event_import(struct gpumem_device *device, void *native,
			      struct gpumem_event **event_out)
{
	if (!device->ops->event_import)
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "backend %s takes no events of the vendor's",
			       device->ops->name);
	return make(device, native, event_out);
}

gpumem_status gm_event_destroy(struct gpumem_event *event)
{
	struct gm_recording *newest;
	struct gpumem_device *device;
	gpumem_status status = enter(event);

	if (status != GPUMEM_OK)
		return status;
	device = event->device;
	newest = event->newest;
	event->device = NULL;
	event->newest = NULL;
	pthread_mutex_unlock(&event->mutex);
	status = gm_recording_drop(newest);
	event_keep(event);
	gm_device_drop(device, GM_HOLD_EVENT);
	return status;
}

/* With a recording of its own, if something refers to the newest. */
static gpumem_status record(struct gpumem_event *event, gpumem_stream stream)
{
	struct gm_recording *before = event->newest, *fresh;
	gpumem_status status;

	if (atomic_load(&before->refs) == 1)
		return gm_recording_record(before, stream);
	status = gm_recording_new(event->device, NULL, &fresh);
	if (status != GPUMEM_OK)
		return status;
	status = gm_recording_record(fresh, stream);
	if (status == GPUMEM_OK)
		event->newest = fresh;
	(void)gm_recording_drop(status == GPUMEM_OK ? before : fresh);
	return status;
}

gpumem_status gm_event_record(struct gpumem_event *event, gpumem_stream stream)
{
	gpumem_status status = enter(event);

	if (status != GPUMEM_OK)
		return status;
	status = record(event, stream);
	if (status == GPUMEM_OK)
		event->recorded = true;
	(void)leave(event, status);
	if (status == GPUMEM_CAPTURING)
		return gm_fail(status, "the stream is being captured into a "
				       "graph: no event can be recorded on it");
	return status;
}

gpumem_status gm_event_query(struct gpumem_event *event)
{
	gpumem_status status = enter(event);

	if (status != GPUMEM_OK)
		return status;
	return leave(event, gm_recording_query(event->newest));
}

gpumem_status gm_event_take(struct gpumem_event *event,
			    struct gm_recording **recording_out)
{
	gpumem_status status = enter(event);

	if (status != GPUMEM_OK)
		return status;
	gm_recording_keep(event->newest);
	*recording_out = event->newest;
	return leave(event, GPUMEM_OK);
}

/* Without the mutex: the event may be recorded again meanwhile. */
gpumem_status gm_event_sync(struct gpumem_event *event)
{
	struct gm_recording *recording;
	gpumem_status status = gm_event_take(event, &recording);

	if (status != GPUMEM_OK)
		return status;
	status = gm_recording_sync(recording);
	(void)gm_recording_drop(recording);
	return status;
}

gpumem_status gm_event_native(struct gpumem_event *event, void **native_out)
{
	gpumem_status status = enter(event);

	if (status != GPUMEM_OK)
		return status;
	if (!event->device->ops->event_native)
		status = gm_fail(GPUMEM_UNSUPPORTED,
				 "events of backend %s are none of the "
				 "vendor's",
				 event->device->ops->name);
	else if (!event->recorded)
		status = gm_fail(GPUMEM_INVALID,
				 "the event was never recorded: it stands for "
				 "no event of the vendor's");
	else
		status = gm_recording_native(event->newest, native_out);
	return leave(event, status);
}

gpumem_status gm_event_stream_wait(struct gpumem_device *device,
				   gpumem_stream stream,
				   struct gpumem_event *event)
{
	gpumem_status status = enter(event);

	if (status != GPUMEM_OK)
		return status;
	if (event->device != device)
		status = gm_fail(GPUMEM_INVALID,
				 "the event is of %s, the stream of %s",
				 event->device->info.name, device->info.name);
	else
		status = gm_recording_stream_wait(event->newest, stream);
	return leave(event, status);
}
