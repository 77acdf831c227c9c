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

/* What an entry says, by key; NULL: nothing. */
struct entry {
	const struct unpickled *of[TORCH_ENTRY_COUNT];
};

static void read_time(struct torch_history *history, const struct entry *entry,
		      uint64_t *us_out)
{
	if (!unpickled_u64(entry->of[TORCH_ENTRY_time_us], us_out) ||
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
static bool read_event(const struct entry *entry, enum action action,
		       struct torch_event *event)
{
	bool has_size =
		unpickled_u64(entry->of[TORCH_ENTRY_size], &event->bytes) &&
		event->bytes <= RECORDING_BYTES_MAX;

	(void)unpickled_bits(entry->of[TORCH_ENTRY_stream], &event->stream);
	if (action == OOM)
		return has_size;
	return unpickled_bits(entry->of[TORCH_ENTRY_addr], &event->address) &&
	       (has_size || action == ANNOTATE);
}

static bool read_tag(struct torch_device *device, const struct entry *entry,
		     uint16_t *tag_out)
{
	return torch_read_tag(device, entry->of[TORCH_ENTRY_user_metadata],
			      entry->of[TORCH_ENTRY_internal_metadata],
			      tag_out);
}

/* A free has the metadata and the frames of its own moment, which say nothing
 * of the block. */
static bool add_alloc(struct torch_device *device, const struct entry *entry,
		      struct torch_event event)
{
	return read_tag(device, entry, &event.tag) &&
	       torch_read_stack(device, entry->of[TORCH_ENTRY_frames],
				&event.stack) &&
	       torch_alloc(device, event);
}

static bool add_annotation(struct torch_device *device,
			   const struct entry *entry, struct torch_event event)
{
	return read_tag(device, entry, &event.tag) &&
	       torch_annotate(device, &event);
}

static bool add(struct torch_device *device, const struct entry *entry,
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

/* Frames that are named again, behind what was read of the file so far, are
 * read where they come first, whatever that is an entry of: they need not be
 * kept then. */
static bool read_shared_frames(struct torch_device *device,
			       const struct unpickled *frames)
{
	uint32_t unused;

	return !frames || !unpickle_is_named(device->unpickle, frames) ||
	       torch_read_stack(device, frames, &unused);
}

static bool act(struct torch_device *device, const struct entry *entry,
		enum action action, struct torch_event event)
{
	if (action == NOTHING)
		return true;
	if (action == NO_ACTION || !read_event(entry, action, &event)) {
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

bool torch_entry(struct torch_device *device, const struct unpickled *dict)
{
	const struct unpickled *text;
	struct torch_event event = {0};
	struct entry entry;
	enum action action;

	if (!torch_entry_values(device, dict, entry.of) ||
	    !read_shared_frames(device, entry.of[TORCH_ENTRY_frames]))
		return false;
	text = entry.of[TORCH_ENTRY_action];
	action = find_action(text);
	read_time(device->history, &entry, &event.us);
	if (action != NEW_ACTION)
		return act(device, &entry, action, event);
	return torch_unknown(device->history, "action", text->text,
			     text->bytes);
}
