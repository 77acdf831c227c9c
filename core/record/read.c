/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the process has recorded so far, read by itself while its threads go on:
 * a part is copied, and what is in the copy counts if nobody has begun the part
 * anew meanwhile. What a thread is just writing is there or not. The newest
 * parts only, so that it takes so much host memory and not more.
 */
#include "file.h"

#include <stdlib.h>
#include <string.h>

/* What a chunk says of its next events. */
struct reading {
	struct gm_record_seen seen;
	uint64_t base, last, huge;
	struct gm_record_place place[GPUMEM_RECORD_PLACES];
	const uint32_t *at, *end;
};

/* ---- definitions ---- */

/* Those that are published stay as they are. */
static const char *device_of(uint16_t pool)
{
	const struct gpumem_record_header *header = gm_record_file.header;
	const char *at = gm_record_file.map + header->header_bytes;
	const char *end =
		at + atomic_load_explicit(
			     gm_record_count(
				     &gm_record_file.header->definition_bytes),
			     memory_order_acquire);

	while (at < end) {
		const struct gpumem_record_definition *is = (const void *)at;
		const char *name = (const char *)(is + 1);

		if (is->kind == GPUMEM_RECORD_DEFINITION_POOL &&
		    is->number == pool)
			return name + strlen(name) + 1;
		at += is->bytes;
	}
	return "";
}

/* ---- time ---- */

struct clock {
	uint64_t begin, begin_ns, begin_real_ns;
	double ns_per_unit;
};

static struct clock clock_now(void)
{
	const struct gpumem_record_header *header = gm_record_file.header;
	uint64_t units = gm_record_now() - header->begin_ticks;
	uint64_t ns = gm_record_clock_ns() - header->begin_ns;

	return (struct clock){.begin = header->begin_ticks,
			      .begin_real_ns = header->begin_real_ns,
			      .ns_per_unit =
				      units ? (double)ns / (double)units : 1.0};
}

static uint64_t real_ns(const struct clock *clock, uint64_t time)
{
	uint64_t since = time > clock->begin ? time - clock->begin : 0;

	return clock->begin_real_ns +
	       (uint64_t)((double)since * clock->ns_per_unit);
}

/* ---- one part ---- */

static void set_pool(struct reading *reading, uint16_t pool)
{
	if (reading->seen.pool != pool)
		reading->seen.device = device_of(pool);
	reading->seen.pool = pool;
}

/* Of the next event of a block; false: it is none. */
static bool is_block(struct reading *reading,
		     const struct gpumem_record_event *event)
{
	struct gm_record_seen *seen = &reading->seen;

	switch (event->kind) {
	case GPUMEM_RECORD_CONTEXT:
		set_pool(reading, event->tag);
		seen->stream = event->value;
		return false;
	case GPUMEM_RECORD_BYTES:
		reading->huge = event->value;
		return false;
	case GPUMEM_RECORD_STACK:
		seen->stack = event->value;
		return false;
	default:
		return event->kind >= GPUMEM_RECORD_BLOCK &&
		       event->kind < GPUMEM_RECORD_POOL;
	}
}

/* A short event as the longer one that says the same, but for its time. */
static struct gpumem_record_event lengthen(const struct reading *reading,
					   uint32_t word)
{
	unsigned number = GPUMEM_RECORD_SHORT_NUMBER(word);
	const struct gm_record_place *place = &reading->place[number];
	struct gpumem_record_event event = {
		.tag = (uint16_t)place->more,
		.high = (uint8_t)(place->more >> 16),
		.value = place->value};

	switch (GPUMEM_RECORD_SHORT_WHAT(word)) {
	case GPUMEM_RECORD_SHORT_ALLOC:
		event.kind = GPUMEM_RECORD_ALLOC;
		break;
	case GPUMEM_RECORD_SHORT_FREE:
		event.kind = GPUMEM_RECORD_FREE;
		break;
	default:
		event.kind = GPUMEM_RECORD_SERVED;
		break;
	}
	return event;
}

/* Of a longer event: its time, and what short ones may refer to. */
static void note(struct reading *reading,
		 const struct gpumem_record_event *event)
{
	struct gm_record_place *place =
		&reading->place[GPUMEM_RECORD_PLACE(event->value, event->tag)];

	if (event->kind == GPUMEM_RECORD_TIME) {
		reading->base = event->value;
		memset(reading->place, 0, sizeof(reading->place));
	} else if ((event->kind == GPUMEM_RECORD_ALLOC ||
		    event->kind == GPUMEM_RECORD_FREE) &&
		   !reading->huge) {
		*place = (struct gm_record_place){
			event->value,
			gm_record_more(event->tag,
				       (uint64_t)event->high << 24)};
	}
	reading->last = reading->base + event->time;
}

/* The next event, which was at reading->last; false: there is none. */
static bool next(struct reading *reading, struct gpumem_record_event *event_out)
{
	const uint32_t *at = reading->at, *end = reading->end;

	while (at < end && *at & GPUMEM_RECORD_SHORT &&
	       GPUMEM_RECORD_SHORT_WHAT(*at) == GPUMEM_RECORD_SHORT_FILL)
		at++;
	reading->at = at;
	if (at < end && *at & GPUMEM_RECORD_SHORT) {
		*event_out = lengthen(reading, *at);
		reading->last += GPUMEM_RECORD_SHORT_TIME(*at);
		reading->at++;
		return true;
	}
	if (end - at < GM_RECORD_WORDS)
		return false;
	memcpy(event_out, at, sizeof(*event_out));
	reading->at += GM_RECORD_WORDS;
	note(reading, event_out);
	return event_out->kind != 0;
}

static bool read_part(struct reading *reading, const struct clock *clock,
		      bool (*fn)(const struct gm_record_seen *seen, void *user),
		      void *user)
{
	struct gm_record_seen *seen = &reading->seen;
	struct gpumem_record_event event;

	while (next(reading, &event)) {
		if (!is_block(reading, &event))
			continue;
		seen->kind = event.kind;
		seen->tag = event.tag;
		seen->address = (event.value >> 24) * GPUMEM_RECORD_UNIT;
		seen->bytes = reading->huge ? reading->huge
					    : (uint64_t)event.high << 24 |
						      (event.value & 0xffffff);
		seen->real_ns = real_ns(clock, reading->last);
		if (!fn(seen, user))
			return false;
		seen->stack = reading->huge = 0;
	}
	return true;
}

/* ---- all of them ---- */

/* Its thread may be writing: that is what the sequence tells, which is read
 * again after all of it. */
__attribute__((no_sanitize("thread"))) static void
copy_words(uint64_t *to, const uint64_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
}

static uint64_t sequence_of(uint32_t index)
{
	return atomic_load(gm_record_count(&gm_record_chunk(index)->sequence));
}

/* The number of the part, or 0: there is nothing in it. */
static uint64_t copy_part(uint32_t index, struct gpumem_record_chunk *copy)
{
	uint64_t sequence = sequence_of(index);

	if (!sequence)
		return 0;
	copy_words((uint64_t *)(void *)copy,
		   (const uint64_t *)(void *)gm_record_chunk(index),
		   GM_RECORD_CHUNK_BYTES);
	return sequence_of(index) == sequence ? sequence : 0;
}

static uint64_t newest(uint32_t count)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < count; i++)
		if (sequence_of(i) > last)
			last = sequence_of(i);
	return last;
}

bool gm_record_read(bool (*fn)(const struct gm_record_seen *seen, void *user),
		    void *user)
{
	struct gpumem_record_chunk *copy = malloc(GM_RECORD_CHUNK_BYTES);
	uint32_t count = gm_record_file.chunk_count;
	uint64_t last = newest(count), sequence;
	const struct clock clock = clock_now();
	bool good = copy;

	for (uint32_t i = 0; good && i < count; i++) {
		const uint32_t *first = (const void *)(copy + 1);
		struct reading reading = {.seen.device = "",
					  .at = first,
					  .end = first + GM_CHUNK_WORDS};

		sequence = sequence_of(i);
		if (!sequence || sequence + GM_RECORD_READ_CHUNKS <= last ||
		    !copy_part(i, copy))
			continue;
		good = read_part(&reading, &clock, fn, user);
	}
	free(copy);
	return good;
}
