/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the history of a device says of memory that was taken from the driver
 * and given back.
 */
#include "torch_device.h"

#include <stdlib.h>

static bool add(struct torch_device *device, uint8_t kind,
		struct torch_event event)
{
	event.kind = kind;
	return !event.bytes || torch_events_add(device->events, event) ||
	       torch_no_memory(device->history);
}

/* ---- in the history ---- */

bool torch_grow_unsaid(struct torch_device *device, struct torch_event event,
		       uint64_t bytes)
{
	struct range now = {.first = event.address,
			    .last = range_last(event.address, event.bytes),
			    .value = device->events->count};
	uint64_t behind;

	if (!ranges_replace(&device->unmapped, now, &behind))
		return torch_no_memory(device->history);
	event.kind = GPUMEM_RECORD_GROW;
	event.bytes = bytes;
	if (!behind)
		device->events->begin_reserved += bytes;
	return !behind || torch_events_insert(device->events, behind, event) ||
	       torch_no_memory(device->history);
}

/* A whole segment that lies there was given back. */
static bool give_back(struct torch_device *device,
		      const struct torch_event *event)
{
	uint64_t last = range_last(event->address, event->bytes);
	struct range *segment;

	while ((segment = ranges_find(&device->mapped, event->address, last))) {
		struct torch_event end = {.us = event->us,
					  .address = segment->first,
					  .bytes = segment->last -
						   segment->first + 1};

		if (!torch_shrink(device, end))
			return false;
	}
	return true;
}

/* One that is expandable grows by parts, which may have been there. */
bool torch_grow(struct torch_device *device, struct torch_event event,
		bool whole)
{
	struct range segment = {.first = event.address,
				.last = range_last(event.address, event.bytes)};
	uint64_t known;

	device->grows = true;
	if (whole && !give_back(device, &event))
		return false;
	if (!ranges_cut(&device->mapped, segment.first, segment.last, &known) ||
	    !ranges_add(&device->mapped, segment))
		return torch_no_memory(device->history);
	event.bytes -= known;
	return add(device, GPUMEM_RECORD_GROW, event);
}

bool torch_shrink(struct torch_device *device, struct torch_event event)
{
	struct range segment = {.first = event.address,
				.last = range_last(event.address, event.bytes)};
	uint64_t known, before;

	device->grows = true;
	if (!ranges_cut(&device->mapped, segment.first, segment.last, &known))
		return torch_no_memory(device->history);
	if (known < event.bytes &&
	    !torch_grow_unsaid(device, event, event.bytes - known))
		return false;
	if (!add(device, GPUMEM_RECORD_SHRINK, event))
		return false;
	segment.value = device->events->count;
	return ranges_replace(&device->unmapped, segment, &before) ||
	       torch_no_memory(device->history);
}
