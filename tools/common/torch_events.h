/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The events of one pool of a snapshot, in the order of the file. What is found
 * out only later, a block that must have been there before, is put in between
 * at the end. No locks.
 */
#ifndef GPUMEM_TOOLS_TORCH_EVENTS_H
#define GPUMEM_TOOLS_TORCH_EVENTS_H

#include "recording.h"
#include "trace_ids.h"

/* Of a block, address and bytes; of what is taken from the driver bytes alone.
 * kind 0: it did not happen. */
struct torch_event {
	uint64_t us; /* since 1970; of an inserted one not known */
	uint64_t address, bytes, stream;
	uint32_t stack, thread;
	uint16_t tag;
	uint8_t kind;
};

/* The same, in as little memory as it takes. huge: bytes is the largest that
 * there are, for which it has no room. */
struct torch_stored {
	uint64_t us : 54, kind : 8, huge : 1;
	uint64_t address;
	uint64_t bytes : 48, tag : 16;
	uint32_t stack, who;
};

/* Comes behind `behind` events of the file. */
struct torch_inserted {
	uint64_t behind;
	struct torch_stored event;
};

/* What few events do not share with others. */
struct torch_who {
	uint64_t stream;
	uint32_t thread;
};

/* inserted[] is in the order of `behind` once torch_events_finish() was there;
 * those of the same keep theirs. */
struct torch_events {
	struct torch_stored *list;
	struct torch_inserted *inserted;
	struct torch_who *who;
	size_t count, room, inserted_count, inserted_room, who_count, who_room;
	struct trace_ids who_ids; /* by a hash */
	uint32_t who_last;
	uint64_t last_us;	 /* no event is before the one before it */
	uint64_t begin_reserved; /* of the pool, in bytes */
};

/* Where one is, while they are read. */
struct torch_cursor {
	size_t at, inserted_at;
	uint64_t reserved, us;
	bool begun;
};

/* False: out of memory. The event's time is at least that of the last one. */
bool torch_events_add(struct torch_events *events, struct torch_event event);
/* Behind all that are there, if `behind` is torch_events.count. */
bool torch_events_insert(struct torch_events *events, uint64_t behind,
			 struct torch_event event);
/* That of the number; one in list[]. */
struct torch_event torch_events_get(const struct torch_events *events,
				    size_t number);
bool torch_events_finish(struct torch_events *events);
/* The next one, without its pool; its time is in microseconds since 1970, and 0
 * of what was there at the beginning. False: there is none. */
bool torch_events_next(const struct torch_events *events,
		       struct torch_cursor *cursor,
		       struct recording_event *event_out);
void torch_events_free(struct torch_events *events);

/* Nobody said anything of the pool. */
static inline bool torch_events_none(const struct torch_events *events)
{
	return !events->count && !events->inserted_count &&
	       !events->begin_reserved;
}

#endif
