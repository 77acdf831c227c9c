/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Fuzzes the parser of traces. Whatever the input: its events are those of a
 * program that could have been (a slot is allocated only when it is free, and
 * freed only when it is not), its totals are the sums of its events, and it
 * makes no difference where the input is cut into chunks. Read as if it were a
 * recording it has the same events, and every tag has a path.
 */
#include "fuzz.h"

#include "common/lines.h"
#include "common/trace.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 8192

const struct fuzz_seed fuzz_seeds[] = {
	FUZZ_SEED("# gpumem-trace 1 x\na 1 100 0\na 2 200 7\nf 1\na 3 5 7\n"
		  "f 3\nf 2\n"),
	FUZZ_SEED("a 1 0 0\nf 1\na 1 18446744073709551615 0\nf 1\n"),
	FUZZ_SEED("a 18446744073709551615 9223372036854775808 1\n"
		  "a 0 9223372036854775807 2\nf 0\n"),
	FUZZ_SEED("# gpumem-trace 2 x\nt 5\na 1 100 0\ng a/b\na 2 200 7\n"
		  "u 1 7\nt 90\nr 2 300\nr 1 5 7\nf 1 7\ng\na 3 5 7\nf 3\n"
		  "f 2 9\n"),
	FUZZ_SEED("# gpumem-trace 2\na 1 18446744073709551615 0\nr 1 1\n"
		  "a 2 18446744073709551614 1\nr 1 2\n"),
	FUZZ_SEED("# gpumem-trace 3\na 1 1 0\n"),
	FUZZ_SEED("a 1 1 0\na 2 1 0\na 3 1 0\nf 2\na 4 1 0\nf 1\nf 3\nf 4\n"),
	FUZZ_SEED("a 1 1 0\n#\n# a 2 2 2\nf 1\nf 1\n"),
	FUZZ_SEED("a 1 1 0"),
	FUZZ_SEED("\n"),
	{NULL, 0},
};

struct model {
	uint64_t events, live, live_bytes;
	uint64_t sum; /* of everything that an event says */
	unsigned version;
	uint64_t bytes[SLOTS];
	uint8_t stream[SLOTS]; /* low byte of its number */
	uint8_t is_live[SLOTS];
};

static void check(int condition)
{
	if (!condition)
		abort();
}

static bool step(const struct trace_event *event, uint32_t line, void *user)
{
	struct model *model = user;
	uint32_t slot = event->slot;

	check(slot < SLOTS && line > 0 && event->stream < TRACE_STREAMS);
	model->events++;
	model->sum = model->sum * 31 + event->bytes + event->stream * 7u +
		     slot * 3u + event->kind + line;
	check(model->is_live[slot] == (event->kind != TRACE_ALLOC));
	check(event->before == (model->is_live[slot] ? model->bytes[slot] : 0));
	check(event->kind == TRACE_ALLOC || event->kind == TRACE_RESIZE ||
	      event->bytes == event->before);
	check(model->version > 1 || event->kind == TRACE_ALLOC ||
	      (event->kind == TRACE_FREE &&
	       model->stream[slot] == (uint8_t)event->stream));
	model->live_bytes -= event->before;
	if (event->kind == TRACE_FREE) {
		model->live--;
	} else {
		model->bytes[slot] = event->bytes;
		model->live_bytes += event->bytes;
	}
	if (event->kind == TRACE_ALLOC) {
		model->stream[slot] = (uint8_t)event->stream;
		model->live++;
	}
	model->is_live[slot] = event->kind != TRACE_FREE;
	return true;
}

/* Parses the input in chunks of that size. */
static void parse(struct trace_parser *parser, struct model *model,
		  const char *data, size_t size, size_t chunk)
{
	bool ok = true;

	memset(model, 0, sizeof(*model));
	model->version =
		size >= 16 && !memcmp(data, "# gpumem-trace 2", 16) ? 2 : 1;
	trace_parser_init(parser, 1, step, model);
	for (size_t at = 0; at < size;
	     at += chunk < size - at ? chunk : size - at)
		ok = trace_parser_feed(parser, data + at,
				       size - at < chunk ? size - at : chunk);
	ok = trace_parser_finish(parser) && ok;
	check(ok == !*parser->reason);
	check(!parser->stopped);
	check(parser->totals.events == model->events);
	check(parser->totals.live_bytes == model->live_bytes);
	check(parser->totals.live_blocks == model->live);
	check(parser->totals.peak_live_bytes >= model->live_bytes);
	check(parser->totals.peak_live_blocks >= model->live);
	check(parser->ids.count == model->live);
	trace_parser_free(parser);
}

static void check_lines(const struct trace_parser *parser, const uint8_t *data,
			size_t size)
{
	struct lines_history lines;
	struct recording_event event;
	uint64_t count = 0, last_ns = 0;
	bool ok = lines_open(&lines, data, size);

	check(ok == !*parser->reason && ok == !*lines.reason);
	for (; lines_next(&lines, &event); count++) {
		const char *path = lines_tag(&lines, event.tag);

		check(recording_is_block(&event) && event.pool == LINES_POOL);
		check(event.time_ns >= last_ns);
		last_ns = event.time_ns;
		check(!path == !event.tag && (!path || *path));
	}
	check(count == (ok ? parser->totals.events : 0));
	check(last_ns <= parser->totals.ns);
	check(!lines_tag(&lines, (uint16_t)(lines.tags.count + 1)));
	lines_close(&lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct trace_parser one, other;
	static struct model first, second;
	/* The first byte chooses where to cut. */
	size_t chunk = size ? 1u + data[0] % 13u : 1u;

	if (size > SLOTS * 8) /* the shortest event has 8 bytes */
		return 0;
	parse(&one, &first, (const char *)data, size, SIZE_MAX);
	parse(&other, &second, (const char *)data, size, chunk);
	check(first.events == second.events && first.sum == second.sum);
	check(one.totals.lines == other.totals.lines);
	check(!strcmp(one.reason, other.reason));
	check_lines(&one, data, size);
	return 0;
}
