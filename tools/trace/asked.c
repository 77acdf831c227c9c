/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See asked.h.
 */
#include "asked.h"

#include "common/tool.h"

#include <stdlib.h>
#include <string.h>

bool asked_pool(const struct trace_source *source, uint16_t pool)
{
	const struct trace_config *config = source->config;
	const char *name = recording_pool(&source->recording, pool).name;
	uint64_t wanted;

	if (config->only && !config->only[pool])
		return false;
	if (!config->pool)
		return true;
	if (tool_parse_count(config->pool, UINT16_MAX, &wanted))
		return pool == wanted;
	return name && !strcmp(name, config->pool);
}

void asked_init(struct asked *asked, const struct trace_source *source)
{
	*asked = (struct asked){.source = source};
	trace_ids_init(&asked->streams);
}

void asked_free(struct asked *asked)
{
	trace_ids_free(&asked->streams);
}

bool asked_note(struct asked *asked, const struct recording_event *event)
{
	bool begins = event->kind == GPUMEM_RECORD_LIVE ||
		      event->kind == GPUMEM_RECORD_ALLOC;

	asked->last_ns = event->time_ns;
	if (!asked_pool(asked->source, event->pool))
		return true;
	asked->has_pool = true;
	if (!begins || !asked->source->config->one_stream ||
	    trace_ids_find(&asked->streams, event->stream) != TRACE_NO_SLOT)
		return true;
	if (event->stream >= asked->first_after)
		asked->first_after = event->stream + 1;
	return trace_ids_add(&asked->streams, event->stream, 0);
}

/* ---- what is missing ---- */

static bool miss(const struct asked *asked, const char *what)
{
	tool_error("%s: %s", asked->source->config->file, what);
	return false;
}

/* The file's, or that of its last event, where it was not ended. */
static uint64_t end_of(const struct asked *asked)
{
	const struct gpumem_record_header *header =
		&asked->source->recording.header;
	uint64_t ns = header->end_ns > header->begin_ns
			      ? header->end_ns - header->begin_ns
			      : 0;

	return ns > asked->last_ns ? ns : asked->last_ns;
}

bool asked_time(const struct asked *asked)
{
	uint64_t from = asked->source->config->from_ns, end = end_of(asked);
	char text[80];

	if (asked->late || from <= end)
		return true;
	snprintf(text, sizeof(text), "it ends at second %.6f, before --from",
		 (double)end / 1e9);
	return miss(asked, text);
}

/* "it has no block of stream 7, but of 0, 1 and 4" */
static bool miss_stream(const struct asked *asked)
{
	enum { NAMED = 8 };
	size_t named = 0, count = asked->streams.count;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return miss(asked, "out of host memory");
	fprintf(out, "it has no block of stream %llu",
		(unsigned long long)asked->source->config->stream);
	for (uint64_t i = 0; i < asked->first_after && named < NAMED; i++) {
		if (trace_ids_find(&asked->streams, i) == TRACE_NO_SLOT)
			continue;
		fprintf(out, "%s%llu",
			!named		     ? ", but of "
			: named + 1 == count ? " and "
					     : ", ",
			(unsigned long long)i);
		named++;
	}
	if (named < count)
		fprintf(out, " and %zu more", count - named);
	if (fclose(out))
		miss(asked, "out of host memory");
	else
		miss(asked, text);
	free(text);
	return false;
}

bool asked_found(const struct asked *asked)
{
	const struct trace_config *config = asked->source->config;

	/* What was not read, for its time is past, may have it. */
	if (config->until_ns != UINT64_MAX)
		return true;
	if (config->pool && !asked->has_pool)
		return miss(asked, "it has no pool of that number");
	if (config->one_stream &&
	    trace_ids_find(&asked->streams, config->stream) == TRACE_NO_SLOT)
		return miss_stream(asked);
	return true;
}
