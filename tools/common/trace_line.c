/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See trace.h: the parser, from lines to events.
 */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

/* A space and a decimal number. */
static bool number(struct trace_parser *parser, struct trace_cursor *in,
		   const char *what, uint64_t *value_out)
{
	const char *digits = in->at + 1;
	uint64_t value = 0;

	if (in->at == in->end || *in->at != ' ')
		return trace_fail(parser, "%s is missing", what);
	for (in->at++; in->at < in->end; in->at++) {
		unsigned digit = (unsigned)(unsigned char)*in->at - '0';

		if (digit > 9)
			break;
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return trace_fail(parser, "%s is above 64 bits", what);
	}
	if (in->at == digits)
		return trace_fail(parser, "%s is not a number", what);
	*value_out = value;
	return true;
}

static bool line_over(struct trace_parser *parser,
		      const struct trace_cursor *in)
{
	if (in->at == in->end)
		return true;
	return trace_fail(parser, "unexpected character 0x%02x in column %zu",
			  (unsigned)(unsigned char)*in->at,
			  (size_t)(in->at - (in->end - parser->line_bytes)) +
				  1);
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
		return trace_fail(parser, "more than %d different streams",
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
		return trace_fail(parser, "too many blocks at one time");
	if (used == parser->block_room) {
		blocks = realloc(parser->blocks, room * sizeof(*blocks));
		if (!blocks)
			return trace_fail(parser, "out of host memory");
		parser->blocks = blocks;
		parser->block_room = room;
	}
	*slot_out = (uint32_t)used;
	return true;
}

static bool emit(struct trace_parser *parser, const struct trace_event *event)
{
	struct trace_totals *totals = &parser->totals;

	totals->events++;
	totals->live_bytes -= event->before;
	totals->live_bytes += event->kind == TRACE_FREE ? 0 : event->bytes;
	if (totals->live_bytes > totals->peak_live_bytes)
		totals->peak_live_bytes = totals->live_bytes;
	if (parser->fn(event, (uint32_t)totals->lines, parser->user))
		return true;
	parser->stopped = true;
	return trace_fail(parser, "stopped");
}

/* A block's new size, and the sum of all with it. */
static bool set_bytes(struct trace_parser *parser, struct trace_event *event,
		      uint64_t bytes)
{
	uint64_t live;

	event->bytes = bytes / parser->divisor + (bytes % parser->divisor != 0);
	if (__builtin_add_overflow(parser->totals.live_bytes - event->before,
				   event->bytes, &live))
		return trace_fail(parser, "the live bytes are above 64 bits");
	return true;
}

static bool parse_alloc(struct trace_parser *parser, struct trace_cursor *in)
{
	struct trace_totals *totals = &parser->totals;
	struct trace_event event = {.kind = TRACE_ALLOC};
	uint64_t id, bytes, stream;

	if (!number(parser, in, "ID", &id) ||
	    !number(parser, in, "BYTES", &bytes) ||
	    !number(parser, in, "STREAM", &stream) || !line_over(parser, in))
		return false;
	if (trace_ids_find(&parser->ids, id) != TRACE_NO_SLOT)
		return trace_fail(parser, "ID %llu is live already",
				  (unsigned long long)id);
	if (!set_bytes(parser, &event, bytes) ||
	    !find_stream(parser, stream, &event.stream) ||
	    !take_slot(parser, &event.slot))
		return false;
	if (!trace_ids_add(&parser->ids, id, event.slot))
		return trace_fail(parser, "out of host memory");
	parser->blocks[event.slot].bytes = event.bytes;
	parser->blocks[event.slot].stream = event.stream;
	totals->allocs++;
	if (++totals->live_blocks > totals->peak_live_blocks)
		totals->peak_live_blocks = totals->live_blocks;
	return emit(parser, &event);
}

/* ---- of a block that is live ---- */

/* What is known of the block of that ID: its slot, size and own stream. */
static bool find_block(struct trace_parser *parser, uint64_t id,
		       struct trace_event *event)
{
	event->slot = trace_ids_find(&parser->ids, id);
	if (event->slot == TRACE_NO_SLOT)
		return trace_fail(parser, "ID %llu is not live",
				  (unsigned long long)id);
	event->bytes = event->before = parser->blocks[event->slot].bytes;
	event->stream = parser->blocks[event->slot].stream;
	return true;
}

/* A last field that may be missing. Version 1 has none. */
static bool maybe_stream(struct trace_parser *parser, struct trace_cursor *in,
			 bool *named_out, uint64_t *stream_out)
{
	*named_out = parser->version > 1 && in->at != in->end;
	if (*named_out && !number(parser, in, "STREAM", stream_out))
		return false;
	return line_over(parser, in);
}

static bool parse_free(struct trace_parser *parser, struct trace_cursor *in)
{
	struct trace_event event = {.kind = TRACE_FREE};
	uint64_t id, stream = 0;
	bool named = false;

	if (!number(parser, in, "ID", &id) ||
	    !maybe_stream(parser, in, &named, &stream) ||
	    !find_block(parser, id, &event) ||
	    (named && !find_stream(parser, stream, &event.stream)))
		return false;
	(void)trace_ids_take(&parser->ids, id);
	parser->totals.live_blocks--;
	parser->blocks[event.slot].next_free = parser->free_slot;
	parser->free_slot = event.slot;
	return emit(parser, &event);
}

static bool parse_use(struct trace_parser *parser, struct trace_cursor *in)
{
	struct trace_event event = {.kind = TRACE_USE};
	uint64_t id, stream;

	return number(parser, in, "ID", &id) &&
	       number(parser, in, "STREAM", &stream) && line_over(parser, in) &&
	       find_block(parser, id, &event) &&
	       find_stream(parser, stream, &event.stream) &&
	       emit(parser, &event);
}

static bool parse_resize(struct trace_parser *parser, struct trace_cursor *in)
{
	struct trace_event event = {.kind = TRACE_RESIZE};
	uint64_t id, bytes, stream = 0;
	bool named = false;

	if (!number(parser, in, "ID", &id) ||
	    !number(parser, in, "BYTES", &bytes) ||
	    !maybe_stream(parser, in, &named, &stream) ||
	    !find_block(parser, id, &event) ||
	    !set_bytes(parser, &event, bytes) ||
	    (named && !find_stream(parser, stream, &event.stream)))
		return false;
	parser->blocks[event.slot].bytes = event.bytes;
	return emit(parser, &event);
}

/* ---- of what follows ---- */

static bool parse_time(struct trace_parser *parser, struct trace_cursor *in)
{
	uint64_t ns;

	if (!number(parser, in, "NS", &ns) || !line_over(parser, in))
		return false;
	if (ns < parser->totals.ns)
		return trace_fail(parser, "NS goes back");
	parser->totals.ns = ns;
	return true;
}

/* What it is says nothing to a replay. A path is shorter than its line. */
static bool parse_tag(struct trace_parser *parser, struct trace_cursor *in)
{
	const char *path;

	if (in->at < in->end && *in->at != ' ')
		return line_over(parser, in);
	in->at += in->at < in->end;
	path = in->at;
	while (in->at < in->end && (unsigned char)*in->at >= ' ' &&
	       *in->at != 0x7f)
		in->at++;
	memcpy(parser->tag, path, (size_t)(in->at - path));
	parser->tag[in->at - path] = '\0';
	parser->tags++;
	return line_over(parser, in);
}

bool trace_parse_line(struct trace_parser *parser, struct trace_cursor *in)
{
	char first = *in->at++;

	if (first == 'a')
		return parse_alloc(parser, in);
	if (first == 'f')
		return parse_free(parser, in);
	if (parser->version == 1)
		return trace_fail(parser, "begins with none of #, a and f");
	switch (first) {
	case 'u':
		return parse_use(parser, in);
	case 'r':
		return parse_resize(parser, in);
	case 't':
		return parse_time(parser, in);
	case 'g':
		return parse_tag(parser, in);
	default:
		return trace_fail(parser,
				  "begins with none of #, a, f, g, r, t and u");
	}
}
