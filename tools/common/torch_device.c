/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The entries of one device of a snapshot.
 */
#include "torch_device.h"

#include <stdio.h>
#include <stdlib.h>

bool torch_fail(struct torch_history *history, const char *reason)
{
	snprintf(history->reason, sizeof(history->reason), "%s", reason);
	return false;
}

bool torch_no_memory(struct torch_history *history)
{
	return torch_fail(history, "out of host memory");
}

void torch_device_init(struct torch_device *device,
		       struct torch_history *history, struct unpickle *unpickle,
		       unsigned pool)
{
	*device = (struct torch_device){.history = history,
					.unpickle = unpickle,
					.events = &history->pools[pool]};
	trace_ids_init(&device->pending);
	trace_ids_init(&device->tags);
}

void torch_device_free(struct torch_device *device)
{
	ranges_free(&device->live);
	ranges_free(&device->gone);
	ranges_free(&device->mapped);
	ranges_free(&device->unmapped);
	ranges_free(&device->at_end);
	trace_ids_free(&device->pending);
	trace_ids_free(&device->tags);
	free(device->doubts);
	free(device->blocks.list);
	free(device->segments.list);
}

/* ---- entries ---- */

#define US_MAX (INT64_MAX / 1000)

static void read_time(struct torch_device *device,
		      const struct unpickled *entry, uint64_t *us_out)
{
	struct torch_history *history = device->history;

	if (!unpickle_get_u64(device->unpickle, entry, "time_us", us_out) ||
	    *us_out > US_MAX) {
		*us_out = 0;
		return;
	}
	if (!history->begin_us || *us_out < history->begin_us)
		history->begin_us = *us_out;
}

enum action {
	NO_ACTION,
	NEW_ACTION,
	ALLOC,
	FREE,
	FREE_REQUESTED,
	FREE_COMPLETED,
	ANNOTATE,
	GROW,
	GROW_PART,
	SHRINK,
	OOM,
	NOTHING
};

static enum action find_action(const struct unpickled *text)
{
	static const struct {
		const char *text;
		enum action action;
	} actions[] = {
		{"alloc", ALLOC},
		{"free_requested", FREE_REQUESTED},
		{"free_completed", FREE_COMPLETED},
		{"free", FREE},
		{"annotate", ANNOTATE},
		{"segment_alloc", GROW},
		{"segment_map", GROW_PART},
		{"segment_free", SHRINK},
		{"segment_unmap", SHRINK},
		{"oom", OOM},
		{"snapshot", NOTHING},
		{"user_defined", NOTHING},
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (unpickled_is(text, actions[i].text))
			return actions[i].action;
	return text && text->kind == UNPICKLED_TEXT ? NEW_ACTION : NO_ACTION;
}

/* Address, size, stream and time; false: that cannot be. */
static bool read_event(struct torch_device *device,
		       const struct unpickled *entry, enum action action,
		       struct torch_event *event)
{
	const struct unpickle *unpickle = device->unpickle;
	bool has_size =
		unpickle_get_u64(unpickle, entry, "size", &event->bytes) &&
		event->bytes <= RECORDING_BYTES_MAX;

	(void)unpickle_get_bits(unpickle, entry, "stream", &event->stream);
	if (action == OOM)
		return has_size;
	return unpickle_get_bits(unpickle, entry, "addr", &event->address) &&
	       (has_size || action == ANNOTATE);
}

/* A free has the metadata and the frames of its own moment, which say nothing
 * of the block. */
static bool add_alloc(struct torch_device *device,
		      const struct unpickled *entry, struct torch_event event)
{
	return torch_read_tag(device, entry, &event.tag) &&
	       torch_read_stack(device, entry, &event.stack) &&
	       torch_alloc(device, event);
}

static bool add_annotation(struct torch_device *device,
			   const struct unpickled *entry,
			   struct torch_event event)
{
	return torch_read_tag(device, entry, &event.tag) &&
	       torch_annotate(device, &event);
}

static bool add(struct torch_device *device, const struct unpickled *entry,
		enum action action, struct torch_event event)
{
	switch (action) {
	case ALLOC:
		return add_alloc(device, entry, event);
	case FREE_REQUESTED:
		device->free_requested = true;
		return torch_free(device, event, false);
	case FREE:
	case FREE_COMPLETED:
		return torch_free(device, event, true);
	case GROW:
	case GROW_PART:
		return torch_grow(device, event, action == GROW);
	default:
		return torch_shrink(device, event);
	}
}

/* Frames that are named again are read where they come first, whatever that is
 * an entry of: they need not be kept then. */
static bool read_shared_frames(struct torch_device *device,
			       const struct unpickled *entry)
{
	const struct unpickled *frames =
		unpickle_get(device->unpickle, entry, "frames");
	uint32_t unused;

	return !frames || !unpickle_is_kept(device->unpickle, frames) ||
	       torch_read_stack(device, entry, &unused);
}

bool torch_entry(struct torch_device *device, const struct unpickled *entry)
{
	const struct unpickled *text =
		unpickle_get(device->unpickle, entry, "action");
	enum action action = find_action(text);
	struct torch_event event = {0};

	if (!torch_unknown_keys(device->history, device->unpickle, entry,
				TORCH_ENTRY) ||
	    !read_shared_frames(device, entry))
		return false;
	read_time(device, entry, &event.us);
	if (action == NEW_ACTION)
		return torch_unknown(device->history, "action", text->text,
				     text->bytes);
	if (action == NOTHING)
		return true;
	if (action == NO_ACTION || !read_event(device, entry, action, &event)) {
		device->history->damaged++;
		return true;
	}
	if (action == ANNOTATE)
		return add_annotation(device, entry, event);
	if (action == OOM) {
		event.kind = GPUMEM_RECORD_OOM;
		return torch_events_add(device->events, event) ||
		       torch_no_memory(device->history);
	}
	return !event.bytes || add(device, entry, action, event);
}
