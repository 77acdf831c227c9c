/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The store of events: making one costs a driver call, so they are kept. */
#include "order.h"
#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>
#include <time.h>

/* There is room in the store for every event that was made, so that giving one
 * back cannot fail. */
static gpumem_status make(struct gm_heap *heap, void **event_out)
{
	struct gm_events *events = &heap->order->events;
	gpumem_status status;

	if (events->made == events->room) {
		size_t room = events->room ? 2 * events->room : 16;
		void **larger = realloc(events->event, room * sizeof(*larger));

		if (!larger)
			return gm_fail(GPUMEM_NO_HOST_MEMORY,
				       "no host memory for events");
		events->event = larger;
		events->room = room;
	}
	status = gm_driver_event_create(&heap->driver, event_out);
	if (status == GPUMEM_OK)
		events->made++;
	return status;
}

static gpumem_status take(struct gm_heap *heap, void **event_out)
{
	struct gm_events *events = &heap->order->events;

	if (!events->count)
		return make(heap, event_out);
	*event_out = events->event[--events->count];
	return GPUMEM_OK;
}

void gm_events_give(struct gm_heap *heap, void *event)
{
	heap->order->events.event[heap->order->events.count++] = event;
}

gpumem_status gm_events_record(struct gm_heap *heap, gpumem_stream stream,
			       void **event_out)
{
	void *event;
	gpumem_status status = take(heap, &event);

	if (status != GPUMEM_OK)
		return status;
	status = gm_driver_event_record(&heap->driver, event, stream);
	if (status != GPUMEM_OK) {
		gm_events_give(heap, event);
		return status;
	}
	*event_out = event;
	return GPUMEM_OK;
}

gpumem_status gm_events_wait(struct gm_heap *heap, void *event)
{
	const struct timespec pause = {.tv_nsec = 100 * 1000};
	gpumem_status status = gm_driver_event_sync(&heap->driver, event);

	if (status == GPUMEM_OK || status == GPUMEM_LOST)
		return status;
	while ((status = gm_driver_event_query(&heap->driver, event)) ==
	       GPUMEM_NOT_READY)
		nanosleep(&pause, NULL);
	return status;
}

gpumem_status gm_events_wait_until(struct gm_heap *heap, void *event,
				   uint64_t deadline_ns)
{
	uint64_t now = gm_clock_ns();

	if (deadline_ns == UINT64_MAX)
		return gm_events_wait(heap, event);
	return gm_driver_event_wait(&heap->driver, event,
				    deadline_ns > now ? deadline_ns - now : 0);
}

gpumem_status gm_events_ask(struct gm_heap *heap, void *event)
{
	return gm_driver_event_query(&heap->driver, event);
}

void gm_events_fini(struct gm_heap *heap)
{
	struct gm_events *events = &heap->order->events;

	while (events->count) {
		/* An event that will not go costs no more than itself. */
		(void)gm_driver_event_destroy(&heap->driver,
					      events->event[--events->count]);
	}
	free(events->event);
	*events = (struct gm_events){0};
}
