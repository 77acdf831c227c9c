/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Between the files that write Chrome's trace events.
 */
#ifndef GPUMEM_TOOLS_TRACE_CHROME_H
#define GPUMEM_TOOLS_TRACE_CHROME_H

#include "trace.h"

#include "common/frames.h"
#include "common/trace_ids.h"

/* A stack of the recording. */
struct chrome_stack {
	const struct recording_stack *found; /* NULL: no event has it */
	uint32_t sf; /* its innermost frame in "stackFrames" */
	bool told;   /* an event has had all of it */
};

/* The stacks of the events that are written. What frames share with others from
 * main() on is there once: each belongs to the one that called it.
 *
 *     from 1 to node_count: numbers in "stackFrames"; a frame's is larger than
 *     that of the one that called it */
struct chrome_stacks {
	struct trace_source *source;
	struct frames frames;
	struct chrome_stack *stacks; /* by the place in the recording's table;
					NULL: no event has one */
	struct trace_ids nodes;
	uint32_t node_count;
};

/* Says so; false. */
bool chrome_fail(const struct trace_source *source);
/* A text in JSON, for free(); NULL: out of memory. */
char *chrome_quote(const char *text);

/* chrome_stacks.c: reads the recording for the stacks that its events have.
 * False, and told: out of memory; chrome_stacks_free() is right all the same.
 */
bool chrome_stacks_read(struct chrome_stacks *stacks,
			struct trace_source *source);
void chrome_stacks_free(struct chrome_stacks *stacks);
/* The key "stackFrames", and a comma; nothing if there are none. Comes before
 * the events. False: out of memory. */
bool chrome_stacks_write(struct chrome_stacks *stacks, FILE *out);
/* NULL: it has none. */
struct chrome_stack *chrome_stacks_find(const struct chrome_stacks *stacks,
					uint64_t number);
/* What the args of an event say of its stack, behind others. False: out of
 * memory. */
bool chrome_stacks_args(const struct chrome_stacks *stacks,
			struct chrome_stack *stack, FILE *out);

/* An allocation, or what was live before: these have a stack. */
static inline bool chrome_begins(const struct recording_event *event)
{
	return event->kind == GPUMEM_RECORD_LIVE ||
	       event->kind == GPUMEM_RECORD_ALLOC;
}

#endif
