/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a writer is told: the events of a recording that were asked for, with
 * streams, and if so wished threads, numbered as they come. Where it is to
 * begin late, it begins with what is live and reserved then.
 */
#include "asked.h"

#include "common/tool.h"

#include <stdlib.h>

enum { POOLS = UINT16_MAX + 1 };

/* A pool before the moment at which it is to begin. */
struct before {
	uint64_t reserved;
	bool seen;
};

struct each {
	struct trace_source *source;
	history_fn fn;
	history_live_fn live; /* or NULL */
	void *user;
	struct history history;
	struct trace_ids streams, threads;
	struct asked asked;
	struct before *pools; /* NULL: it has begun */
	bool failed;	      /* out of memory */
};

/* ---- numbers ---- */

static uint64_t number(struct each *each, struct trace_ids *ids, uint64_t id)
{
	uint32_t found = trace_ids_find(ids, id);

	if (found != TRACE_NO_SLOT)
		return found;
	if (!trace_ids_add(ids, id, (uint32_t)ids->count))
		each->failed = true;
	return ids->count - !each->failed;
}

static void number_event(struct each *each, struct recording_event *event)
{
	event->stream = number(each, &each->streams, event->stream);
	if (event->kind == GPUMEM_RECORD_DROP)
		event->value[0] = number(each, &each->streams, event->value[0]);
	if (event->kind == GPUMEM_RECORD_TRANSFER && event->values > 1)
		event->value[1] = number(each, &each->streams, event->value[1]);
	if (each->source->config->anonymise)
		event->thread =
			(uint32_t)number(each, &each->threads, event->thread) +
			1;
}

/* ---- what was asked for ---- */

static bool block_passes(const struct trace_config *config,
			 const struct history_block *block)
{
	return block->begin_bytes >= config->min_bytes &&
	       (!config->one_stream || block->stream == config->stream);
}

static bool passes(const struct trace_source *source,
		   const struct recording_event *event,
		   const struct history_block *block)
{
	return asked_pool(source, event->pool) &&
	       (!block || block_passes(source->config, block));
}

static void note_before(struct before *pool,
			const struct recording_event *event)
{
	pool->seen = event->kind != GPUMEM_RECORD_POOL_END;
	if (event->kind == GPUMEM_RECORD_POOL)
		pool->reserved = event->value[0];
	if (event->kind == GPUMEM_RECORD_GROW ||
	    event->kind == GPUMEM_RECORD_SHRINK)
		pool->reserved = event->value[1];
}

static bool pass(const struct recording_event *event,
		 const struct history_block *block, void *user)
{
	struct each *each = user;

	if (!each->pools)
		return !passes(each->source, event, block) ||
		       each->fn(event, block, each->user);
	note_before(&each->pools[event->pool], event);
	return true;
}

/* ---- the beginning ---- */

static bool tell_live(const struct history_block *block, void *user)
{
	struct each *each = user;
	const struct recording_event event = {
		.time_ns = each->source->config->from_ns,
		.address = block->address,
		.bytes = block->bytes,
		.stream = block->stream,
		.stack = block->stack,
		.thread = block->thread,
		.pool = block->pool,
		.tag = block->tag,
		.kind = GPUMEM_RECORD_LIVE,
	};

	return pass(&event, block, each);
}

static bool begin(struct each *each)
{
	struct before *pools = each->pools;
	struct recording_event event = {
		.time_ns = each->source->config->from_ns,
		.kind = GPUMEM_RECORD_POOL,
		.values = 1,
	};
	bool ok = true;

	each->pools = NULL;
	for (unsigned i = 0; i < POOLS && ok; i++) {
		event.pool = (uint16_t)i;
		event.value[0] = pools[i].reserved;
		ok = !pools[i].seen || pass(&event, NULL, each);
	}
	free(pools);
	return ok && history_visit(&each->history, tell_live, each);
}

/* ---- all of it ---- */

static bool tell_rest(const struct history_block *block, void *user)
{
	struct each *each = user;

	return !asked_pool(each->source, block->pool) ||
	       !block_passes(each->source->config, block) ||
	       each->live(block, each->user);
}

static bool next(struct trace_source *source, struct recording_event *event)
{
	if (source->is_torch)
		return torch_next(&source->torch, event);
	if (source->is_text)
		return lines_next(&source->lines, event);
	return recording_next(&source->recording, event);
}

static bool rewind_all(struct trace_source *source)
{
	source->lines.next = 0;
	if (source->is_torch)
		torch_rewind(&source->torch);
	return source->is_torch || source->is_text ||
	       recording_rewind(&source->recording);
}

static bool read_all(struct each *each)
{
	const struct trace_config *config = each->source->config;
	struct recording_event event;

	while (next(each->source, &event)) {
		if (event.time_ns > config->until_ns) {
			each->asked.late = true;
			break;
		}
		if (each->pools && event.time_ns >= config->from_ns &&
		    !begin(each))
			return false;
		number_event(each, &event);
		each->failed |= !asked_note(&each->asked, &event);
		if (each->failed || !history_feed(&each->history, &event))
			return false;
	}
	if (each->pools && (!asked_time(&each->asked) || !begin(each)))
		return false;
	return !each->live || history_visit(&each->history, tell_rest, each);
}

static bool prepare(struct each *each)
{
	const struct gpumem_record_header *header =
		&each->source->recording.header;
	bool ok = history_init(&each->history, pass, each);

	each->history.by_pool = each->source->is_torch;
	each->history.whole = !each->source->is_torch &&
			      !each->source->is_text && !header->lost_events &&
			      !header->overwritten_events;
	trace_ids_init(&each->streams);
	trace_ids_init(&each->threads);
	asked_init(&each->asked, each->source);
	each->pools = calloc(POOLS, sizeof(*each->pools));
	/* The default stream is 0. */
	(void)number(each, &each->streams, 0);
	ok = ok && each->pools && !each->failed;
	if (ok && each->source->begun)
		ok = rewind_all(each->source);
	each->source->begun = true;
	each->failed = !ok;
	return ok;
}

bool trace_each(struct trace_source *source, history_fn fn,
		history_live_fn live, void *user)
{
	struct each each = {
		.source = source, .fn = fn, .live = live, .user = user};
	bool ok = prepare(&each) && read_all(&each);

	ok = ok && asked_found(&each.asked);
	source->unknown = each.history.unknown;
	source->unended = each.history.unended + source->torch.unended;
	if (each.failed || each.history.failed)
		tool_error("%s: out of host memory", source->config->file);
	free(each.pools);
	trace_ids_free(&each.streams);
	trace_ids_free(&each.threads);
	asked_free(&each.asked);
	history_free(&each.history);
	return ok;
}
