/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What happened on one device of a snapshot, as events.
 */
#include "torch_device.h"

#include <gpumem/gpumem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool torch_fail(struct torch_history *history, const char *reason)
{
	snprintf(history->reason, sizeof(history->reason), "%s", reason);
	return false;
}

static bool add(struct torch_history *history,
		const struct recording_event *event)
{
	size_t room = history->room ? history->room * 2 : 4096;
	struct recording_event *events;

	if (history->count == history->room) {
		events = realloc(history->events, room * sizeof(*events));
		if (!events)
			return torch_fail(history, "out of host memory");
		history->events = events;
		history->room = room;
	}
	history->events[history->count++] = *event;
	return true;
}

/* A list may be named many times, but no file needs more than it has bytes. */
static bool step(struct torch_history *history)
{
	if (history->steps_left--)
		return true;
	history->steps_left = 0;
	return torch_fail(history, "damaged: more than the file has room for");
}

/* ---- blocks ---- */

static bool see(struct torch_device *device, uint64_t address)
{
	return trace_ids_find(&device->seen, address) != TRACE_NO_SLOT ||
	       trace_ids_add(&device->seen, address, 0) ||
	       torch_fail(device->history, "out of host memory");
}

static bool add_block(struct torch_device *device, uint8_t kind,
		      const struct recording_event *block)
{
	struct recording_event event = *block;

	event.kind = kind;
	event.pool = device->pool;
	if (kind == GPUMEM_RECORD_FREE)
		(void)trace_ids_take(&device->live, block->address);
	else if (trace_ids_find(&device->live, block->address) ==
			 TRACE_NO_SLOT &&
		 !trace_ids_add(&device->live, block->address, 0))
		return torch_fail(device->history, "out of host memory");
	return see(device, block->address) && add(device->history, &event);
}

/* It was live before the history begins. */
static bool add_live(struct torch_device *device,
		     const struct recording_event *block)
{
	struct recording_event event = *block;

	event.time_ns = 0;
	return add_block(device, GPUMEM_RECORD_LIVE, &event);
}

static bool add_free(struct torch_device *device,
		     const struct recording_event *block)
{
	bool live =
		trace_ids_find(&device->live, block->address) != TRACE_NO_SLOT;

	return (live || add_live(device, block)) &&
	       add_block(device, GPUMEM_RECORD_FREE, block);
}

/* ---- what is taken from the driver ---- */

static bool add_segment(struct torch_device *device, uint8_t kind,
			const struct recording_event *segment)
{
	struct recording_event event = *segment;
	int64_t bytes = (int64_t)segment->bytes;

	device->reserved_bytes += kind == GPUMEM_RECORD_GROW ? bytes : -bytes;
	event.kind = kind;
	event.pool = device->pool;
	event.values = 2;
	event.value[0] = segment->bytes;
	event.value[1] = device->reserved_bytes;
	return add(device->history, &event);
}

static bool add_oom(struct torch_device *device,
		    const struct recording_event *entry)
{
	struct recording_event event = *entry;

	event.kind = GPUMEM_RECORD_OOM;
	event.pool = device->pool;
	event.values = 3;
	event.value[0] = entry->bytes;
	event.value[1] = (uint64_t)GPUMEM_NO_MEMORY;
	event.value[2] = device->reserved_bytes;
	return add(device->history, &event);
}

/* ---- entries ---- */

/* Address, size, stream and time; false: that cannot be. */
static bool read_entry(struct torch_device *device,
		       const struct unpickled *entry,
		       struct recording_event *event)
{
	const struct unpickle *unpickle = device->unpickle;
	uint64_t us = 0;

	*event = (struct recording_event){0};
	(void)unpickle_get_u64(unpickle, entry, "time_us", &us);
	(void)unpickle_get_u64(unpickle, entry, "stream", &event->stream);
	if (us < device->first_us || (us - device->first_us) > INT64_MAX / 1000)
		us = device->first_us;
	event->time_ns = (us - device->first_us) * 1000;
	(void)unpickle_get_u64(unpickle, entry, "addr", &event->address);
	return unpickle_get_u64(unpickle, entry, "size", &event->bytes) &&
	       event->bytes <= RECORDING_BYTES_MAX;
}

/* A free has the metadata and the frames of its own moment, which say nothing
 * of the block. */
static bool add_alloc(struct torch_device *device,
		      const struct unpickled *entry,
		      const struct recording_event *block)
{
	struct recording_event event = *block;

	return torch_read_tag(device, entry, &event.tag) &&
	       torch_read_stack(device, entry, &event.stack) &&
	       add_block(device, GPUMEM_RECORD_ALLOC, &event);
}

/* free_completed says when PyTorch could use the memory again, which is its
 * policy; the program freed it before. */
static bool add_entry(struct torch_device *device,
		      const struct unpickled *entry)
{
	const struct unpickled *action =
		unpickle_get(device->unpickle, entry, "action");
	struct recording_event event;

	if (!read_entry(device, entry, &event)) {
		device->history->damaged += !unpickled_is(action, "snapshot") &&
					    !unpickled_is(action, "annotate");
		return true;
	}
	if (unpickled_is(action, "oom"))
		return add_oom(device, &event);
	if (!event.bytes)
		return true;
	if (unpickled_is(action, "alloc"))
		return add_alloc(device, entry, &event);
	if (unpickled_is(action, "free_requested") ||
	    unpickled_is(action, "free"))
		return add_free(device, &event);
	if (unpickled_is(action, "segment_alloc") ||
	    unpickled_is(action, "segment_map"))
		return add_segment(device, GPUMEM_RECORD_GROW, &event);
	if (unpickled_is(action, "segment_free") ||
	    unpickled_is(action, "segment_unmap"))
		return add_segment(device, GPUMEM_RECORD_SHRINK, &event);
	return true;
}

/* ---- segments ---- */

/* What is live at the end, and of which the history says nothing. */
static bool add_rest(struct torch_device *device,
		     const struct unpickled *segment, uint64_t *address)
{
	const struct unpickle *unpickle = device->unpickle;
	const struct unpickled *blocks =
		unpickle_get(unpickle, segment, "blocks");
	struct recording_event event = {0};
	bool ok = true;

	(void)unpickle_get_u64(unpickle, segment, "stream", &event.stream);
	for (size_t i = 0; i < unpickle_count(unpickle, blocks) && ok; i++) {
		const struct unpickled *block =
			unpickle_item(unpickle, blocks, i);
		const struct unpickled *state =
			unpickle_get(unpickle, block, "state");
		uint64_t bytes = 0;

		ok = step(device->history);
		event.address = *address;
		(void)unpickle_get_u64(unpickle, block, "address",
				       &event.address);
		(void)unpickle_get_u64(unpickle, block, "size", &bytes);
		event.bytes = bytes;
		*address = event.address + bytes;
		(void)unpickle_get_u64(unpickle, block, "requested_size",
				       &event.bytes);
		if (ok && unpickled_is(state, "active_allocated") &&
		    event.bytes && event.bytes <= RECORDING_BYTES_MAX &&
		    trace_ids_find(&device->seen, event.address) ==
			    TRACE_NO_SLOT)
			ok = torch_read_stack(device, block, &event.stack) &&
			     add_live(device, &event);
	}
	return ok;
}

/* Of those of this device; adds up what they have. */
static bool add_segments(struct torch_device *device,
			 const struct unpickled *segments, uint64_t *bytes)
{
	const struct unpickle *unpickle = device->unpickle;

	for (size_t i = 0; i < unpickle_count(unpickle, segments); i++) {
		const struct unpickled *one =
			unpickle_item(unpickle, segments, i);
		uint64_t number = 0, size = 0, address = 0;

		if (!step(device->history))
			return false;
		(void)unpickle_get_u64(unpickle, one, "device", &number);
		if (number + 1 != device->pool)
			continue;
		(void)unpickle_get_u64(unpickle, one, "address", &address);
		if (unpickle_get_u64(unpickle, one, "total_size", &size) &&
		    size <= RECORDING_BYTES_MAX)
			*bytes += size;
		if (!add_rest(device, one, &address))
			return false;
	}
	return true;
}

/* ---- a device ---- */

/* What is below 0 cannot be. */
static uint64_t at_least_0(uint64_t bytes)
{
	return bytes <= INT64_MAX ? bytes : 0;
}

/* What it had at the beginning is what it has at the end less what it got: then
 * all that was counted from 0 is known. */
static bool add_pool(struct torch_device *device, size_t first, uint64_t at_end)
{
	struct torch_history *history = device->history;
	uint64_t begin = at_least_0(at_end - device->reserved_bytes);
	struct recording_event event = {.kind = GPUMEM_RECORD_POOL,
					.pool = device->pool,
					.values = 1,
					.value = {begin}};

	for (size_t i = first; i < history->count; i++) {
		struct recording_event *one = &history->events[i];
		unsigned at = one->kind == GPUMEM_RECORD_OOM ? 2 : 1;

		if (!recording_is_block(one))
			one->value[at] = at_least_0(one->value[at] + begin);
	}
	return add(history, &event);
}

bool torch_read_device(struct torch_device *device,
		       const struct unpickled *entries,
		       const struct unpickled *segments)
{
	size_t first = device->history->count;
	uint64_t bytes = 0;

	for (size_t i = 0; i < unpickle_count(device->unpickle, entries); i++)
		if (!step(device->history) ||
		    !add_entry(device,
			       unpickle_item(device->unpickle, entries, i)))
			return false;
	return add_segments(device, segments, &bytes) &&
	       ((first == device->history->count && !bytes) ||
		add_pool(device, first, bytes));
}
