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

/* ---- streams and threads ---- */

static bool is_who(const struct torch_who *who, const struct torch_event *event)
{
	return who->stream == event->stream && who->thread == event->thread;
}

static bool add_who(struct torch_events *events,
		    const struct torch_event *event, uint64_t key)
{
	struct torch_who *who = grown(events->who, events->who_count,
				      &events->who_room, sizeof(*who));

	if (!who)
		return false;
	events->who = who;
	who[events->who_count] = (struct torch_who){.stream = event->stream,
						    .thread = event->thread};
	events->who_last = (uint32_t)events->who_count++;
	return trace_ids_add(&events->who_ids, key, events->who_last);
}

/* who_last is the event's then. */
static bool find_who(struct torch_events *events,
		     const struct torch_event *event)
{
	uint64_t key =
		event->stream ^ event->thread * UINT64_C(0x9e3779b97f4a7c15);

	if (!events->who_count)
		trace_ids_init(&events->who_ids);
	else if (is_who(&events->who[events->who_last], event))
		return true;
	for (;; key++) {
		uint32_t number = trace_ids_find(&events->who_ids, key);

		if (number == TRACE_NO_SLOT)
			return add_who(events, event, key);
		if (is_who(&events->who[number], event)) {
			events->who_last = number;
			return true;
		}
	}
}

/* ---- events ---- */

#define US_MAX ((UINT64_C(1) << 54) - 1)

static bool store(struct torch_events *events, const struct torch_event *event,
		  struct torch_stored *stored_out)
{
	bool huge = event->bytes >= RECORDING_BYTES_MAX;

	if (!find_who(events, event))
		return false;
	*stored_out = (struct torch_stored){.us = event->us < US_MAX ? event->us
								     : US_MAX,
					    .kind = event->kind,
					    .huge = huge,
					    .address = event->address,
					    .bytes = huge ? 0 : event->bytes,
					    .tag = event->tag,
					    .stack = event->stack,
					    .who = events->who_last};
	return true;
}

static struct torch_event restore(const struct torch_events *events,
				  const struct torch_stored *stored)
{
	const struct torch_who *who = &events->who[stored->who];

	return (struct torch_event){.us = stored->us,
				    .address = stored->address,
				    .bytes = stored->huge ? RECORDING_BYTES_MAX
							  : stored->bytes,
				    .stream = who->stream,
				    .stack = stored->stack,
				    .thread = who->thread,
				    .tag = stored->tag,
				    .kind = stored->kind};
}

struct torch_event torch_events_get(const struct torch_events *events,
				    size_t number)
{
	return restore(events, &events->list[number]);
}

bool torch_events_add(struct torch_events *events, struct torch_event event)
{
	struct torch_stored *list = grown(events->list, events->count,
					  &events->room, sizeof(*list));

	if (!list)
		return false;
	events->list = list;
	if (event.us < events->last_us)
		event.us = events->last_us;
	if (!store(events, &event, &list[events->count]))
		return false;
	events->last_us = event.us;
	events->count++;
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
	list[events->inserted_count].behind = behind;
	if (!store(events, &event, &list[events->inserted_count].event))
		return false;
	events->inserted_count++;
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
static const struct torch_stored *take(const struct torch_events *events,
				       struct torch_cursor *cursor)
{
	const struct torch_inserted *inserted =
		&events->inserted[cursor->inserted_at];
	const struct torch_stored *event;

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
	const struct torch_stored *stored;
	struct torch_event event;

	if (!cursor->begun) {
		begin(events, cursor, event_out);
		return true;
	}
	do {
		stored = take(events, cursor);
		if (!stored)
			return false;
	} while (!stored->kind);
	event = restore(events, stored);
	*event_out = (struct recording_event){
		.time_ns = event.kind == GPUMEM_RECORD_LIVE ? 0 : cursor->us,
		.stream = event.stream,
		.stack = event.stack,
		.thread = event.thread,
		.tag = event.tag,
		.kind = event.kind};
	if (recording_is_block(event_out)) {
		event_out->address = event.address;
		event_out->bytes = event.bytes;
	} else {
		fill_values(event_out, cursor, event.bytes);
	}
	return true;
}

void torch_events_free(struct torch_events *events)
{
	free(events->list);
	free(events->inserted);
	free(events->who);
	trace_ids_free(&events->who_ids);
	*events = (struct torch_events){0};
}
