/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See summary.h.
 */
#include "summary.h"

#include <stdlib.h>

bool summary_init(struct summary *summary)
{
	*summary = (struct summary){0};
	trace_ids_init(&summary->threads);
	trace_ids_init(&summary->streams);
	summary->pools = calloc(SUMMARY_POOLS, sizeof(*summary->pools));
	return summary->pools != NULL;
}

void summary_free(struct summary *summary)
{
	trace_ids_free(&summary->threads);
	trace_ids_free(&summary->streams);
	free(summary->pools);
	summary->pools = NULL;
}

static bool note(struct trace_ids *ids, uint64_t id)
{
	return trace_ids_find(ids, id) != TRACE_NO_SLOT ||
	       trace_ids_add(ids, id, 0);
}

static void add_block(struct summary_usage *usage,
		      const struct recording_event *event,
		      const struct history_block *block)
{
	switch (event->kind) {
	case GPUMEM_RECORD_LIVE:
	case GPUMEM_RECORD_ALLOC:
		usage->allocs += event->kind == GPUMEM_RECORD_ALLOC;
		usage->requested_bytes += event->bytes;
		if (++usage->blocks > usage->peak_blocks)
			usage->peak_blocks = usage->blocks;
		break;
	case GPUMEM_RECORD_FREE:
		usage->requested_bytes -= event->bytes;
		usage->blocks--;
		break;
	case GPUMEM_RECORD_RESIZE:
		usage->requested_bytes += event->bytes - block->bytes;
		break;
	default:
		break;
	}
	if (usage->requested_bytes > usage->peak_requested_bytes) {
		usage->peak_requested_bytes = usage->requested_bytes;
		usage->peak_requested_ns = event->time_ns;
	}
}

static void raise_reserved(struct summary_usage *usage, uint64_t time_ns)
{
	if (usage->reserved_bytes > usage->peak_reserved_bytes) {
		usage->peak_reserved_bytes = usage->reserved_bytes;
		usage->peak_reserved_ns = time_ns;
	}
}

static void set_reserved(struct summary *summary,
			 const struct recording_event *event, uint64_t bytes)
{
	struct summary_usage *pool = &summary->pools[event->pool];

	summary->all.reserved_bytes += bytes - pool->reserved_bytes;
	pool->reserved_bytes = bytes;
	raise_reserved(pool, event->time_ns);
	raise_reserved(&summary->all, event->time_ns);
}

static void add_reserved(struct summary *summary,
			 const struct recording_event *event)
{
	switch (event->kind) {
	case GPUMEM_RECORD_POOL:
		set_reserved(summary, event, event->value[0]);
		break;
	case GPUMEM_RECORD_SHRINK: /* what it grew by may be overwritten */
		set_reserved(summary, event, event->value[0] + event->value[1]);
		set_reserved(summary, event, event->value[1]);
		break;
	case GPUMEM_RECORD_GROW:
		set_reserved(summary, event, event->value[1]);
		break;
	case GPUMEM_RECORD_POOL_END:
		set_reserved(summary, event, 0);
		break;
	default:
		break;
	}
}

bool summary_add(const struct recording_event *event,
		 const struct history_block *block, void *user)
{
	struct summary *summary = user;
	struct summary_usage *pool = &summary->pools[event->pool];

	summary->last_ns = event->time_ns;
	summary->kinds[event->kind]++;
	if (event->kind == GPUMEM_RECORD_ALLOC)
		summary->served[event->served]++;
	summary->all.events++;
	pool->events++;
	if (block) {
		add_block(&summary->all, event, block);
		add_block(pool, event, block);
	} else {
		add_reserved(summary, event);
	}
	if (note(&summary->threads, event->thread) &&
	    (!block || note(&summary->streams, event->stream)))
		return true;
	summary->failed = true;
	return false;
}
