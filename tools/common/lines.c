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

static uint64_t hash(const char *text)
{
	uint64_t value = UINT64_C(14695981039346656037); /* FNV-1a */

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) *
			UINT64_C(1099511628211);
	return value;
}

static const char *add_tag(struct lines_history *lines, const char *path,
			   uint64_t key)
{
	size_t room = lines->tag_room ? lines->tag_room * 2 : 64;
	char **tags;

	if (lines->tag_count == LINES_TAGS)
		return "more than 65535 different tags";
	if (lines->tag_count == lines->tag_room) {
		tags = realloc((void *)lines->tags, room * sizeof(*tags));
		if (!tags)
			return "out of host memory";
		lines->tags = tags;
		lines->tag_room = room;
	}
	lines->tags[lines->tag_count] = strdup(path);
	if (!lines->tags[lines->tag_count])
		return "out of host memory";
	lines->tag_count++;
	return trace_ids_add(&lines->numbers, key, (uint32_t)lines->tag_count)
		       ? NULL
		       : "out of host memory";
}

/* NULL, or why the path has no number. */
static const char *number_tag(struct reading *reading)
{
	struct lines_history *lines = reading->lines;
	const char *path = reading->parser.tag, *reason = NULL;
	uint64_t key = hash(path);
	uint32_t number;

	reading->tags = reading->parser.tags;
	reading->tag = 0;
	if (!*path)
		return NULL;
	while ((number = trace_ids_find(&lines->numbers, key)) !=
		       TRACE_NO_SLOT &&
	       strcmp(lines->tags[number - 1], path))
		key++;
	if (number == TRACE_NO_SLOT) {
		reason = add_tag(lines, path, key);
		number = (uint32_t)lines->tag_count;
	}
	reading->tag = (uint16_t)number;
	return reason;
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
	trace_ids_init(&lines->numbers);
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
	return number && number <= lines->tag_count ? lines->tags[number - 1]
						    : NULL;
}

void lines_close(struct lines_history *lines)
{
	for (size_t i = 0; i < lines->tag_count; i++)
		free(lines->tags[i]);
	free((void *)lines->tags);
	free(lines->events);
	trace_ids_free(&lines->numbers);
	lines->tags = NULL;
	lines->events = NULL;
	lines->tag_count = lines->tag_room = 0;
	lines->count = lines->room = lines->next = 0;
}
