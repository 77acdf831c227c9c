/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See trace_foreign.h. */
#include "trace_foreign.h"

#include "history.h"
#include "torch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct feed {
	struct trace_parser *parser;
	uint64_t ns;
};

enum { FEED_BYTES = 100 };

static bool feed_line(struct feed *feed, const char *line, int bytes)
{
	return trace_parser_feed(feed->parser, line, (size_t)bytes);
}

static bool feed_time(struct feed *feed, uint64_t ns)
{
	char line[FEED_BYTES];

	if (ns == feed->ns)
		return true;
	feed->ns = ns;
	return feed_line(feed, line,
			 snprintf(line, sizeof(line), "t %" PRIu64 "\n", ns));
}

static bool feed_event(const struct recording_event *event,
		       const struct history_block *block, void *user)
{
	struct feed *feed = user;
	char line[FEED_BYTES];
	int bytes;

	if (!block)
		return true;
	if (event->kind == GPUMEM_RECORD_FREE)
		bytes = snprintf(line, sizeof(line),
				 "f %" PRIu64 " %" PRIu64 "\n", block->id,
				 event->stream);
	else
		bytes = snprintf(line, sizeof(line),
				 "a %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
				 block->id, event->bytes, event->stream);
	return feed_time(feed, event->time_ns) && feed_line(feed, line, bytes);
}

static const char *feed_all(struct torch_history *torch, struct feed *feed)
{
	static const char head[] = "# gpumem-trace 2\n";
	struct recording_event event;
	struct history history;
	bool ok = history_init(&history, feed_event, feed);

	history.by_pool = true;
	if (ok)
		(void)feed_line(feed, head, sizeof(head) - 1);
	while (ok && torch_next(torch, &event))
		ok = history_feed(&history, &event);
	ok = history.first && !history.failed;
	history_free(&history);
	return ok ? NULL : "out of host memory";
}

static const char *feed_opened(struct trace_parser *parser,
			       struct torch_history *torch, bool ok,
			       char text[200])
{
	struct feed feed = {.parser = parser};
	const char *reason;

	if (!ok) {
		snprintf(text, 200, "%s", torch->reason);
		return text;
	}
	reason = feed_all(torch, &feed);
	torch_close(torch);
	return reason;
}

const char *trace_foreign_feed(struct trace_parser *parser, const void *data,
			       size_t bytes, char text[200])
{
	struct torch_history *torch = malloc(sizeof(*torch));
	const char *reason;

	if (!torch)
		return "out of host memory";
	reason = feed_opened(parser, torch, torch_open(torch, data, bytes),
			     text);
	free(torch);
	return reason;
}

bool trace_foreign_file(struct trace_parser *parser, const char *path,
			char text[200], const char **reason_out)
{
	struct torch_history *torch = malloc(sizeof(*torch));
	enum torch_file file =
		torch ? torch_open_file(torch, path) : TORCH_FILE_NONE;

	if (file != TORCH_FILE_NONE)
		*reason_out = feed_opened(parser, torch,
					  file == TORCH_FILE_OPEN, text);
	free(torch);
	return file != TORCH_FILE_NONE;
}
