/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See trace.h: the parser, from chunks to lines. A line that is whole in the
 * input is parsed where it lies; one that is cut by the end of a chunk is
 * gathered in parser->line.
 */
#include "trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNATURE "# gpumem-trace "

void trace_parser_init(struct trace_parser *parser, uint64_t divisor,
		       trace_event_fn fn, void *user)
{
	memset(parser, 0, sizeof(*parser));
	parser->fn = fn;
	parser->user = user;
	parser->divisor = divisor;
	parser->free_slot = TRACE_NO_SLOT;
	parser->version = 1;
	parser->totals.streams = 1;
	trace_ids_init(&parser->ids);
}

bool trace_fail(struct trace_parser *parser, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(parser->reason, sizeof(parser->reason), format, args);
	va_end(args);
	return false;
}

/* A comment that names the format must name one of these. */
static bool parse_comment(struct trace_parser *parser,
			  const struct trace_cursor *in)
{
	const size_t prefix = sizeof(SIGNATURE) - 1;
	size_t bytes = (size_t)(in->end - in->at);
	const char *version = in->at + prefix;

	if (parser->totals.lines != 1 || bytes < prefix ||
	    memcmp(in->at, SIGNATURE, prefix))
		return true;
	if (bytes == prefix || (*version != '1' && *version != '2') ||
	    (bytes > prefix + 1 && version[1] != ' '))
		return trace_fail(parser, "not version 1 or 2 of the format");
	parser->version = (unsigned)(*version - '0');
	return true;
}

static bool parse_line(struct trace_parser *parser, const char *line,
		       size_t bytes)
{
	struct trace_cursor in = {line, line + bytes};

	if (parser->totals.lines == UINT32_MAX)
		return trace_fail(parser, "too many lines");
	parser->totals.lines++;
	if (bytes > TRACE_LINE)
		return trace_fail(parser, "longer than %d bytes", TRACE_LINE);
	parser->line_bytes = bytes;
	if (!bytes)
		return trace_fail(parser, "empty");
	return *in.at == '#' ? parse_comment(parser, &in)
			     : trace_parse_line(parser, &in);
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
		return trace_fail(parser, "cut off: the line has no end");
	}
	if (!parser->totals.events)
		return trace_fail(parser, "no events");
	return true;
}

void trace_parser_free(struct trace_parser *parser)
{
	trace_ids_free(&parser->ids);
	free(parser->blocks);
	parser->blocks = NULL;
}
