/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See trace_file.h.
 */
#include "trace_file.h"

#include "progress.h"
#include "recording.h"
#include "torch.h"
#include "trace_foreign.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK 65536u

struct reader {
	gzFile file;
	uint64_t bytes; /* of the file; 0 when unknown */
	struct trace_parser parser;
	struct progress progress;
	char foreign[200]; /* why a file of others cannot be read */
	char chunk[CHUNK];
};

static bool open_file(struct reader *reader, const char *path)
{
	bool standard_input = !strcmp(path, "-");
	struct stat about;

	errno = 0;
	reader->file =
		standard_input ? gzdopen(dup(0), "rb") : gzopen(path, "rb");
	if (!reader->file)
		return false;
	gzbuffer(reader->file, 4 * CHUNK);
	if (!standard_input && !stat(path, &about) && about.st_size > 0)
		reader->bytes = (uint64_t)about.st_size;
	return true;
}

/* NULL: all was read as it should be; or why not. */
static const char *read_well(const struct reader *reader)
{
	int number;

	/* At a cut gzip file gzread() says 0 and gzerror() knows. */
	(void)gzerror(reader->file, &number);
	if (number == Z_BUF_ERROR)
		return "the file is cut off: gzip data ends too early";
	if (number == Z_ERRNO)
		return strerror(errno);
	if (number != Z_OK && number != Z_STREAM_END)
		return "damaged gzip data";
	return NULL;
}

/* A file of others, of which the first bytes are in the chunk. */
static const char *pump_foreign(struct reader *reader, size_t got)
{
	size_t bytes = 0, room = 16 * CHUNK;
	const char *reason = NULL;
	char *data = malloc(room), *more = data;

	while (more && got) {
		memcpy(data + bytes, reader->chunk, got);
		bytes += got;
		if (room - bytes < CHUNK) {
			room *= 2;
			more = realloc(data, room);
			data = more ? more : data;
		}
		got = (size_t)gzread(reader->file, reader->chunk, CHUNK);
		got = got <= CHUNK ? got : 0;
	}
	reason = more ? read_well(reader) : "out of host memory";
	if (!reason)
		reason = trace_foreign_feed(&reader->parser, data, bytes,
					    reader->foreign);
	free(data);
	if (!reason)
		trace_parser_finish(&reader->parser);
	return reason;
}

/* Feeds the whole file. Returns NULL, or why reading failed; a failure of the
 * parser is in the parser. */
static const char *pump(struct reader *reader)
{
	const char *reason;
	bool first = true;
	int got;

	while ((got = gzread(reader->file, reader->chunk, CHUNK)) > 0) {
		if (first && torch_is(reader->chunk, (size_t)got))
			return pump_foreign(reader, (size_t)got);
		if (first && recording_is(reader->chunk, (size_t)got))
			return "it is a recording: gpumem-trace --to=trace "
			       "makes a trace of it";
		first = false;
		if (!trace_parser_feed(&reader->parser, reader->chunk,
				       (size_t)got))
			return NULL;
		if (reader->bytes)
			progress_show(&reader->progress,
				      (uint64_t)gzoffset(reader->file),
				      reader->bytes);
	}
	reason = read_well(reader);
	if (!reason)
		trace_parser_finish(&reader->parser);
	return reason;
}

static void describe(const struct reader *reader, const char *path,
		     const char *reason, struct trace_error *error)
{
	uint64_t line = reader->parser.totals.lines;

	if (reason) /* it is the line being read that could not be read */
		line++;
	else
		reason = reader->parser.reason;
	if (*reader->foreign)
		snprintf(error->text, sizeof(error->text), "%s: %s", path,
			 reader->foreign);
	else
		snprintf(error->text, sizeof(error->text), "%s:%llu: %s", path,
			 (unsigned long long)(line ? line : 1), reason);
}

/* NULL, or why reading failed, as pump(). */
static const char *read_path(struct reader *reader, const char *path)
{
	const char *reason = NULL;

	if (!trace_foreign_file(&reader->parser, path, reader->foreign,
				&reason))
		return pump(reader);
	if (!reason)
		trace_parser_finish(&reader->parser);
	return reason;
}

static enum trace_result read_open(struct reader *reader, const char *path,
				   struct trace_error *error)
{
	const char *reason;

	progress_begin(&reader->progress, "reading");
	reason = read_path(reader, path);
	progress_end(&reader->progress);
	if (!reason && !*reader->parser.reason)
		return TRACE_OK;
	if (!reason && reader->parser.stopped)
		return TRACE_STOPPED;
	describe(reader, path, reason, error);
	return TRACE_BAD;
}

enum trace_result trace_read(const char *path, uint64_t divisor,
			     trace_event_fn fn, void *user,
			     struct trace_totals *totals_out,
			     struct trace_error *error)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	enum trace_result result = TRACE_BAD;

	memset(totals_out, 0, sizeof(*totals_out));
	if (!reader || !open_file(reader, path)) {
		snprintf(error->text, sizeof(error->text), "%s: %s", path,
			 errno ? strerror(errno) : "out of host memory");
		goto free_reader;
	}
	trace_parser_init(&reader->parser, divisor, fn, user);
	result = read_open(reader, path, error);
	*totals_out = reader->parser.totals;
	trace_parser_free(&reader->parser);
	gzclose_r(reader->file);
free_reader:
	free(reader);
	return result;
}

static bool append(const struct trace_event *event, uint32_t line, void *user)
{
	struct trace *trace = user;
	uint64_t room = trace->room ? trace->room * 2 : 65536;
	struct trace_event *events;
	uint32_t *lines;

	if (trace->count == trace->room) {
		events = realloc(trace->events, room * sizeof(*events));
		if (!events)
			return false;
		trace->events = events;
		lines = realloc(trace->lines, room * sizeof(*lines));
		if (!lines)
			return false;
		trace->lines = lines;
		trace->room = room;
	}
	trace->events[trace->count] = *event;
	trace->lines[trace->count++] = line;
	return true;
}

bool trace_load(const char *path, uint64_t divisor, struct trace *trace_out,
		struct trace_error *error)
{
	struct trace trace = {0};
	enum trace_result result =
		trace_read(path, divisor, append, &trace, &trace.totals, error);

	if (result == TRACE_OK) {
		*trace_out = trace;
		return true;
	}
	if (result == TRACE_STOPPED)
		snprintf(error->text, sizeof(error->text),
			 "%s: out of host memory", path);
	trace_free(&trace);
	return false;
}

void trace_free(struct trace *trace)
{
	free(trace->events);
	free(trace->lines);
	*trace = (struct trace){0};
}
