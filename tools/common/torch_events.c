/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See torch_events.h. */
#include "torch_events.h"

#include <gpumem/gpumem.h>

#include <stdlib.h>

/* The list with room for one more; NULL: out of memory. */
static void *grown(void *list, size_t count, size_t *room, size_t bytes)
{
	size_t more = *room ? *room * 2 : 1024;
	void *larger;

	if (count < *room)
		return list;
	larger = realloc(list, more * bytes);
	if (larger)
		*room = more;
	return larger;
}

bool torch_events_add(struct torch_events *events, struct torch_event event)
{
	struct torch_event *list = grown(events->list, events->count,
					 &events->room, sizeof(*list));

	if (!list)
		return false;
	if (event.us < events->last_us)
		event.us = events->last_us;
	events->last_us = event.us;
	events->list = list;
	events->list[events->count++] = event;
	return true;
}

bool torch_events_insert(struct torch_events *events, uint64_t behind,
			 struct torch_event event)
{
	struct torch_inserted *list =
		grown(events->inserted, events->inserted_count,
		      &events->inserted_room, sizeof(*list));

	if (!list)
		return false;
	events->inserted = list;
	events->inserted[events->inserted_count++] =
		(struct torch_inserted){.behind = behind, .event = event};
	return true;
}

/* ---- once all are there ---- */

struct place {
	uint64_t behind;
	size_t index;
};

static int compare(const void *a, const void *b)
{
	const struct place *one = a, *other = b;

	if (one->behind != other->behind)
		return one->behind < other->behind ? -1 : 1;
	return one->index < other->index ? -1 : one->index > other->index;
}

bool torch_events_finish(struct torch_events *events)
{
	size_t count = events->inserted_count;
	struct place *places = malloc((count + 1) * sizeof(*places));
	struct torch_inserted *sorted = malloc((count + 1) * sizeof(*sorted));
	bool ok = places && sorted;

	for (size_t i = 0; ok && i < count; i++)
		places[i] = (struct place){events->inserted[i].behind, i};
	if (ok && count)
		qsort(places, count, sizeof(*places), compare);
	for (size_t i = 0; ok && i < count; i++)
		sorted[i] = events->inserted[places[i].index];
	free(places);
	if (!ok) {
		free(sorted);
		return false;
	}
	free(events->inserted);
	events->inserted = sorted;
	events->inserted_room = count + 1;
	return true;
}

/* ---- one after the other ---- */

/* NULL: there is none. */
static const struct torch_event *take(const struct torch_events *events,
				      struct torch_cursor *cursor)
{
	const struct torch_inserted *inserted =
		&events->inserted[cursor->inserted_at];
	const struct torch_event *event;

	if (cursor->inserted_at < events->inserted_count &&
	    inserted->behind <= cursor->at) {
		cursor->inserted_at++;
		return &inserted->event;
	}
	if (cursor->at == events->count)
		return NULL;
	event = &events->list[cursor->at++];
	cursor->us = event->us;
	return event;
}

static uint64_t less(uint64_t reserved, uint64_t bytes)
{
	return bytes < reserved ? reserved - bytes : 0;
}

/* What the pool has reserved stands in every event of it. */
static void fill_values(struct recording_event *event,
			struct torch_cursor *cursor, uint64_t bytes)
{
	if (event->kind == GPUMEM_RECORD_GROW)
		cursor->reserved += bytes;
	if (event->kind == GPUMEM_RECORD_SHRINK)
		cursor->reserved = less(cursor->reserved, bytes);
	event->values = 2;
	event->value[0] = bytes;
	event->value[1] = cursor->reserved;
	if (event->kind != GPUMEM_RECORD_OOM)
		return;
	event->values = 3;
	event->value[1] = (uint64_t)GPUMEM_NO_MEMORY;
	event->value[2] = cursor->reserved;
}

static void begin(const struct torch_events *events,
		  struct torch_cursor *cursor,
		  struct recording_event *event_out)
{
	cursor->begun = true;
	cursor->reserved = events->begin_reserved;
	*event_out = (struct recording_event){.kind = GPUMEM_RECORD_POOL,
					      .values = 1,
					      .value = {cursor->reserved}};
}

bool torch_events_next(const struct torch_events *events,
		       struct torch_cursor *cursor,
		       struct recording_event *event_out)
{
	const struct torch_event *event;

	if (!cursor->begun) {
		begin(events, cursor, event_out);
		return true;
	}
	do {
		event = take(events, cursor);
		if (!event)
			return false;
	} while (!event->kind);
	*event_out = (struct recording_event){
		.time_ns = event->kind == GPUMEM_RECORD_LIVE ? 0 : cursor->us,
		.stream = event->stream,
		.stack = event->stack,
		.thread = event->thread,
		.tag = event->tag,
		.kind = event->kind};
	if (recording_is_block(event_out)) {
		event_out->address = event->address;
		event_out->bytes = event->bytes;
	} else {
		fill_values(event_out, cursor, event->bytes);
	}
	return true;
}

void torch_events_free(struct torch_events *events)
{
	free(events->list);
	free(events->inserted);
	*events = (struct torch_events){0};
}
