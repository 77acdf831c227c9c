/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Events out of a chunk: short ones become those that they stand for, what
 * prepares others is kept in the chunk, and each of the rest is put together
 * with what belongs to it.
 */
#include "recording.h"

#include <gpumem/gpumem.h>
#include <string.h>

#define EVENT_BYTES sizeof(struct gpumem_record_event)
#define PLACE_UNIT RECORDING_PLACE_UNIT

/* Looks at the next longer one; false: there is none. */
static bool peek(const struct recording_chunk *chunk,
		 struct gpumem_record_event *raw_out)
{
	if ((size_t)(chunk->end - chunk->at) < EVENT_BYTES)
		return false;
	memcpy(raw_out, chunk->at, EVENT_BYTES);
	return raw_out->kind != 0;
}

/* ---- short events ---- */

/* The next, if it is short; else 0. */
static uint32_t short_at(const struct recording_chunk *chunk)
{
	uint32_t word = 0;

	if (chunk->has_short &&
	    (size_t)(chunk->end - chunk->at) >= sizeof(word))
		memcpy(&word, chunk->at, sizeof(word));
	return word & GPUMEM_RECORD_SHORT ? word : 0;
}

/* As a longer one that says the same, but for its time. */
static struct gpumem_record_event lengthen(const struct recording_chunk *chunk,
					   uint32_t word)
{
	uint32_t what = GPUMEM_RECORD_SHORT_WHAT(word);
	uint32_t number = GPUMEM_RECORD_SHORT_NUMBER(word);
	struct gpumem_record_event event = {.kind = GPUMEM_RECORD_SERVED,
					    .value = number};
	size_t place = chunk->place[number];

	if (what == GPUMEM_RECORD_SHORT_SERVED)
		return event;
	event.value = 0;
	if (place)
		memcpy(&event, chunk->begin + place * PLACE_UNIT, EVENT_BYTES);
	event.kind = what == GPUMEM_RECORD_SHORT_ALLOC ? GPUMEM_RECORD_ALLOC
						       : GPUMEM_RECORD_FREE;
	return event;
}

/* What later ones are short by. */
static void note(struct recording_chunk *chunk,
		 const struct gpumem_record_event *raw)
{
	if (raw->kind == GPUMEM_RECORD_TIME) {
		chunk->base = raw->value;
		memset(chunk->place, 0, sizeof(chunk->place));
	} else if (chunk->has_short && !chunk->huge &&
		   (raw->kind == GPUMEM_RECORD_ALLOC ||
		    raw->kind == GPUMEM_RECORD_FREE)) {
		chunk->place[GPUMEM_RECORD_PLACE(raw->value, raw->tag)] =
			(uint16_t)((size_t)(chunk->at - chunk->begin) /
				   PLACE_UNIT);
	}
}

/* The next, as a longer one, of the time chunk->time, which stays at the
 * highest there is; false: there is none. */
static bool next(struct recording_chunk *chunk,
		 struct gpumem_record_event *raw_out)
{
	uint32_t word;
	bool over;

	while ((word = short_at(chunk)) &&
	       GPUMEM_RECORD_SHORT_WHAT(word) == GPUMEM_RECORD_SHORT_FILL)
		chunk->at += sizeof(word);
	if (word) {
		*raw_out = lengthen(chunk, word);
		chunk->at += sizeof(word);
		over = __builtin_add_overflow(chunk->time,
					      GPUMEM_RECORD_SHORT_TIME(word),
					      &chunk->time);
	} else {
		if ((size_t)(chunk->at - chunk->begin) % PLACE_UNIT ||
		    !peek(chunk, raw_out))
			return false;
		note(chunk, raw_out);
		chunk->at += EVENT_BYTES;
		over = __builtin_add_overflow(chunk->base, raw_out->time,
					      &chunk->time);
	}
	if (over)
		chunk->time = UINT64_MAX;
	return true;
}

/* ---- all ---- */

/* Those that say something of others. */
static void prepare(struct recording_chunk *chunk,
		    const struct gpumem_record_event *raw)
{
	switch (raw->kind) {
	case GPUMEM_RECORD_CONTEXT:
		chunk->head.pool = raw->tag;
		chunk->head.stream = raw->value;
		break;
	case GPUMEM_RECORD_THREAD:
		chunk->head.thread = (uint32_t)raw->value;
		break;
	case GPUMEM_RECORD_BYTES:
		chunk->huge = raw->value;
		break;
	case GPUMEM_RECORD_STACK:
		chunk->stack = raw->value;
		break;
	case GPUMEM_RECORD_SERVED:
		chunk->served = raw->value;
		break;
	default:
		/* What is not known may be of a block. A VALUE without an
		 * event is of no use here. */
		if (raw->kind >= GPUMEM_RECORD_BLOCK)
			chunk->huge = chunk->stack = chunk->served = 0;
		break;
	}
}

static bool fill_block(struct recording_chunk *chunk,
		       const struct gpumem_record_event *raw)
{
	struct recording_event *head = &chunk->head;

	head->address = (raw->value >> 24) * GPUMEM_RECORD_UNIT;
	head->bytes = chunk->huge ? chunk->huge
				  : (uint64_t)raw->high << 24 |
					    (raw->value & 0xffffff);
	chunk->huge = 0;
	return head->bytes && head->bytes <= RECORDING_BYTES_MAX;
}

/* With the VALUEs behind it. */
static void fill_values(struct recording_chunk *chunk,
			const struct gpumem_record_event *raw)
{
	struct recording_event *head = &chunk->head;
	struct gpumem_record_event more;

	memset(head->value, 0, sizeof(head->value));
	head->value[0] = raw->value;
	head->values = 1;
	head->behind = chunk->at;
	while (peek(chunk, &more) && more.kind == GPUMEM_RECORD_VALUE) {
		if (head->values < RECORDING_VALUES)
			head->value[head->values++] = more.value;
		chunk->at += EVENT_BYTES;
	}
	head->behind_count = (size_t)(chunk->at - head->behind) / EVENT_BYTES;
}

/* False: such an event cannot be. Times that go back, as those of a free that
 * made the pool give something back meanwhile, are those of what is before: the
 * order within a chunk stays. */
static bool fill(struct recording_chunk *chunk,
		 const struct gpumem_record_event *raw)
{
	struct recording_event *head = &chunk->head;
	uint64_t stack = chunk->stack, served = chunk->served;
	bool good = true;

	chunk->stack = chunk->served = 0;
	if (chunk->time == UINT64_MAX)
		return false;
	head->kind = raw->kind;
	head->tag = raw->tag;
	head->stack = recording_is_block(head) ? stack : 0;
	head->served = head->kind == GPUMEM_RECORD_ALLOC &&
				       served < GPUMEM_SERVED_COUNT
			       ? (unsigned)served
			       : 0;
	if (recording_is_block(head))
		good = fill_block(chunk, raw);
	else
		fill_values(chunk, raw);
	if (!good || !head->pool)
		return false;
	if (chunk->time > chunk->head_time)
		chunk->head_time = chunk->time;
	return true;
}

static bool is_known(uint8_t kind)
{
	switch (kind) {
#define KNOWN(name, number, word, text) case number:
		GPUMEM_RECORD_LIST(KNOWN)
#undef KNOWN
		return true;
	default:
		return false;
	}
}

bool recording_advance(struct recording *recording,
		       struct recording_chunk *chunk)
{
	struct gpumem_record_event raw;

	while (next(chunk, &raw)) {
		if (raw.kind < GPUMEM_RECORD_BLOCK || !is_known(raw.kind))
			prepare(chunk, &raw);
		else if (fill(chunk, &raw))
			return true;
		else
			recording->damaged++;
	}
	return false;
}
