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
static void put_frame(struct gm_torch *torch, const struct frame *frame,
		      size_t line)
{
	static const struct frame_place nothing;
	const struct frame_place *place =
		line < frame->count ? &frame->places[line] : &nothing;
	const char *where = place->file ? place->file : frame->module;
	char *function = frames_function(frame, line);
	char *name = function ? clean_copy(function) : NULL;
	char *file = where ? clean_copy(where) : NULL;

	gm_torch_frame(torch, name ? name : "", file ? file : "", place->line);
	free(file);
	free(name);
	free(function);
}

static void put_stack(struct snapshot *snapshot,
		      const struct recording_stack *stack)
{
	struct gm_pickle *pickle = &snapshot->torch.pickle;
	struct gm_pickle_list list;

	gm_pickle_list(pickle, &list);
	for (size_t i = 0; stack && i < stack->count; i++) {
		const struct frame *frame = frames_find(
			&snapshot->frames, recording_stack_frame(stack, i));

		for (size_t j = 0; j < frames_lines(frame); j++) {
			gm_pickle_item(pickle, &list);
			put_frame(&snapshot->torch, frame, j);
		}
	}
	gm_pickle_list_end(pickle, &list);
}

void snapshot_frames(struct gm_torch *torch, uint64_t stack, void *user)
{
	struct snapshot *snapshot = user;
	const struct recording_stack *found =
		trace_stack(snapshot->source, stack);
	size_t at = found ? (size_t)(found - table_of(snapshot)->stack) : 0;
	uint32_t number = (uint32_t)at + FIRST_STACK;

	if (found && snapshot->stacks[at] == SNAPSHOT_WRITTEN) {
		gm_pickle_again(&torch->pickle, number);
		return;
	}
	put_stack(snapshot, found);
	if (!found)
		return;
	gm_pickle_name(&torch->pickle, number);
	snapshot->stacks[at] = SNAPSHOT_WRITTEN;
}
