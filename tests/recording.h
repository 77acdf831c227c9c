/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Reads a recording for tests, strictly: whatever include/gpumem/record.h does
 * not allow is counted as `bad`. It shares nothing with the library or the
 * tools. Include tap.h before.
 */
#ifndef TESTS_RECORDING_H
#define TESTS_RECORDING_H

#include <gpumem/record.h>

#define REC_USE __attribute__((unused)) static

struct rec {
	uint64_t time, sequence; /* of the chunk */
	uint64_t address, bytes; /* of a block; else value[] */
	uint64_t value[4];
	uint64_t stream;
	uint64_t stack;	     /* of a block that begins; 0: none */
	unsigned served;     /* of one that is allocated */
	uint32_t thread, at; /* at: in the chunk */
	uint16_t pool, tag;
	uint8_t kind, values;
	const struct gpumem_record_event *raw;
};

struct recording {
	struct gpumem_record_header header;
	struct rec *event;
	size_t count, room, chunks, bad;
	size_t shorts; /* events of 4 bytes */
	char *text;    /* the whole file */
	size_t bytes;
	/* What rec_judge() finds. */
	size_t twice;	/* a block that begins where one is live */
	size_t unknown; /* an end, a use or a resize where none is */
	size_t sizes;	/* an end with another size than the block had */
	size_t early;	/* an end that is stamped before its beginning */
	uint64_t live_bytes, peak_bytes, reserved_bytes;
	size_t live;
};

REC_USE bool rec_is_block(const struct rec *event)
{
	return event->kind >= GPUMEM_RECORD_BLOCK &&
	       event->kind < GPUMEM_RECORD_POOL;
}

static void rec_add(struct recording *recording, const struct rec *event)
{
	if (recording->count == recording->room) {
		recording->room = recording->room ? recording->room * 2 : 4096;
		recording->event =
			realloc(recording->event,
				recording->room * sizeof(*recording->event));
		if (!recording->event)
			bail("no memory for a recording");
	}
	recording->event[recording->count++] = *event;
}

/* One of a chunk, short or not, as it is walked through. */
struct rec_walk {
	const char *begin, *at, *end;
	uint64_t base, time;
	bool huge;
	struct gpumem_record_event place[256];
	struct gpumem_record_event event;      /* the next, as a longer one */
	const struct gpumem_record_event *raw; /* where it is; NULL: short */
};

static void rec_short(struct recording *recording, struct rec_walk *walk,
		      uint32_t word)
{
	static const uint8_t kind[] = {GPUMEM_RECORD_ALLOC, GPUMEM_RECORD_FREE,
				       GPUMEM_RECORD_SERVED};
	uint32_t what = word >> 29 & 3, number = word >> 21 & 255;

	walk->time += word & 0x1fffff;
	walk->raw = NULL;
	recording->shorts++;
	if (what == 2) {
		walk->event = (struct gpumem_record_event){.value = number};
	} else {
		walk->event = walk->place[number];
		recording->bad += !walk->event.value;
	}
	walk->event.kind = kind[what];
}

static void rec_long(struct recording *recording, struct rec_walk *walk)
{
	struct gpumem_record_event *event = &walk->event;

	memcpy(event, walk->at, sizeof(*event));
	walk->raw = (const void *)walk->at;
	if (event->kind == GPUMEM_RECORD_TIME) {
		walk->base = event->value;
		memset(walk->place, 0, sizeof(walk->place));
	}
	if (!walk->huge && (event->kind == GPUMEM_RECORD_ALLOC ||
			    event->kind == GPUMEM_RECORD_FREE))
		walk->place[(event->value + ((uint64_t)event->tag << 48)) *
				    0x9e3779b97f4a7c15u >>
			    56] = *event;
	walk->huge = event->kind == GPUMEM_RECORD_BYTES;
	walk->time = walk->base + event->time;
	recording->bad += (walk->at - walk->begin) % 8 || event->time >> 31;
}

/* False: there is none. */
static bool rec_next(struct recording *recording, struct rec_walk *walk)
{
	struct gpumem_record_event event;
	uint32_t word;

	if (walk->end - walk->at < 4)
		return false;
	memcpy(&word, walk->at, 4);
	if (word >> 29 == 7) {
		/* It fills up, and something is behind it. */
		recording->bad += word != 0xe0000000u ||
				  (walk->at - walk->begin) % 8 != 4;
		walk->at += 4;
		memcpy(&word, walk->at, 4);
		recording->bad += word >> 31;
	}
	if (word >> 31) {
		rec_short(recording, walk, word);
		walk->at += 4;
		return true;
	}
	if (walk->end - walk->at < 16)
		return false;
	memcpy(&event, walk->at, sizeof(event));
	if (!event.kind)
		return false;
	rec_long(recording, walk);
	walk->at += 16;
	return true;
}

static void rec_chunk(struct recording *recording, const char *from)
{
	const struct gpumem_record_chunk *chunk = (const void *)from;
	struct rec_walk walk = {.begin = from,
				.at = from + sizeof(*chunk),
				.end = from + recording->header.chunk_bytes};
	struct rec now = {.sequence = chunk->sequence, .thread = chunk->thread};
	uint64_t huge = 0, stack = 0;
	unsigned served = 0;
	size_t first = recording->count;

	for (size_t i = 0; rec_next(recording, &walk); i++) {
		const struct gpumem_record_event *at = &walk.event;

		recording->bad += i < 3 && i + 1 != at->kind &&
				  !(i == 1 && at->kind == 3) &&
				  !(i == 2 && at->kind == 2);
		now.at = (uint32_t)i;
		now.raw = walk.raw;
		now.time = walk.time;
		now.tag = at->tag;
		now.kind = at->kind;
		now.values = 1;
		now.value[0] = at->value;
		switch (at->kind) {
		case GPUMEM_RECORD_TIME:
			break;
		case GPUMEM_RECORD_CONTEXT:
			now.pool = at->tag;
			now.stream = at->value;
			break;
		case GPUMEM_RECORD_THREAD:
			now.thread = (uint32_t)at->value;
			break;
		case GPUMEM_RECORD_BYTES:
			huge = at->value;
			recording->bad += huge <= UINT32_MAX;
			break;
		case GPUMEM_RECORD_STACK:
			recording->bad += stack || !at->value;
			stack = at->value;
			break;
		case GPUMEM_RECORD_SERVED:
			recording->bad += served || !at->value ||
					  at->value >= GPUMEM_SERVED_COUNT;
			served = (unsigned)at->value;
			break;
		case GPUMEM_RECORD_VALUE: {
			struct rec *last =
				&recording->event[recording->count - 1];

			if (recording->count == first ||
			    (last->values == 4 &&
			     last->kind != GPUMEM_RECORD_REPORT))
				recording->bad++;
			else if (last->values < 4)
				last->value[last->values++] = at->value;
			break;
		}
		default:
			now.address = (at->value >> 24) * GPUMEM_RECORD_UNIT;
			now.bytes = (uint64_t)at->high << 24 |
				    (at->value & 0xffffff);
			if (huge)
				now.bytes = huge;
			huge = 0;
			now.stack = stack;
			recording->bad += stack &&
					  at->kind != GPUMEM_RECORD_LIVE &&
					  at->kind != GPUMEM_RECORD_ALLOC;
			stack = 0;
			now.served = served;
			recording->bad +=
				served && at->kind != GPUMEM_RECORD_ALLOC;
			served = 0;
			recording->bad += at->kind < GPUMEM_RECORD_BLOCK ||
					  at->kind > GPUMEM_RECORD_WAKE ||
					  !now.pool ||
					  (rec_is_block(&now) && !now.bytes);
			rec_add(recording, &now);
			break;
		}
	}
	/* What says something of the next event is in the same chunk. */
	recording->bad += stack || served;
	recording->chunks++;
}

/* Of a REPORT; to be freed. NULL: it is not whole. */
REC_USE char *rec_text(const struct rec *event)
{
	uint64_t bytes = event->value[0];
	char *text = calloc(1, bytes + 8);

	for (uint64_t i = 0; text && i < (bytes + 7) / 8; i++) {
		if (event->raw[1 + i].kind != GPUMEM_RECORD_VALUE) {
			free(text);
			return NULL;
		}
		memcpy(text + 8 * i, &event->raw[1 + i].value, 8);
	}
	return text;
}

static int rec_before(const void *a, const void *b)
{
	const struct rec *left = a, *right = b;
	bool ends = left->kind == GPUMEM_RECORD_FREE;

	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	if (left->sequence != right->sequence &&
	    ends != (right->kind == GPUMEM_RECORD_FREE))
		return ends ? -1 : 1;
	if (left->sequence != right->sequence)
		return left->sequence < right->sequence ? -1 : 1;
	return left->at < right->at ? -1 : 1;
}

REC_USE const struct gpumem_record_definition *
rec_definition(struct recording *recording, uint32_t kind, uint64_t number)
{
	uint64_t at = 0;

	while (at < recording->header.definition_bytes) {
		const struct gpumem_record_definition *one =
			(const void *)(recording->text +
				       recording->header.header_bytes + at);

		if (one->bytes < sizeof(*one) || one->bytes % 8) {
			recording->bad++;
			return NULL;
		}
		if (one->kind == kind && one->number == number)
			return one;
		at += one->bytes;
	}
	return NULL;
}

REC_USE void rec_free(struct recording *recording)
{
	free(recording->event);
	free(recording->text);
	*recording = (struct recording){0};
}

REC_USE void rec_read(const char *path, struct recording *recording)
{
	FILE *file = fopen(path, "rbe");
	uint64_t at;

	*recording = (struct recording){0};
	if (!file)
		bail("%s cannot be opened", path);
	for (;;) {
		size_t got;

		recording->text =
			realloc(recording->text, recording->bytes + (1 << 20));
		if (!recording->text)
			bail("no memory for a recording");
		got = fread(recording->text + recording->bytes, 1, 1 << 20,
			    file);
		recording->bytes += got;
		if (!got)
			break;
	}
	fclose(file);
	if (recording->bytes < sizeof(recording->header)) {
		recording->bad++;
		return;
	}
	memcpy(&recording->header, recording->text, sizeof(recording->header));
	recording->bad +=
		memcmp(recording->header.magic, GPUMEM_RECORD_MAGIC, 16) != 0 ||
		recording->header.version != GPUMEM_RECORD_VERSION ||
		recording->header.byte_order != GPUMEM_RECORD_BYTE_ORDER ||
		recording->header.chunk_bytes < 4096;
	if (recording->bad)
		return;
	for (at = recording->header.chunks_at;
	     at + recording->header.chunk_bytes <= recording->bytes;
	     at += recording->header.chunk_bytes)
		if (((const struct gpumem_record_chunk
			      *)(const void *)(recording->text + at))
			    ->sequence)
			rec_chunk(recording, recording->text + at);
	if (recording->count)
		qsort(recording->event, recording->count,
		      sizeof(*recording->event), rec_before);
}

#endif
