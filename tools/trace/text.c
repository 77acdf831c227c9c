/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Writes gpumem-trace 1, which has allocations and frees: a block that is
 * resized is freed and allocated anew, and a use by another stream is left out.
 * A resized block keeps its number.
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
	bool any;
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

static bool put_alloc(struct text *text, const struct history_block *block,
		      uint64_t bytes)
{
	if (!note_stream(text, block->stream))
		return false;
	text->any = true;
	fprintf(text->out, "a %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", block->id,
		bytes, block->stream);
	return true;
}

static bool put(const struct recording_event *event,
		const struct history_block *block, void *user)
{
	struct text *text = user;

	if (!block)
		return true;
	switch (event->kind) {
	case GPUMEM_RECORD_LIVE:
	case GPUMEM_RECORD_ALLOC:
		return put_alloc(text, block, event->bytes);
	case GPUMEM_RECORD_RESIZE:
		fprintf(text->out, "f %" PRIu64 "\n", block->id);
		return put_alloc(text, block, event->bytes);
	case GPUMEM_RECORD_FREE:
		fprintf(text->out, "f %" PRIu64 "\n", block->id);
		return true;
	default:
		return true;
	}
}

static bool put_head(const struct text *text)
{
	const struct gpumem_record_header *header =
		&text->source->recording.header;
	char *program = clean_copy(header->program);

	if (!program)
		return fail(text, "out of host memory");
	fprintf(text->out, "# gpumem-trace 1 recorded from %s, process %u\n",
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
	ok = ok && put_head(&text) && trace_each(source, put, &text);
	if (ok && !text.any)
		ok = fail(&text, "no block begins in it");
	trace_ids_free(&text.streams);
	return ok;
}
