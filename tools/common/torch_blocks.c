/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What happens to the blocks of a device of a snapshot, entry by entry.
 *
 * A block ends when the program frees it, free_requested, not when PyTorch may
 * use its memory again, free_completed, which is PyTorch's policy. Where only
 * one of the two was recorded, a block ends at that.
 */
#include "torch_device.h"

#include <stdlib.h>

static bool add(struct torch_device *device, uint8_t kind,
		struct torch_event event)
{
	event.kind = kind;
	return torch_events_add(device->events, event) ||
	       torch_no_memory(device->history);
}

/* Behind all events so far nothing is there any more. */
static bool leave(struct torch_device *device, uint64_t first, uint64_t last)
{
	uint64_t before;

	return ranges_replace(&device->gone,
			      (struct range){.first = first,
					     .last = last,
					     .value = device->events->count},
			      &before) ||
	       torch_no_memory(device->history);
}

/* ---- beginnings ---- */

/* The tag that was put on a block before its beginning was known. */
static void take_tag(struct torch_device *device, struct torch_event *event)
{
	uint32_t tag = trace_ids_take(&device->tags, event->address);

	if (tag != TRACE_NO_SLOT && !event->tag)
		event->tag = (uint16_t)tag;
}

bool torch_begin_unsaid(struct torch_device *device, struct torch_event event)
{
	uint64_t last = range_last(event.address, event.bytes);
	struct range now = {.first = event.address,
			    .last = last,
			    .value = device->events->count};
	uint64_t behind;

	take_tag(device, &event);
	if (!ranges_replace(&device->gone, now, &behind))
		return torch_no_memory(device->history);
	event.kind = behind ? GPUMEM_RECORD_ALLOC : GPUMEM_RECORD_LIVE;
	return torch_events_insert(device->events, behind, event) ||
	       torch_no_memory(device->history);
}

bool torch_end_unsaid(struct torch_device *device, struct range *block,
		      uint64_t us)
{
	struct torch_event event =
		torch_events_get(device->events, block->value);
	uint64_t first = block->first, last = block->last;

	event.us = us;
	event.tag = 0;
	event.stack = 0;
	ranges_remove(&device->live, block);
	device->history->unended++;
	return add(device, GPUMEM_RECORD_FREE, event) &&
	       leave(device, first, last);
}

/* What lies there has ended, whether anybody said so or not. */
static bool make_way(struct torch_device *device,
		     const struct torch_event *event)
{
	uint64_t last = range_last(event->address, event->bytes);
	struct range *block;

	while ((block = ranges_find(&device->live, event->address, last)))
		if (!torch_end_unsaid(device, block, event->us))
			return false;
	return true;
}

bool torch_alloc(struct torch_device *device, struct torch_event event)
{
	struct range block = {.first = event.address,
			      .last = range_last(event.address, event.bytes)};

	if (!make_way(device, &event))
		return false;
	(void)trace_ids_take(&device->pending, event.address);
	(void)trace_ids_take(&device->tags, event.address);
	block.value = device->events->count;
	return add(device, GPUMEM_RECORD_ALLOC, event) &&
	       (ranges_add(&device->live, block) ||
		torch_no_memory(device->history));
}

/* ---- ends ---- */

static bool doubt(struct torch_device *device)
{
	size_t room = device->doubt_room ? device->doubt_room * 2 : 64;
	struct torch_doubt *doubts = device->doubts;

	if (device->doubt_count == device->doubt_room) {
		doubts = realloc(doubts, room * sizeof(*doubts));
		if (!doubts)
			return torch_no_memory(device->history);
		device->doubts = doubts;
		device->doubt_room = room;
	}
	device->doubts[device->doubt_count++] = (struct torch_doubt){
		.event = device->events->count - 1,
		.inserted = device->events->inserted_count - 1};
	return true;
}

/* Of a block whose beginning is not there. */
static bool end_unknown(struct torch_device *device, struct torch_event event,
			bool completed)
{
	return make_way(device, &event) && torch_begin_unsaid(device, event) &&
	       add(device, GPUMEM_RECORD_FREE, event) &&
	       leave(device, event.address,
		     range_last(event.address, event.bytes)) &&
	       (!completed || doubt(device));
}

static bool end_known(struct torch_device *device, struct range *block,
		      struct torch_event event)
{
	uint64_t first = block->first, last = block->last;

	event.bytes = torch_events_get(device->events, block->value).bytes;
	ranges_remove(&device->live, block);
	return add(device, GPUMEM_RECORD_FREE, event) &&
	       leave(device, first, last);
}

bool torch_free(struct torch_device *device, struct torch_event event,
		bool completed)
{
	struct range *block =
		ranges_find(&device->live, event.address, event.address);

	if (completed &&
	    trace_ids_take(&device->pending, event.address) != TRACE_NO_SLOT)
		return true;
	if (!completed &&
	    trace_ids_find(&device->pending, event.address) == TRACE_NO_SLOT &&
	    !trace_ids_add(&device->pending, event.address, 0))
		return torch_no_memory(device->history);
	if (block && block->first == event.address)
		return end_known(device, block, event);
	return end_unknown(device, event, completed);
}

/* ---- names ---- */

bool torch_annotate(struct torch_device *device,
		    const struct torch_event *event)
{
	struct range *block =
		ranges_find(&device->live, event->address, event->address);

	if (!event->tag)
		return true;
	if (block && block->first == event->address) {
		device->events->list[block->value].tag = event->tag;
		return true;
	}
	(void)trace_ids_take(&device->tags, event->address);
	return trace_ids_add(&device->tags, event->address, event->tag) ||
	       torch_no_memory(device->history);
}
