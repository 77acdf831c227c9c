/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The part of a snapshot that says what happened on each device.
 */
#include "pytorch.h"

#include "common/clean.h"

#include <stdlib.h>

static void put_entry(struct snapshot *snapshot, enum gm_torch_word action,
		      const struct recording_event *event, uint64_t bytes,
		      uint64_t stack)
{
	const struct gpumem_record_header *header =
		&snapshot->source->recording.header;
	const char *tag = trace_tag(snapshot->source, event->tag);
	char *clean = tag && *tag ? clean_copy(tag) : NULL;
	const struct gm_torch_entry entry = {
		.action = action,
		.address = recording_is_block(event) ? event->address : 0,
		.bytes = bytes,
		.stream = event->stream,
		.time_us = header->begin_real_ns / 1000 + event->time_ns / 1000,
		.stack = stack,
		.tag = clean};

	gm_torch_put(&snapshot->torch, &entry);
	free(clean);
}

/* Whoever reads it puts the two together: nothing that other streams do is
 * recorded between them. */
static void put_free(struct snapshot *snapshot,
		     const struct recording_event *event, uint64_t bytes)
{
	put_entry(snapshot, GM_TORCH_free_requested, event, bytes, 0);
	put_entry(snapshot, GM_TORCH_free_completed, event, bytes, 0);
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
		put_entry(snapshot, GM_TORCH_alloc, event, event->bytes,
			  block->stack);
		break;
	case GPUMEM_RECORD_FREE:
		put_free(snapshot, event, event->bytes);
		break;
	case GPUMEM_RECORD_RESIZE:
		put_free(snapshot, event, block->bytes);
		put_entry(snapshot, GM_TORCH_alloc, event, event->bytes,
			  block->stack);
		break;
	case GPUMEM_RECORD_OOM:
		put_entry(snapshot, GM_TORCH_oom, event, event->value[0], 0);
		break;
	default:
		break;
	}
	return true;
}

bool snapshot_traces(struct snapshot *snapshot, bool host)
{
	unsigned first = host ? TORCH_DEVICES : 0;
	unsigned count = host ? snapshot->hosts : snapshot->devices;
	bool ok = true;

	gm_torch_traces(&snapshot->torch, host);
	for (unsigned i = 0; i < count && ok; i++) {
		snapshot->device = first + i;
		gm_torch_device(&snapshot->torch);
		ok = trace_each(snapshot->source, put_event, NULL, snapshot);
	}
	return ok;
}
