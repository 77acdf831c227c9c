/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The stacks of a snapshot. Each is written where it comes first; after that
 * readers have the same list again.
 */
#include "pytorch.h"

#include "common/clean.h"

#include <stdlib.h>

/* Numbers below are those of words. */
enum { FIRST_STACK = 256 };

static const struct recording_stacks *table_of(const struct snapshot *snapshot)
{
	return trace_stacks(snapshot->source);
}

bool snapshot_want(struct snapshot *snapshot, uint64_t stack)
{
	const struct recording_stacks *table = table_of(snapshot);
	const struct recording_stack *found =
		trace_stack(snapshot->source, stack);

	if (!found)
		return true;
	if (!snapshot->stacks)
		snapshot->stacks =
			calloc(table->count, sizeof(*snapshot->stacks));
	if (!snapshot->stacks)
		return false;
	if (snapshot->stacks[found - table->stack] != SNAPSHOT_ABSENT)
		return true;
	snapshot->stacks[found - table->stack] = SNAPSHOT_COMES;
	return frames_add(&snapshot->frames, found);
}

bool snapshot_resolve(struct snapshot *snapshot)
{
	return frames_resolve(&snapshot->frames, table_of(snapshot));
}

/* Without memory a text is empty. */
static void put_text(struct pickle *pickle, const char *text)
{
	char *clean = text ? clean_copy(text) : NULL;

	pickle_text(pickle, clean ? clean : "");
	free(clean);
}

static void put_frame(struct snapshot *snapshot, const struct frame *frame,
		      size_t line)
{
	static const struct frame_place nothing;
	const struct frame_place *place =
		line < frame->count ? &frame->places[line] : &nothing;
	char *function = frames_function(frame, line);

	pickle_dict(&snapshot->pickle);
	snapshot_word(snapshot, WORD_name);
	put_text(&snapshot->pickle, function);
	snapshot_word(snapshot, WORD_filename);
	put_text(&snapshot->pickle, place->file ? place->file : frame->module);
	snapshot_put(snapshot, WORD_line, place->line);
	pickle_dict_end(&snapshot->pickle);
	free(function);
}

static void put_stack(struct snapshot *snapshot,
		      const struct recording_stack *stack)
{
	struct pickle_list list;

	pickle_list(&snapshot->pickle, &list);
	for (size_t i = 0; stack && i < stack->count; i++) {
		const struct frame *frame =
			frames_find(&snapshot->frames, stack->frames[i]);

		for (size_t j = 0; j < frames_lines(frame); j++) {
			pickle_item(&snapshot->pickle, &list);
			put_frame(snapshot, frame, j);
		}
	}
	pickle_list_end(&snapshot->pickle, &list);
}

void snapshot_frames(struct snapshot *snapshot, uint64_t stack)
{
	const struct recording_stack *found =
		trace_stack(snapshot->source, stack);
	size_t at = found ? (size_t)(found - table_of(snapshot)->stack) : 0;
	uint32_t number = (uint32_t)at + FIRST_STACK;

	snapshot_word(snapshot, WORD_frames);
	if (found && snapshot->stacks[at] == SNAPSHOT_WRITTEN) {
		pickle_again(&snapshot->pickle, number);
		return;
	}
	put_stack(snapshot, found);
	if (!found)
		return;
	pickle_name(&snapshot->pickle, number);
	snapshot->stacks[at] = SNAPSHOT_WRITTEN;
}
