/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See lines.h.
 */
#include "lines.h"

#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	struct lines_history *lines;
	struct trace_parser parser;
	uint64_t tags; /* lines of the parser that were looked at */
	uint16_t tag;  /* of the blocks that follow */
};

/* ---- tags ---- */

/* NULL, or why the path has no number. */
static const char *number_tag(struct reading *reading)
{
	reading->tags = reading->parser.tags;
	switch (tag_names_number(&reading->lines->tags, reading->parser.tag,
				 &reading->tag)) {
	case TAG_NAMES_FULL:
		return "more than 65535 different tags";
	case TAG_NAMES_NO_MEMORY:
		return "out of host memory";
	default:
		return NULL;
	}
}

/* ---- events ---- */

static bool append(struct lines_history *lines,
		   const struct recording_event *event)
{
	size_t room = lines->room ? lines->room * 2 : 4096;
	struct recording_event *events;

	if (lines->count == lines->room) {
		events = realloc(lines->events, room * sizeof(*events));
		if (!events)
			return false;
		lines->events = events;
		lines->room = room;
	}
	lines->events[lines->count++] = *event;
	return true;
}

static bool take(const struct trace_event *event, uint32_t line, void *user)
{
	static const uint8_t kinds[] = {
		[TRACE_ALLOC] = GPUMEM_RECORD_ALLOC,
		[TRACE_FREE] = GPUMEM_RECORD_FREE,
		[TRACE_USE] = GPUMEM_RECORD_USE,
		[TRACE_RESIZE] = GPUMEM_RECORD_RESIZE,
	};
	struct reading *reading = user;
	const char *reason = "out of host memory";
	struct recording_event one = {
		.time_ns = reading->parser.totals.ns,
		.address = (event->slot + UINT64_C(1)) * GPUMEM_RECORD_UNIT,
		.bytes = event->bytes,
		.stream = event->stream,
		.pool = LINES_POOL,
		.kind = kinds[event->kind],
	};

	if (reading->parser.tags != reading->tags) {
		const char *wrong = number_tag(reading);

		reason = wrong ? wrong : reason;
		if (wrong)
			goto fail;
	}
	one.tag = reading->tag;
	if (append(reading->lines, &one))
		return true;
fail:
	snprintf(reading->lines->reason, sizeof(reading->lines->reason),
		 "line %u: %s", line, reason);
	return false;
}

/* ---- all of it ---- */

bool lines_are(const void *data, size_t bytes)
{
	const char *text = data;

	return bytes >= 2 && (*text == '#' || *text == 'a') && text[1] == ' ';
}

bool lines_open(struct lines_history *lines, const void *data, size_t bytes)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	const struct trace_parser *parser;

	*lines = (struct lines_history){0};
	tag_names_init(&lines->tags);
	if (!reading) {
		snprintf(lines->reason, sizeof(lines->reason),
			 "out of host memory");
		return false;
	}
	parser = &reading->parser;
	reading->lines = lines;
	trace_parser_init(&reading->parser, 1, take, reading);
	(void)(trace_parser_feed(&reading->parser, data, bytes) &&
	       trace_parser_finish(&reading->parser));
	if (*parser->reason && !parser->stopped)
		snprintf(lines->reason, sizeof(lines->reason), "line %llu: %s",
			 (unsigned long long)parser->totals.lines,
			 parser->reason);
	trace_parser_free(&reading->parser);
	free(reading);
	if (*lines->reason)
		lines_close(lines);
	return !*lines->reason;
}

bool lines_next(struct lines_history *lines, struct recording_event *event_out)
{
	if (lines->next == lines->count)
		return false;
	*event_out = lines->events[lines->next++];
	return true;
}

const char *lines_tag(const struct lines_history *lines, uint16_t number)
{
	return tag_names_path(&lines->tags, number);
}

void lines_close(struct lines_history *lines)
{
	free(lines->events);
	tag_names_free(&lines->tags);
	lines->events = NULL;
	lines->count = lines->room = lines->next = 0;
}
