/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Recordings, which gpumem/record.h and gpumem_record(5) describe: checks one
 * that is in memory, and gives its events in their order. Whatever the bytes,
 * nothing beyond them is read, and what is returned keeps the promises below;
 * no file is read here and nothing is printed. No locks: one thread per
 * recording.
 */
#ifndef GPUMEM_TOOLS_RECORDING_H
#define GPUMEM_TOOLS_RECORDING_H

#include "recording_stack.h"

#include <gpumem/record.h>
#include <stdbool.h>
#include <stddef.h>

#define RECORDING_VALUES 4
/* No block is larger: what an event has room for is an address of 48 bits. */
#define RECORDING_BYTES_MAX (UINT64_C(1) << 48)

/* Something that happened. Of kinds that only prepare others there is none.
 *
 *     time_ns never decreases from one event to the next
 *     pool != 0
 *     of a block: 0 < bytes <= RECORDING_BYTES_MAX, and address is a multiple
 *     of GPUMEM_RECORD_UNIT
 *     of a pool: values >= 1, and value[i] == 0 for i >= values */
struct recording_event {
	uint64_t time_ns; /* since the recording began */
	uint64_t address, bytes;
	uint64_t value[RECORDING_VALUES];
	uint64_t stream;
	uint64_t stack;	 /* of a block; 0: none, another may not be defined */
	unsigned served; /* of one that begins: enum gpumem_served */
	const char *behind;  /* of a pool: where its VALUEs are in the file, */
	size_t behind_count; /* all of them */
	uint32_t thread;
	uint16_t pool, tag;
	uint8_t kind; /* enum gpumem_record_kind, from GPUMEM_RECORD_BLOCK on */
	uint8_t values;
};

/* What is known of a pool: three texts within the file, or NULL. */
struct recording_pool {
	const char *name, *device, *kind;
};

/* Where a longer event lies that others are short by, in so many bytes. */
#define RECORDING_PLACE_UNIT 8

/* A chunk on its way: what it said last, and its next event, head.
 *
 *     begin < at <= end; head_time never decreases
 *     place[i] is 0, or that of a whole event before at */
struct recording_chunk {
	const char *begin, *at, *end;
	uint64_t sequence, base, time, huge, stack, served, head_time;
	bool has_short; /* may have: of what version it is */
	uint16_t place[GPUMEM_RECORD_PLACES];
	struct recording_event head;
};

/* count chunks, by the time of their first event; those before `begun` are in
 * the heap, or over. heap[0] has the next event of them all. */
struct recording {
	struct gpumem_record_header header;
	const char *data;
	size_t bytes;
	struct recording_pool *pools; /* by number */
	const char **tags; /* likewise, their paths; NULL: not there */
	uint32_t pool_count, tag_count;
	struct recording_stacks stacks;
	struct recording_chunk *chunks, **heap;
	size_t count, begun, heap_count;
	double ns_per_tick;
	uint64_t
		damaged; /* events so far that cannot be: without a pool, ... */
	char reason[160]; /* why it could not be opened */
};

/* Does it begin as one? */
bool recording_is(const void *data, size_t bytes);
/* Checks the whole but for the events. The bytes stay where they are until
 * recording_close(), aligned to 8. False: reason says why. */
bool recording_open(struct recording *recording, const void *data,
		    size_t bytes);
/* The next event; false: there is none. */
bool recording_next(struct recording *recording,
		    struct recording_event *event_out);
/* Begins with the first event again; false: out of memory, and none comes. */
bool recording_rewind(struct recording *recording);
void recording_close(struct recording *recording);

/* What the file says of a pool; all NULL: nothing. */
struct recording_pool recording_pool(const struct recording *recording,
				     uint16_t number);
/* The path of a tag; NULL: there is none, or it is not there. */
const char *recording_tag(const struct recording *recording, uint16_t number);

/* recording_text.c: what a REPORT says, for free(). NULL: it is none, it is not
 * whole, or there is no memory. */
char *recording_text(const struct recording_event *event);

/* The word of a gpumem_advice, as an OOM has it: "limit"; "" of 0, which those
 * of old recordings have; "unknown" of what is none. */
const char *recording_advice(uint64_t number);

/* Nanoseconds from the beginning to a moment of the recording's clock. */
uint64_t recording_since(const struct recording *recording, uint64_t time);

static inline bool recording_is_block(const struct recording_event *event)
{
	return event->kind < GPUMEM_RECORD_POOL;
}

/* ---- between the files of it ---- */

/* Says why it could not be opened; false. */
bool recording_fail(struct recording *recording, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Pools, tags, stacks and modules; false, with a reason. */
bool recording_read_definitions(struct recording *recording);
void recording_free_definitions(struct recording *recording);

/* The next event of a chunk, into its head; false: there is none. */
bool recording_advance(struct recording *recording,
		       struct recording_chunk *chunk);
/* Puts chunks in the order in which they are begun. */
void recording_sort(struct recording *recording);

#endif
