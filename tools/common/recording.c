/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See recording.h: the header, the clock, and where chunks are.
 */
#include "recording.h"

#include <gpumem/gpumem.h>

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What begins at such a place can be read as a struct. */
#define ALIGN 64u

#define FIRST_VERSION 1u /* all up to the header's can be read */
#define SHORT_VERSION 2u /* from this one on */

bool recording_fail(struct recording *recording, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(recording->reason, sizeof(recording->reason), format, args);
	va_end(args);
	return false;
}

/* ---- the header ---- */

bool recording_is(const void *data, size_t bytes)
{
	return bytes >= sizeof(struct gpumem_record_header) &&
	       !memcmp(data, GPUMEM_RECORD_MAGIC,
		       sizeof(((struct gpumem_record_header *)0)->magic));
}

static bool check_header(struct recording *recording)
{
	struct gpumem_record_header *header = &recording->header;

	if (!recording_is(recording->data, recording->bytes))
		return recording_fail(recording, "it is no recording");
	memcpy(header, recording->data, sizeof(*header));
	if (header->byte_order != GPUMEM_RECORD_BYTE_ORDER)
		return recording_fail(
			recording,
			"written by a machine of another byte order");
	if (header->version < FIRST_VERSION ||
	    header->version > GPUMEM_RECORD_VERSION)
		return recording_fail(recording,
				      "version %u of the format is not known",
				      header->version);
	if (header->header_bytes < sizeof(*header) ||
	    header->header_bytes % ALIGN || header->chunks_at % ALIGN ||
	    header->chunk_bytes % ALIGN ||
	    header->chunk_bytes <= sizeof(struct gpumem_record_chunk) ||
	    header->chunks_at < header->header_bytes ||
	    header->definition_bytes >
		    header->chunks_at - header->header_bytes ||
	    (header->version >= SHORT_VERSION &&
	     header->chunk_bytes > GPUMEM_RECORD_CHUNK_MAX))
		return recording_fail(recording,
				      "damaged: the header contradicts itself");
	if (header->chunks_at > recording->bytes)
		return recording_fail(recording,
				      "cut off: %zu bytes of %llu are there",
				      recording->bytes,
				      (unsigned long long)header->chunks_at);
	if (header->clock != GPUMEM_RECORD_NS &&
	    header->clock != GPUMEM_RECORD_TICKS)
		return recording_fail(recording, "clock %u is not known",
				      header->clock);
	header->program[sizeof(header->program) - 1] = '\0';
	header->library[sizeof(header->library) - 1] = '\0';
	return true;
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
		.begin = at,
		.at = at + sizeof(raw),
		.end = at + recording->header.chunk_bytes,
		.sequence = raw.sequence,
		.has_short = recording->header.version >= SHORT_VERSION,
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
		return recording_fail(recording, "out of host memory");
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
	if (check_header(recording) && recording_read_definitions(recording) &&
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
	recording_free_definitions(recording);
}

const char *recording_advice(uint64_t number)
{
	if (!number)
		return "";
	return gpumem_advice_name(number <= INT_MAX ? (gpumem_advice)number
						    : (gpumem_advice)0);
}
