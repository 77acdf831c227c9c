/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The stacks of Chrome's trace events: a tree of frames, which comes once, and
 * what an event says of its own. The events themselves are chrome.c's.
 *
 * chrome://tracing follows "sf" into the tree; Perfetto shows only args. With
 * all frames in its args an allocation would take three times as much, 500
 * bytes instead of 170 where a small program's stacks have nine, and more with
 * the paths of Python. So only the first event of a stack has them; others have
 * the innermost frame, and the number by which that first one is found.
 */
#include "chrome.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- which come ---- */

struct chrome_stack *chrome_stacks_find(const struct chrome_stacks *stacks,
					uint64_t number)
{
	const struct recording_stack *found =
		stacks->stacks ? trace_stack(stacks->source, number) : NULL;

	if (!found)
		return NULL;
	return &stacks->stacks[found - trace_stacks(stacks->source)->stack];
}

static bool want(const struct recording_event *event,
		 const struct history_block *block, void *user)
{
	struct chrome_stacks *stacks = user;
	struct chrome_stack *stack;

	if (!chrome_begins(event))
		return true;
	stack = chrome_stacks_find(stacks, block->stack);
	if (!stack || stack->found)
		return true;
	stack->found = trace_stack(stacks->source, block->stack);
	return frames_add(&stacks->frames, stack->found) ||
	       chrome_fail(stacks->source);
}

bool chrome_stacks_read(struct chrome_stacks *stacks,
			struct trace_source *source)
{
	const struct recording_stacks *table = trace_stacks(source);

	*stacks = (struct chrome_stacks){.source = source};
	trace_ids_init(&stacks->nodes);
	if (!table->count || source->config->anonymise)
		return true;
	stacks->stacks = calloc(table->count, sizeof(*stacks->stacks));
	if (!stacks->stacks)
		return chrome_fail(source);
	return trace_each(source, want, NULL, stacks) &&
	       (frames_resolve(&stacks->frames, table) || chrome_fail(source));
}

void chrome_stacks_free(struct chrome_stacks *stacks)
{
	trace_ids_free(&stacks->nodes);
	frames_free(&stacks->frames);
	free(stacks->stacks);
	*stacks = (struct chrome_stacks){0};
}

/* ---- the tree ---- */

static bool put_line(const struct frame *frame, size_t line, FILE *out)
{
	char *text = frames_line(frame, line);
	char *quoted = text ? chrome_quote(text) : NULL;

	if (quoted)
		fputs(quoted, out);
	free(text);
	free(quoted);
	return quoted;
}

/* One more, called by `parent`; 0: by none that is known. */
static bool put_node(struct chrome_stacks *stacks, const struct frame *frame,
		     size_t line, uint32_t parent, FILE *out)
{
	char *module = chrome_quote(frame->module ? frame->module : "");
	bool ok;

	fprintf(out, "%s\n\"%" PRIu32 "\":{\"name\":",
		stacks->node_count ? "," : "\"stackFrames\":{",
		stacks->node_count + 1);
	stacks->node_count++;
	ok = put_line(frame, line, out) && module;
	if (ok)
		fprintf(out, ",\"category\":%s", module);
	if (parent)
		fprintf(out, ",\"parent\":\"%" PRIu32 "\"", parent);
	fputc('}', out);
	free(module);
	return ok;
}

/* An address that was called by `parent`: its lines from the outermost on, of
 * which the innermost is the one to call others. Numbers of 32 bits are enough
 * for 32 GiB of stacks. */
static bool put_frame(struct chrome_stacks *stacks, const struct frame *frame,
		      uint32_t *parent, FILE *out)
{
	uint64_t at = (uint64_t)(frame - stacks->frames.frames);
	uint64_t key = (uint64_t)*parent << 32 | at;
	uint32_t node = trace_ids_find(&stacks->nodes, key);

	if (node != TRACE_NO_SLOT) {
		*parent = node;
		return true;
	}
	for (size_t line = frames_lines(frame); line-- > 0;) {
		if (!put_node(stacks, frame, line, *parent, out))
			return false;
		*parent = stacks->node_count;
	}
	return trace_ids_add(&stacks->nodes, key, *parent);
}

static bool put_stack(struct chrome_stacks *stacks, struct chrome_stack *stack,
		      FILE *out)
{
	bool ok = true;

	for (size_t i = stack->found->count; i-- > 0 && ok;)
		ok = put_frame(
			stacks,
			frames_find(&stacks->frames,
				    recording_stack_frame(stack->found, i)),
			&stack->sf, out);
	return ok;
}

bool chrome_stacks_write(struct chrome_stacks *stacks, FILE *out)
{
	size_t count = stacks->stacks ? trace_stacks(stacks->source)->count : 0;
	bool ok = true;

	for (size_t i = 0; i < count && ok; i++)
		if (stacks->stacks[i].found)
			ok = put_stack(stacks, &stacks->stacks[i], out);
	if (stacks->node_count)
		fputs("},", out);
	return ok;
}

/* ---- an event ---- */

static bool put_all(const struct chrome_stacks *stacks,
		    const struct recording_stack *stack, FILE *out)
{
	const char *between = ",\"stack\":[";
	bool ok = true;

	for (size_t i = 0; i < stack->count && ok; i++) {
		const struct frame *frame = frames_find(
			&stacks->frames, recording_stack_frame(stack, i));

		for (size_t j = 0; j < frames_lines(frame) && ok; j++) {
			fputs(between, out);
			ok = put_line(frame, j, out);
			between = ",";
		}
	}
	fputc(']', out);
	return ok;
}

bool chrome_stacks_args(const struct chrome_stacks *stacks,
			struct chrome_stack *stack, FILE *out)
{
	const struct frame *frame = frames_find(
		&stacks->frames, recording_stack_frame(stack->found, 0));
	bool first = !stack->told;

	stack->told = true;
	fprintf(out, ",\"sf\":%" PRIu32 ",\"at\":", stack->sf);
	return put_line(frame, 0, out) &&
	       (!first || put_all(stacks, stack->found, out));
}
