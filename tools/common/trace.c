/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See trace.h: the parser. A line that is whole in the input is parsed where
 * it lies; one that is cut by the end of a chunk is gathered in parser->line.
 */
#include "trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNATURE "# gpumem-trace "

struct cursor {
	const char *at, *end;
};

void trace_parser_init(struct trace_parser *parser, uint64_t divisor,
		       trace_event_fn fn, void *user)
{
	memset(parser, 0, sizeof(*parser));
	parser->fn = fn;
	parser->user = user;
	parser->divisor = divisor;
	parser->free_slot = TRACE_NO_SLOT;
	parser->totals.streams = 1;
	trace_ids_init(&parser->ids);
}

static bool fail(struct trace_parser *parser, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool fail(struct trace_parser *parser, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(parser->reason, sizeof(parser->reason), format, args);
	va_end(args);
	return false;
}

/* A space and a decimal number. */
static bool number(struct trace_parser *parser, struct cursor *in,
		   const char *what, uint64_t *value_out)
{
	const char *digits = in->at + 1;
	uint64_t value = 0;

	if (in->at == in->end || *in->at != ' ')
		return fail(parser, "%s is missing", what);
	for (in->at++; in->at < in->end; in->at++) {
		unsigned digit = (unsigned)(unsigned char)*in->at - '0';

		if (digit > 9)
			break;
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return fail(parser, "%s is above 64 bits", what);
	}
	if (in->at == digits)
		return fail(parser, "%s is not a number", what);
	*value_out = value;
	return true;
}

static bool line_over(struct trace_parser *parser, const struct cursor *in)
{
	if (in->at == in->end)
		return true;
	return fail(parser, "unexpected character 0x%02x in column %zu",
		    (unsigned)(unsigned char)*in->at,
		    (size_t)(in->at - (in->end - parser->line_bytes)) + 1);
}

/* The index of the trace's stream number. */
static bool find_stream(struct trace_parser *parser, uint64_t stream,
			uint16_t *index_out)
{
	uint32_t count = parser->totals.streams;
	uint32_t i = 0;

	while (i < count && parser->streams[i] != stream)
		i++;
	if (i == TRACE_STREAMS)
		return fail(parser, "more than %d different streams",
			    TRACE_STREAMS);
	if (i == count) {
		parser->streams[i] = stream;
		parser->totals.streams++;
	}
	*index_out = (uint16_t)i;
	return true;
}

/* A slot that no live block has. */
static bool take_slot(struct trace_parser *parser, uint32_t *slot_out)
{
	uint64_t used = parser->totals.peak_live_blocks;
	uint64_t room = parser->block_room ? parser->block_room * 2 : 1024;
	struct trace_block *blocks;

	if (parser->free_slot != TRACE_NO_SLOT) {
		*slot_out = parser->free_slot;
		parser->free_slot = parser->blocks[*slot_out].next_free;
		return true;
	}
	if (used == TRACE_NO_SLOT)
		return fail(parser, "too many blocks at one time");
	if (used == parser->block_room) {
		blocks = realloc(parser->blocks, room * sizeof(*blocks));
		if (!blocks)
			return fail(parser, "out of host memory");
		parser->blocks = blocks;
		parser->block_room = room;
	}
	*slot_out = (uint32_t)used;
	return true;
}

static bool emit(struct trace_parser *parser, enum trace_kind kind,
		 uint32_t slot)
{
	struct trace_event event = {
		.bytes = parser->blocks[slot].bytes,
		.slot = slot,
		.stream = parser->blocks[slot].stream,
		.kind = (uint16_t)kind,
	};

	parser->totals.events++;
	if (parser->fn(&event, (uint32_t)parser->totals.lines, parser->user))
		return true;
	parser->stopped = true;
	return fail(parser, "stopped");
}

static bool parse_alloc(struct trace_parser *parser, struct cursor *in)
{
	struct trace_totals *totals = &parser->totals;
	uint64_t id, bytes, stream, live;
	uint16_t index = 0;
	uint32_t slot = 0;

	if (!number(parser, in, "ID", &id) ||
	    !number(parser, in, "BYTES", &bytes) ||
	    !number(parser, in, "STREAM", &stream) || !line_over(parser, in))
		return false;
	if (trace_ids_find(&parser->ids, id) != TRACE_NO_SLOT)
		return fail(parser, "ID %llu is live already",
			    (unsigned long long)id);
	bytes = bytes / parser->divisor + (bytes % parser->divisor != 0);
	if (__builtin_add_overflow(totals->live_bytes, bytes, &live))
		return fail(parser, "the live bytes are above 64 bits");
	if (!find_stream(parser, stream, &index) || !take_slot(parser, &slot))
		return false;
	if (!trace_ids_add(&parser->ids, id, slot))
		return fail(parser, "out of host memory");
	parser->blocks[slot].bytes = bytes;
	parser->blocks[slot].stream = index;
	totals->allocs++;
	totals->live_bytes = live;
	if (live > totals->peak_live_bytes)
		totals->peak_live_bytes = live;
	if (++totals->live_blocks > totals->peak_live_blocks)
		totals->peak_live_blocks = totals->live_blocks;
	return emit(parser, TRACE_ALLOC, slot);
}

static bool parse_free(struct trace_parser *parser, struct cursor *in)
{
	uint64_t id;
	uint32_t slot;

	if (!number(parser, in, "ID", &id) || !line_over(parser, in))
		return false;
	slot = trace_ids_take(&parser->ids, id);
	if (slot == TRACE_NO_SLOT)
		return fail(parser, "ID %llu is not live",
			    (unsigned long long)id);
	parser->totals.live_bytes -= parser->blocks[slot].bytes;
	parser->totals.live_blocks--;
	parser->blocks[slot].next_free = parser->free_slot;
	parser->free_slot = slot;
	return emit(parser, TRACE_FREE, slot);
}

/* A comment that names the format must name this one. */
static bool parse_comment(struct trace_parser *parser, const struct cursor *in)
{
	const size_t prefix = sizeof(SIGNATURE) - 1;
	size_t bytes = (size_t)(in->end - in->at);
	const char *version = in->at + prefix;

	if (parser->totals.lines != 1 || bytes < prefix ||
	    memcmp(in->at, SIGNATURE, prefix))
		return true;
	if (bytes > prefix && *version == '1' &&
	    (bytes == prefix + 1 || version[1] == ' '))
		return true;
	return fail(parser, "not version 1 of the format");
}

static bool parse_line(struct trace_parser *parser, const char *line,
		       size_t bytes)
{
	struct cursor in = {line, line + bytes};

	if (parser->totals.lines == UINT32_MAX)
		return fail(parser, "too many lines");
	parser->totals.lines++;
	if (bytes > TRACE_LINE)
		return fail(parser, "longer than %d bytes", TRACE_LINE);
	parser->line_bytes = bytes;
	if (!bytes)
		return fail(parser, "empty");
	switch (*in.at) {
	case '#':
		return parse_comment(parser, &in);
	case 'a':
		in.at++;
		return parse_alloc(parser, &in);
	case 'f':
		in.at++;
		return parse_free(parser, &in);
	default:
		return fail(parser, "begins with none of #, a and f");
	}
}

/* Appends to the gathered line; what is beyond TRACE_LINE is only counted. */
static void gather(struct trace_parser *parser, const char *data, size_t bytes)
{
	size_t used = parser->line_bytes;
	size_t fits = used < TRACE_LINE ? TRACE_LINE - used : 0;

	if (bytes < fits)
		fits = bytes;
	if (fits)
		memcpy(parser->line + used, data, fits);
	parser->line_bytes += bytes;
}

bool trace_parser_feed(struct trace_parser *parser, const char *data,
		       size_t bytes)
{
	while (bytes && !*parser->reason) {
		const char *newline = memchr(data, '\n', bytes);
		size_t length = newline ? (size_t)(newline - data) : bytes;
		bool whole = newline && !parser->line_bytes;

		if (!whole)
			gather(parser, data, length);
		if (parser->line_bytes > TRACE_LINE)
			parse_line(parser, parser->line, parser->line_bytes);
		else if (newline)
			parse_line(parser, whole ? data : parser->line,
				   whole ? length : parser->line_bytes);
		if (newline)
			parser->line_bytes = 0;
		data += length + (newline != NULL);
		bytes -= length + (newline != NULL);
	}
	return !*parser->reason;
}

bool trace_parser_finish(struct trace_parser *parser)
{
	if (*parser->reason)
		return false;
	if (parser->line_bytes) {
		parser->totals.lines++;
		return fail(parser, "cut off: the line has no end");
	}
	if (!parser->totals.events)
		return fail(parser, "no events");
	return true;
}

void trace_parser_free(struct trace_parser *parser)
{
	trace_ids_free(&parser->ids);
	free(parser->blocks);
	parser->blocks = NULL;
}
