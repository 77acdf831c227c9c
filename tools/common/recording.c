/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See recording.h: the header, the definitions, the clock, and where chunks
 * are.
 */
#include "recording.h"

#include <gpumem/gpumem.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What begins at such a place can be read as a struct. */
#define ALIGN 64u

static bool fail(struct recording *recording, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool fail(struct recording *recording, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(recording->reason, sizeof(recording->reason), format, args);
	va_end(args);
	return false;
}

/* ---- the header and the definitions ---- */

static bool check_header(struct recording *recording)
{
	struct gpumem_record_header *header = &recording->header;

	if (recording->bytes < sizeof(*header) ||
	    memcmp(recording->data, GPUMEM_RECORD_MAGIC, sizeof(header->magic)))
		return fail(recording, "it is no recording");
	memcpy(header, recording->data, sizeof(*header));
	if (header->byte_order != GPUMEM_RECORD_BYTE_ORDER)
		return fail(recording,
			    "written by a machine of another byte order");
	if (header->version != GPUMEM_RECORD_VERSION)
		return fail(recording, "version %u of the format is not known",
			    header->version);
	if (header->header_bytes < sizeof(*header) ||
	    header->header_bytes % ALIGN || header->chunks_at % ALIGN ||
	    header->chunk_bytes % ALIGN ||
	    header->chunk_bytes <= sizeof(struct gpumem_record_chunk) ||
	    header->chunks_at < header->header_bytes ||
	    header->definition_bytes > header->chunks_at - header->header_bytes)
		return fail(recording,
			    "damaged: the header contradicts itself");
	if (header->chunks_at > recording->bytes)
		return fail(recording, "cut off: %zu bytes of %llu are there",
			    recording->bytes,
			    (unsigned long long)header->chunks_at);
	if (header->clock != GPUMEM_RECORD_NS &&
	    header->clock != GPUMEM_RECORD_TICKS)
		return fail(recording, "clock %u is not known", header->clock);
	header->program[sizeof(header->program) - 1] = '\0';
	header->library[sizeof(header->library) - 1] = '\0';
	return true;
}

typedef bool (*definition_fn)(struct recording *recording,
			      const struct gpumem_record_definition *definition,
			      const char *text, size_t bytes);

static bool each_definition(struct recording *recording, definition_fn fn)
{
	const char *at = recording->data + recording->header.header_bytes;
	const char *end = at + recording->header.definition_bytes;
	struct gpumem_record_definition one;

	while (at < end) {
		size_t left = (size_t)(end - at);

		if (left < sizeof(one))
			return fail(recording, "damaged: a definition is cut");
		memcpy(&one, at, sizeof(one));
		if (one.bytes < sizeof(one) || one.bytes % 8 ||
		    one.bytes > left)
			return fail(recording,
				    "damaged: a definition has %u bytes",
				    one.bytes);
		if (!fn(recording, &one, at + sizeof(one),
			one.bytes - sizeof(one)))
			return false;
		at += one.bytes;
	}
	return true;
}

/* How many there are, if this is one that events can name. */
static bool count_name(struct recording *recording,
		       const struct gpumem_record_definition *definition,
		       const char *text, size_t bytes)
{
	uint32_t *count = definition->kind == GPUMEM_RECORD_DEFINITION_POOL
				  ? &recording->pool_count
				  : &recording->tag_count;

	(void)text;
	(void)bytes;
	if (definition->kind != GPUMEM_RECORD_DEFINITION_POOL &&
	    definition->kind != GPUMEM_RECORD_DEFINITION_TAG)
		return true;
	if (definition->number <= UINT16_MAX && definition->number >= *count)
		*count = (uint32_t)definition->number + 1;
	return true;
}

/* The text that begins here and ends before `end`, and what is behind it. */
static bool next_text(const char **at, const char *end, const char **text_out)
{
	const char *nul = memchr(*at, '\0', (size_t)(end - *at));

	if (!nul)
		return false;
	*text_out = *at;
	*at = nul + 1;
	return true;
}

static bool add_pool(struct recording *recording, uint64_t number,
		     const char *text, const char *end)
{
	struct recording_pool pool;

	if (!next_text(&text, end, &pool.name) ||
	    !next_text(&text, end, &pool.device) ||
	    !next_text(&text, end, &pool.kind))
		return fail(recording,
			    "damaged: the name of a pool has no end");
	recording->pools[number] = pool;
	return true;
}

static bool add_name(struct recording *recording,
		     const struct gpumem_record_definition *definition,
		     const char *text, size_t bytes)
{
	const char *end = text + bytes;

	if (definition->number > UINT16_MAX)
		return true;
	if (definition->kind == GPUMEM_RECORD_DEFINITION_POOL)
		return add_pool(recording, definition->number, text, end);
	if (definition->kind == GPUMEM_RECORD_DEFINITION_TAG &&
	    !next_text(&text, end, &recording->tags[definition->number]))
		return fail(recording, "damaged: the path of a tag has no end");
	return true;
}

static bool read_definitions(struct recording *recording)
{
	if (!each_definition(recording, count_name))
		return false;
	recording->pools =
		calloc(recording->pool_count + 1, sizeof(*recording->pools));
	recording->tags =
		calloc(recording->tag_count + 1, sizeof(*recording->tags));
	if (!recording->pools || !recording->tags)
		return fail(recording, "out of host memory");
	return each_definition(recording, add_name);
}

struct recording_pool recording_pool(const struct recording *recording,
				     uint16_t number)
{
	return number < recording->pool_count ? recording->pools[number]
					      : (struct recording_pool){0};
}

const char *recording_tag(const struct recording *recording, uint16_t number)
{
	return number < recording->tag_count ? recording->tags[number] : NULL;
}

/* ---- time ---- */

/* The rate follows from the last moment of which both clocks are known. */
static void set_rate(struct recording *recording, uint64_t ticks, uint64_t ns)
{
	const struct gpumem_record_header *header = &recording->header;

	recording->ns_per_tick = 1.0;
	if (header->end_ticks) {
		ticks = header->end_ticks;
		ns = header->end_ns;
	}
	if (header->clock == GPUMEM_RECORD_TICKS &&
	    ticks > header->begin_ticks && ns > header->begin_ns)
		recording->ns_per_tick = (double)(ns - header->begin_ns) /
					 (double)(ticks - header->begin_ticks);
}

uint64_t recording_since(const struct recording *recording, uint64_t time)
{
	uint64_t begin = recording->header.begin_ticks;
	double ns;

	if (time <= begin)
		return 0;
	if (recording->ns_per_tick == 1.0)
		return time - begin;
	ns = (double)(time - begin) * recording->ns_per_tick;
	return ns < 0x1p63 ? (uint64_t)ns : (uint64_t)INT64_MAX;
}

/* ---- chunks ---- */

static void begin_chunk(struct recording *recording, const char *at)
{
	struct recording_chunk *chunk = &recording->chunks[recording->count];
	struct gpumem_record_chunk raw;

	memcpy(&raw, at, sizeof(raw));
	if (!raw.sequence)
		return;
	*chunk = (struct recording_chunk){
		.at = at + sizeof(raw),
		.end = at + recording->header.chunk_bytes,
		.sequence = raw.sequence,
		.head.thread = raw.thread,
	};
	if (recording_advance(recording, chunk))
		recording->count++;
}

/* What the file holds whole of them. */
static size_t whole_chunks(const struct recording *recording)
{
	const struct gpumem_record_header *header = &recording->header;
	uint64_t fit =
		(recording->bytes - header->chunks_at) / header->chunk_bytes;

	return (size_t)(fit < header->chunk_count ? fit : header->chunk_count);
}

static bool read_chunks(struct recording *recording)
{
	size_t whole = whole_chunks(recording);
	const char *first = recording->data + recording->header.chunks_at;
	uint64_t ticks = 0, ns = 0;

	recording->chunks = calloc(whole + 1, sizeof(*recording->chunks));
	recording->heap = calloc(whole + 1, sizeof(struct recording_chunk *));
	if (!recording->chunks || !recording->heap)
		return fail(recording, "out of host memory");
	for (size_t i = 0; i < whole; i++) {
		const char *at = first + i * recording->header.chunk_bytes;
		struct gpumem_record_chunk raw;

		memcpy(&raw, at, sizeof(raw));
		if (raw.sequence && raw.ticks > ticks) {
			ticks = raw.ticks;
			ns = raw.ns;
		}
		begin_chunk(recording, at);
	}
	set_rate(recording, ticks, ns);
	recording_sort(recording);
	return true;
}

bool recording_open(struct recording *recording, const void *data, size_t bytes)
{
	*recording = (struct recording){.data = data, .bytes = bytes};
	if (check_header(recording) && read_definitions(recording) &&
	    read_chunks(recording))
		return true;
	recording_close(recording);
	return false;
}

static void free_chunks(struct recording *recording)
{
	free(recording->chunks);
	free((void *)recording->heap);
	recording->chunks = NULL;
	recording->heap = NULL;
	recording->count = recording->begun = recording->heap_count = 0;
}

bool recording_rewind(struct recording *recording)
{
	free_chunks(recording);
	recording->damaged = 0;
	return read_chunks(recording);
}

void recording_close(struct recording *recording)
{
	free_chunks(recording);
	free(recording->pools);
	free((void *)recording->tags);
	recording->pools = NULL;
	recording->tags = NULL;
	recording->pool_count = recording->tag_count = 0;
}

const char *recording_advice(uint64_t number)
{
	static const char *const words[] = {"",
#define WORD(name, number, word) [number] = (word),
					    GPUMEM_ADVICE_LIST(WORD)
#undef WORD
	};

	return number < sizeof(words) / sizeof(words[0]) ? words[number]
							 : "unknown";
}
