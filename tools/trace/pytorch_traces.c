/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The part of a snapshot that says what happened on each device.
 */
#include "pytorch.h"

#include "common/clean.h"

#include <stdlib.h>

static void put_entry(struct snapshot *snapshot, enum snapshot_word action,
		      const struct recording_event *event, uint64_t bytes,
		      uint64_t stack)
{
	const struct gpumem_record_header *header =
		&snapshot->source->recording.header;
	const char *tag = trace_tag(snapshot->source, event->tag);
	struct pickle *pickle = &snapshot->pickle;
	char *clean = tag && *tag ? clean_copy(tag) : NULL;

	pickle_item(pickle, &snapshot->entries);
	pickle_dict(pickle);
	snapshot_word(snapshot, WORD_action);
	snapshot_word(snapshot, action);
	if (action == WORD_oom)
		snapshot_put(snapshot, WORD_device_free, 0);
	snapshot_put(snapshot, WORD_addr,
		     recording_is_block(event) ? event->address : 0);
	snapshot_put(snapshot, WORD_size, bytes);
	snapshot_put(snapshot, WORD_stream, event->stream);
	snapshot_put(snapshot, WORD_time_us,
		     header->begin_real_ns / 1000 + event->time_ns / 1000);
	snapshot_frames(snapshot, stack);
	if (clean) {
		snapshot_word(snapshot, WORD_user_metadata);
		pickle_text(pickle, clean);
	}
	pickle_dict_end(pickle);
	free(clean);
}

/* Whoever reads it puts the two together: nothing that other streams do is
 * recorded between them. */
static void put_free(struct snapshot *snapshot,
		     const struct recording_event *event, uint64_t bytes)
{
	put_entry(snapshot, WORD_free_requested, event, bytes, 0);
	put_entry(snapshot, WORD_free_completed, event, bytes, 0);
}

static bool put_event(const struct recording_event *event,
		      const struct history_block *block, void *user)
{
	struct snapshot *snapshot = user;

	if (trace_device(snapshot->source, event->pool) != snapshot->device)
		return true;
	switch (event->kind) {
	case GPUMEM_RECORD_LIVE:
	case GPUMEM_RECORD_ALLOC:
		put_entry(snapshot, WORD_alloc, event, event->bytes,
			  block->stack);
		break;
	case GPUMEM_RECORD_FREE:
		put_free(snapshot, event, event->bytes);
		break;
	case GPUMEM_RECORD_RESIZE:
		put_free(snapshot, event, block->bytes);
		put_entry(snapshot, WORD_alloc, event, event->bytes,
			  block->stack);
		break;
	case GPUMEM_RECORD_OOM:
		put_entry(snapshot, WORD_oom, event, event->value[0], 0);
		break;
	default:
		break;
	}
	return true;
}

bool snapshot_traces(struct snapshot *snapshot, const char *key, unsigned first,
		     unsigned count)
{
	struct pickle_list devices;
	bool ok = true;

	pickle_text(&snapshot->pickle, key);
	pickle_list(&snapshot->pickle, &devices);
	for (unsigned i = 0; i < count && ok; i++) {
		snapshot->device = first + i;
		pickle_item(&snapshot->pickle, &devices);
		pickle_list(&snapshot->pickle, &snapshot->entries);
		ok = trace_each(snapshot->source, put_event, NULL, snapshot);
		pickle_list_end(&snapshot->pickle, &snapshot->entries);
	}
	pickle_list_end(&snapshot->pickle, &devices);
	return ok;
}
