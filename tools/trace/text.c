/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Writes gpumem-trace 2. A moment gets a line of its own when a microsecond has
 * passed since the last one, and a tag when it changes.
 */
#include "trace.h"

#include "common/clean.h"
#include "common/tool.h"
#include "common/trace.h"

#include <inttypes.h>
#include <stdlib.h>

struct text {
	struct trace_source *source;
	FILE *out;
	struct trace_ids streams; /* that are in the trace */
	uint64_t said_ns;
	uint16_t said_tag;
	bool any, timed;
};

static bool fail(const struct text *text, const char *reason)
{
	tool_error("%s: %s", text->source->config->file, reason);
	return false;
}

/* A trace has no more of them. */
static bool note_stream(struct text *text, uint64_t stream)
{
	if (trace_ids_find(&text->streams, stream) != TRACE_NO_SLOT)
		return true;
	if (text->streams.count == TRACE_STREAMS)
		return fail(text, "more than 1024 different streams");
	return trace_ids_add(&text->streams, stream, 0) ||
	       fail(text, "out of host memory");
}

enum { MOMENT_NS = 1000 };

static void put_time(struct text *text, uint64_t ns)
{
	if (text->timed && ns - text->said_ns < MOMENT_NS)
		return;
	fprintf(text->out, "t %" PRIu64 "\n", ns);
	text->said_ns = ns;
	text->timed = true;
}

static bool put_tag(struct text *text, uint16_t tag)
{
	const char *path = trace_tag(text->source, tag);
	char *clean;

	if (tag == text->said_tag)
		return true;
	text->said_tag = tag;
	clean = clean_copy(path ? path : "");
	if (!clean)
		return fail(text, "out of host memory");
	fprintf(text->out, *clean ? "g %.*s\n" : "g\n", TRACE_LINE - 2, clean);
	free(clean);
	return true;
}

/* The end of a line; a stream stands there if it is not the block's own. */
static void put_end(struct text *text, const struct recording_event *event,
		    const struct history_block *block)
{
	if (event->stream != block->stream)
		fprintf(text->out, " %" PRIu64, event->stream);
	putc('\n', text->out);
}

static bool put_alloc(struct text *text, const struct recording_event *event,
		      const struct history_block *block)
{
	if (!put_tag(text, event->tag))
		return false;
	text->any = true;
	fprintf(text->out, "a %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", block->id,
		event->bytes, event->stream);
	return true;
}

static bool put(const struct recording_event *event,
		const struct history_block *block, void *user)
{
	struct text *text = user;

	if (!block)
		return true;
	if (!note_stream(text, event->stream))
		return false;
	put_time(text, event->time_ns);
	switch (event->kind) {
	case GPUMEM_RECORD_FREE:
		fprintf(text->out, "f %" PRIu64, block->id);
		put_end(text, event, block);
		return true;
	case GPUMEM_RECORD_RESIZE:
		fprintf(text->out, "r %" PRIu64 " %" PRIu64, block->id,
			event->bytes);
		put_end(text, event, block);
		return true;
	case GPUMEM_RECORD_USE:
		fprintf(text->out, "u %" PRIu64 " %" PRIu64 "\n", block->id,
			event->stream);
		return true;
	default:
		return put_alloc(text, event, block);
	}
}

static bool put_head(const struct text *text)
{
	const struct gpumem_record_header *header =
		&text->source->recording.header;
	char *program = clean_copy(header->program);

	if (!program)
		return fail(text, "out of host memory");
	fprintf(text->out, "# gpumem-trace 2 recorded from %s, process %u\n",
		program, header->pid);
	free(program);
	return true;
}

bool trace_write_text(struct trace_source *source, FILE *out)
{
	struct text text = {.source = source, .out = out};
	bool ok;

	trace_ids_init(&text.streams);
	ok = trace_ids_add(&text.streams, 0, 0) ||
	     fail(&text, "out of host memory");
	ok = ok && put_head(&text) && trace_each(source, put, NULL, &text);
	if (ok && !text.any)
		ok = fail(&text, "no block begins in it");
	trace_ids_free(&text.streams);
	return ok;
}
