/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See history.h.
 */
#include "history.h"

#include <stdlib.h>

enum { POOLS = UINT16_MAX + 1, FIRST_ROOM = 1024 };

bool history_init(struct history *history, history_fn fn, void *user)
{
	*history = (struct history){
		.fn = fn, .user = user, .free_slot = TRACE_NO_SLOT};
	trace_ids_init(&history->ids);
	history->first = malloc(POOLS * sizeof(*history->first));
	if (!history->first)
		return false;
	for (unsigned i = 0; i < POOLS; i++)
		history->first[i] = TRACE_NO_SLOT;
	return true;
}

void history_free(struct history *history)
{
	trace_ids_free(&history->ids);
	free(history->blocks);
	free(history->first);
	*history = (struct history){0};
}

/* What stands for an address: of pools that may have the same, each has its
 * own. */
static uint64_t key(const struct history *history, uint64_t address,
		    uint16_t pool)
{
	return history->by_pool ? address ^ pool * UINT64_C(0x9e3779b97f4a7c15)
				: address;
}

/* ---- slots ---- */

static bool take_slot(struct history *history, uint32_t *slot_out)
{
	uint64_t room = history->room ? history->room * 2 : FIRST_ROOM;
	struct history_block *blocks;

	if (history->free_slot != TRACE_NO_SLOT) {
		*slot_out = history->free_slot;
		history->free_slot = history->blocks[*slot_out].next;
		return true;
	}
	if (history->used == history->room) {
		if (room >= TRACE_NO_SLOT)
			return false;
		blocks = realloc(history->blocks, room * sizeof(*blocks));
		if (!blocks)
			return false;
		history->blocks = blocks;
		history->room = room;
	}
	*slot_out = (uint32_t)history->used++;
	return true;
}

static void link_block(struct history *history, uint32_t slot)
{
	struct history_block *block = &history->blocks[slot];
	uint32_t *first = &history->first[block->pool];

	block->next = *first;
	block->before = TRACE_NO_SLOT;
	if (*first != TRACE_NO_SLOT)
		history->blocks[*first].before = slot;
	*first = slot;
}

static void unlink_block(struct history *history, uint32_t slot)
{
	const struct history_block *block = &history->blocks[slot];

	if (block->next != TRACE_NO_SLOT)
		history->blocks[block->next].before = block->before;
	if (block->before != TRACE_NO_SLOT)
		history->blocks[block->before].next = block->next;
	else
		history->first[block->pool] = block->next;
}

/* ---- events ---- */

static bool end(struct history *history, uint32_t slot,
		const struct recording_event *event)
{
	struct history_block *block = &history->blocks[slot];
	struct recording_event last = *event;

	last.kind = GPUMEM_RECORD_FREE;
	last.bytes = block->bytes;
	last.pool = block->pool;
	if (!history->fn(&last, block, history->user))
		return false;
	unlink_block(history, slot);
	(void)trace_ids_take(&history->ids,
			     key(history, block->address, block->pool));
	history->live_bytes -= block->bytes;
	block->next = history->free_slot;
	history->free_slot = slot;
	return true;
}

/* An end that nobody said: on the stream that the block is of. */
static bool end_unsaid(struct history *history, uint32_t slot,
		       const struct recording_event *event)
{
	struct recording_event last = *event;

	last.address = history->blocks[slot].address;
	last.stream = history->blocks[slot].stream;
	last.tag = history->blocks[slot].tag;
	return end(history, slot, &last);
}

static bool begin(struct history *history, const struct recording_event *event)
{
	uint64_t live;
	uint32_t slot;

	if (__builtin_add_overflow(history->live_bytes, event->bytes, &live)) {
		history->unknown++;
		return true;
	}
	if (!take_slot(history, &slot) ||
	    !trace_ids_add(&history->ids,
			   key(history, event->address, event->pool), slot)) {
		history->failed = true;
		return false;
	}
	history->blocks[slot] = (struct history_block){
		.address = event->address,
		.bytes = event->bytes,
		.begin_bytes = event->bytes,
		.stream = event->stream,
		.begin_ns = event->time_ns,
		.stack = event->stack,
		.id = ++history->begun,
		.thread = event->thread,
		.pool = event->pool,
		.tag = event->tag,
	};
	link_block(history, slot);
	history->live_bytes = live;
	return history->fn(event, &history->blocks[slot], history->user);
}

static bool resize(struct history *history, uint32_t slot,
		   const struct recording_event *event)
{
	uint64_t others = history->live_bytes - history->blocks[slot].bytes;
	uint64_t live;

	if (__builtin_add_overflow(others, event->bytes, &live)) {
		history->unknown++;
		return true;
	}
	if (!history->fn(event, &history->blocks[slot], history->user))
		return false;
	history->blocks[slot].bytes = event->bytes;
	history->live_bytes = live;
	return true;
}

/* An end that was unknown until its block began. Where events were lost an end
 * is more likely of a block whose beginning was. */
static bool end_early(struct history *history,
		      const struct recording_event *begun)
{
	uint32_t slot = trace_ids_find(
		&history->ids, key(history, begun->address, begun->pool));
	struct recording_event last;

	if (!history->whole || slot == TRACE_NO_SLOT ||
	    !history_early_take(&history->early, begun, &last))
		return true;
	history->unknown--;
	return end(history, slot, &last);
}

static bool feed_block(struct history *history,
		       const struct recording_event *event)
{
	uint32_t slot = trace_ids_find(
		&history->ids, key(history, event->address, event->pool));
	bool live = slot != TRACE_NO_SLOT;

	switch (event->kind) {
	case GPUMEM_RECORD_LIVE:
	case GPUMEM_RECORD_ALLOC:
		history->unended += live;
		if (live && !end_unsaid(history, slot, event))
			return false;
		return begin(history, event) && end_early(history, event);
	case GPUMEM_RECORD_FREE:
		if (live)
			return end(history, slot, event);
		history_early_put(&history->early, event);
		break;
	case GPUMEM_RECORD_RESIZE:
		if (live)
			return resize(history, slot, event);
		break;
	default:
		if (live)
			return history->fn(event, &history->blocks[slot],
					   history->user);
		break;
	}
	history->unknown++;
	return true;
}

bool history_feed(struct history *history, const struct recording_event *event)
{
	const uint32_t *first = &history->first[event->pool];

	if (recording_is_block(event))
		return feed_block(history, event);
	while (event->kind == GPUMEM_RECORD_POOL_END && *first != TRACE_NO_SLOT)
		if (!end_unsaid(history, *first, event))
			return false;
	return history->fn(event, NULL, history->user);
}

/* ---- what is live ---- */

static int compare_ids(const void *a, const void *b)
{
	const struct history_block *const *one = a, *const *other = b;

	return ((*one)->id > (*other)->id) - ((*one)->id < (*other)->id);
}

static size_t collect(const struct history *history,
		      const struct history_block **live)
{
	size_t count = 0;

	for (unsigned pool = 0; pool < POOLS; pool++)
		for (uint32_t slot = history->first[pool];
		     slot != TRACE_NO_SLOT; slot = history->blocks[slot].next)
			live[count++] = &history->blocks[slot];
	return count;
}

bool history_visit(struct history *history, history_live_fn fn, void *user)
{
	const struct history_block **live =
		malloc((history->ids.count + 1) * sizeof(*live));
	size_t count;
	bool ok = live != NULL;

	history->failed |= !ok;
	count = ok ? collect(history, live) : 0;
	if (count)
		qsort((void *)live, count, sizeof(*live), compare_ids);
	for (size_t i = 0; i < count && ok; i++)
		ok = fn(live[i], user);
	free((void *)live);
	return ok;
}
