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

const char *trace_foreign_feed(struct trace_parser *parser, const void *data,
			       size_t bytes, char text[200])
{
	struct feed feed = {.parser = parser};
	struct torch_history *torch = malloc(sizeof(*torch));
	const char *reason = "out of host memory";

	if (!torch)
		return reason;
	if (torch_open(torch, data, bytes)) {
		reason = feed_all(torch, &feed);
		torch_close(torch);
	} else {
		snprintf(text, 200, "%s", torch->reason);
		reason = text;
	}
	free(torch);
	return reason;
}
