/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Writes the JSON of Chrome's trace events, which ui.perfetto.dev opens: a
 * counter for each pool, a moment for each event of a pool and each allocation
 * whose stack is known, and a stretch for each wait, on the line of its thread.
 * Times are microseconds since the recording began. The stacks themselves are
 * in chrome_stacks.c.
 */
#include "chrome.h"

#include "common/json.h"
#include "common/tool.h"

#include <inttypes.h>
#include <stdlib.h>

enum { POOLS = UINT16_MAX + 1 };

struct chrome_pool {
	char *name; /* in JSON, with its quotes */
	uint64_t requested, reserved;
};

struct chrome {
	struct trace_source *source;
	FILE *out;
	struct chrome_pool *pools; /* by number */
	struct chrome_stacks stacks;
	uint32_t pid;
	bool any;
};

/* A moment, and what its numbers are. What is mapped where, page by page, would
 * hide the others, which have the sums. */
static const struct moment {
	uint8_t kind;
	const char *name;
	const char *value[RECORDING_VALUES];
} moments[] = {
	{GPUMEM_RECORD_POOL, "pool begins", {"reserved"}},
	{GPUMEM_RECORD_POOL_END, "pool ends", {NULL}},
	{GPUMEM_RECORD_GROW, "grow", {"bytes", "reserved"}},
	{GPUMEM_RECORD_SHRINK, "shrink", {"bytes", "reserved"}},
	{GPUMEM_RECORD_MOVE, "move pages", {"bytes"}},
	{GPUMEM_RECORD_LEND, "lend pages", {"bytes"}},
	{GPUMEM_RECORD_TRANSFER, "transfer", {"bytes", "from stream"}},
	{GPUMEM_RECORD_TRIM, "trim", {"bytes", "keep"}},
	{GPUMEM_RECORD_OOM, "out of memory", {"bytes", NULL, "reserved", NULL}},
	{GPUMEM_RECORD_DROP, "drop stream", {"stream"}},
	{GPUMEM_RECORD_SLEEP, "sleep", {"bytes", "kept"}},
	{GPUMEM_RECORD_WAKE, "wake", {"bytes", "copied"}},
};

bool chrome_fail(const struct trace_source *source)
{
	tool_error("%s: out of host memory", source->config->file);
	return false;
}

char *chrome_quote(const char *text)
{
	json_t *value = json_text(text);
	char *quoted =
		value ? json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII)
		      : NULL;

	json_decref(value);
	return quoted;
}

static struct chrome_pool *find_pool(struct chrome *chrome, uint16_t number)
{
	struct chrome_pool *pool = &chrome->pools[number];
	const char *name = trace_pool(chrome->source, number).name;
	char *text = NULL;

	if (pool->name)
		return pool;
	if (asprintf(&text, "pool %u%s%s", number, name && *name ? " " : "",
		     name ? name : "") < 0)
		return NULL;
	pool->name = chrome_quote(text);
	free(text);
	return pool->name ? pool : NULL;
}

/* The beginning of an event, up to its args, which the caller closes by }}. */
static void put(struct chrome *chrome, const char *name, const char *phase,
		const struct recording_event *event, uint64_t time_ns)
{
	fprintf(chrome->out,
		"%s{\"name\":%s,\"ph\":%s,\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
		",\"ts\":%" PRIu64 ".%03u",
		chrome->any ? ",\n" : "", name, phase, chrome->pid,
		event->thread, time_ns / 1000, (unsigned)(time_ns % 1000));
	chrome->any = true;
}

static void put_counter(struct chrome *chrome, const struct chrome_pool *pool,
			const struct recording_event *event)
{
	put(chrome, pool->name, "\"C\"", event, event->time_ns);
	fprintf(chrome->out,
		",\"args\":{\"requested\":%" PRIu64 ",\"reserved\":%" PRIu64
		"}}",
		pool->requested, pool->reserved);
}

static void put_wait(struct chrome *chrome, const struct chrome_pool *pool,
		     const struct recording_event *event)
{
	uint64_t ns = event->value[0];

	if (ns > event->time_ns)
		ns = event->time_ns;
	put(chrome, "\"wait for the device\"", "\"X\"", event,
	    event->time_ns - ns);
	fprintf(chrome->out,
		",\"dur\":%" PRIu64 ".%03u,\"args\":{\"pool\":%s}}", ns / 1000,
		(unsigned)(ns % 1000), pool->name);
}

static void put_moment(struct chrome *chrome, const struct chrome_pool *pool,
		       const struct recording_event *event,
		       const struct moment *moment)
{
	bool oom = event->kind == GPUMEM_RECORD_OOM;
	char name[32];

	snprintf(name, sizeof(name), "\"%s\"", moment->name);
	put(chrome, name, "\"i\"", event, event->time_ns);
	fprintf(chrome->out, ",\"s\":\"%s\",\"args\":{\"pool\":%s",
		oom ? "p" : "t", pool->name);
	for (unsigned i = 0; i < event->values; i++)
		if (moment->value[i])
			fprintf(chrome->out, ",\"%s\":%" PRIu64,
				moment->value[i], event->value[i]);
	if (oom)
		fprintf(chrome->out, ",\"status\":\"%s\"",
			gpumem_status_name(
				(gpumem_status)(int64_t)event->value[1]));
	if (oom && event->value[3])
		fprintf(chrome->out, ",\"would help\":\"%s\"",
			recording_advice(event->value[3]));
	fprintf(chrome->out, "}}");
}

/* An allocation, which is a moment only because it has a stack: what it makes
 * of the sums is in the counter. On the line of a thread, where both viewers
 * show what belongs to it. */
static bool put_stack(struct chrome *chrome, const struct chrome_pool *pool,
		      const struct recording_event *event,
		      struct chrome_stack *stack)
{
	bool ok;

	put(chrome,
	    event->kind == GPUMEM_RECORD_ALLOC ? "\"alloc\"" : "\"live\"",
	    "\"i\"", event, event->time_ns);
	fprintf(chrome->out,
		",\"s\":\"t\",\"sf\":%" PRIu32
		",\"args\":{\"pool\":%s,\"bytes\":%" PRIu64,
		stack->sf, pool->name, event->bytes);
	ok = chrome_stacks_args(&chrome->stacks, stack, chrome->out);
	fprintf(chrome->out, "}}");
	return ok || chrome_fail(chrome->source);
}

/* True: the counter has changed. */
static bool count(struct chrome_pool *pool, const struct recording_event *event,
		  const struct history_block *block)
{
	switch (event->kind) {
	case GPUMEM_RECORD_LIVE:
	case GPUMEM_RECORD_ALLOC:
		pool->requested += event->bytes;
		return true;
	case GPUMEM_RECORD_FREE:
		pool->requested -= event->bytes;
		return true;
	case GPUMEM_RECORD_RESIZE:
		pool->requested += event->bytes - block->bytes;
		return true;
	case GPUMEM_RECORD_POOL:
		pool->reserved = event->value[0];
		return true;
	case GPUMEM_RECORD_GROW:
	case GPUMEM_RECORD_SHRINK:
		pool->reserved = event->value[1];
		return true;
	case GPUMEM_RECORD_POOL_END:
		pool->reserved = 0;
		return true;
	default:
		return false;
	}
}

static bool write_event(const struct recording_event *event,
			const struct history_block *block, void *user)
{
	struct chrome *chrome = user;
	struct chrome_pool *pool = find_pool(chrome, event->pool);
	struct chrome_stack *stack = NULL;

	if (!pool)
		return chrome_fail(chrome->source);
	if (count(pool, event, block))
		put_counter(chrome, pool, event);
	if (event->kind == GPUMEM_RECORD_WAIT)
		put_wait(chrome, pool, event);
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
		if (moments[i].kind == event->kind)
			put_moment(chrome, pool, event, &moments[i]);
	if (chrome_begins(event))
		stack = chrome_stacks_find(&chrome->stacks, block->stack);
	return !stack || put_stack(chrome, pool, event, stack);
}

static bool put_head(struct chrome *chrome)
{
	const struct gpumem_record_header *header =
		&chrome->source->recording.header;
	char *program = chrome_quote(header->program),
	     *library = chrome_quote(header->library);
	bool ok = program && library;

	if (ok)
		fprintf(chrome->out,
			"{\"displayTimeUnit\":\"ns\",\"otherData\":{"
			"\"program\":%s,\"gpumem\":%s},",
			program, library);
	ok = ok && chrome_stacks_write(&chrome->stacks, chrome->out);
	if (ok)
		fprintf(chrome->out,
			"\"traceEvents\":[\n"
			"{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":"
			"%" PRIu32 ",\"args\":{\"name\":%s}}",
			chrome->pid, program);
	chrome->any = true;
	free(program);
	free(library);
	return ok || chrome_fail(chrome->source);
}

bool trace_write_chrome(struct trace_source *source, FILE *out)
{
	struct chrome chrome = {
		.source = source,
		.out = out,
		.pid = source->recording.header.pid,
		.pools = calloc(POOLS, sizeof(*chrome.pools)),
	};
	bool ok = chrome.pools || chrome_fail(source);

	ok = ok && chrome_stacks_read(&chrome.stacks, source) &&
	     put_head(&chrome) &&
	     trace_each(source, write_event, NULL, &chrome);
	if (ok)
		fputs("\n]}\n", out);
	for (unsigned i = 0; chrome.pools && i < POOLS; i++)
		free(chrome.pools[i].name);
	free(chrome.pools);
	chrome_stacks_free(&chrome.stacks);
	return ok;
}
