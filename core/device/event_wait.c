/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A wait for an event that ends at a time, see driver.h. The drivers of most
 * devices have none: their events are asked, at growing intervals. */
#include "driver_call.h"
#include "base/clock.h"

static const long first_pause_ns = 20 * 1000, longest_pause_ns = 1000 * 1000;

static gpumem_status ask_until(struct gm_driver *driver, void *event,
			       uint64_t deadline_ns)
{
	struct timespec pause = {.tv_nsec = first_pause_ns};
	gpumem_status status;

	while ((status = gm_driver_event_query(driver, event)) ==
		       GPUMEM_NOT_READY &&
	       gm_clock_ns() < deadline_ns) {
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < longest_pause_ns)
			pause.tv_nsec *= 2;
	}
	return status;
}

gpumem_status gm_driver_event_wait(struct gm_driver *driver, void *event,
				   uint64_t ns)
{
	struct gm_call call;

	if (!driver->device->ops->event_wait)
		return ask_until(driver, event, gm_clock_ns() + ns);
	call = gm_call_begin_counted(driver, GPUMEM_SLOT_event_wait);
	if (call.status == GPUMEM_OK)
		call.status = call.ops->event_wait(call.handle, event, ns);
	return gm_call_end(&call);
}
