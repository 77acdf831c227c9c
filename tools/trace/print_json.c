/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The summary for programs.
 */
#include "print.h"

#include <gpumem/gpumem.h>

static void put_usage(json_t *object, const struct summary_usage *usage,
		      bool *ok)
{
	json_put(object, "allocations", json_u64(usage->allocs), ok);
	json_put(object, "peak_blocks", json_u64(usage->peak_blocks), ok);
	json_put(object, "peak_requested_bytes",
		 json_u64(usage->peak_requested_bytes), ok);
	json_put(object, "peak_requested_seconds",
		 json_number(print_seconds(usage->peak_requested_ns)), ok);
	json_put(object, "peak_reserved_bytes",
		 json_u64(usage->peak_reserved_bytes), ok);
	json_put(object, "peak_reserved_seconds",
		 json_number(print_seconds(usage->peak_reserved_ns)), ok);
	json_put(object, "live_blocks", json_u64(usage->blocks), ok);
	json_put(object, "live_bytes", json_u64(usage->requested_bytes), ok);
	json_put(object, "reserved_bytes", json_u64(usage->reserved_bytes), ok);
}

static json_t *text_or_null(const char *text)
{
	return text ? json_text(text) : json_null();
}

static json_t *pools_json(const struct trace_source *source,
			  const struct summary *summary, bool *ok)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < SUMMARY_POOLS; i++) {
		struct recording_pool pool = trace_pool(source, (uint16_t)i);
		json_t *object;

		if (!summary->pools[i].events)
			continue;
		object = json_object();
		json_put(object, "number", json_u64(i), ok);
		json_put(object, "name", text_or_null(pool.name), ok);
		json_put(object, "device", text_or_null(pool.device), ok);
		json_put(object, "kind", text_or_null(pool.kind), ok);
		put_usage(object, &summary->pools[i], ok);
		json_put(array, NULL, object, ok);
	}
	return array;
}

static json_t *kinds_json(const struct summary *summary, bool *ok)
{
	json_t *object = json_object();

#define PUT(name, words)                                                       \
	json_put(object, gpumem_record_kind_name(GPUMEM_RECORD_##name),        \
		 json_u64(summary->kinds[GPUMEM_RECORD_##name]), ok);
	PRINT_KIND_LIST(PUT)
#undef PUT
	return object;
}

static json_t *unknown_json(const struct trace_source *source, bool *ok)
{
	const struct tag_names *unknown = &source->torch.unknown;
	json_t *array = json_array();

	for (size_t i = 0; i < unknown->count; i++)
		json_put(array, NULL, json_text(unknown->path[i]), ok);
	return array;
}

void print_json_about(json_t *root, const struct trace_source *source,
		      const struct summary *summary, bool *ok)
{
	const struct gpumem_record_header *header = &source->recording.header;

	json_put(root, "file", json_text(source->config->file), ok);
	json_put(root, "program", json_text(header->program), ok);
	json_put(root, "process", json_u64(header->pid), ok);
	json_put(root, "library", json_text(header->library), ok);
	json_put(root, "begin_unix_seconds",
		 json_number(print_seconds(header->begin_real_ns)), ok);
	json_put(root, "seconds", json_number(print_duration(source, summary)),
		 ok);
	json_put(root, "ended",
		 json_boolean(header->end_ns || source->is_torch ||
			      source->is_text),
		 ok);
	json_put(root, "events", json_u64(summary->all.events), ok);
	json_put(root, "threads", json_u64(summary->threads.count), ok);
	json_put(root, "streams", json_u64(summary->streams.count), ok);
	json_put(root, "overwritten_events",
		 json_u64(header->overwritten_events), ok);
	json_put(root, "lost_events", json_u64(header->lost_events), ok);
	json_put(root, "lost_definitions", json_u64(header->lost_definitions),
		 ok);
	json_put(root, "unknown_events", json_u64(source->unknown), ok);
	json_put(root, "unended_blocks", json_u64(source->unended), ok);
	json_put(root, "damaged_events", json_u64(source->recording.damaged),
		 ok);
	json_put(root, "unknown_names", unknown_json(source, ok), ok);
}

bool print_json(const struct trace_source *source,
		const struct summary *summary)
{
	json_t *root = json_object();
	bool ok = true;

	print_json_about(root, source, summary, &ok);
	put_usage(root, &summary->all, &ok);
	json_put(root, "kinds", kinds_json(summary, &ok), &ok);
	json_put(root, "pools", pools_json(source, summary, &ok), &ok);
	return json_print(root, ok);
}
