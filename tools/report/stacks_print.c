/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stacks for people and for programs.
 */
#include "stacks.h"

#include "common/clean.h"
#include "common/human.h"
#include "common/term.h"

#include <stdlib.h>

enum { INDENT = 4 };

static bool print_line(const struct frame *frame, size_t line)
{
	char *text = frames_line(frame, line);
	char *clean = text ? clean_copy(text) : NULL;

	if (clean) {
		printf("%*s", INDENT, "");
		term_wrap(clean, INDENT, 2 * INDENT);
	}
	free(text);
	free(clean);
	return clean != NULL;
}

static bool print_one(const struct stacks *stacks, const struct stacks_one *one)
{
	char size[HUMAN_BYTES];
	bool ok;

	ok = term_say(
		"%s (%llu bytes) in %llu block%s, allocated at",
		human_bytes(size, one->bytes), (unsigned long long)one->bytes,
		(unsigned long long)one->blocks, one->blocks == 1 ? "" : "s");
	for (size_t i = 0; i < one->stack->count && ok; i++) {
		const struct frame *frame = frames_find(
			&stacks->frames, recording_stack_frame(one->stack, i));

		for (size_t j = 0; j < frames_lines(frame) && ok; j++)
			ok = print_line(frame, j);
	}
	return ok;
}

bool stacks_print(const struct stacks *stacks, const struct stacks_list *list,
		  const char *when)
{
	bool ok = true;

	if (!list->count)
		return true;
	putchar('\n');
	term_say("Live at the %s, by where it was allocated:", when);
	for (size_t i = 0; i < list->count && ok; i++)
		ok = print_one(stacks, &list->of[i]);
	return ok;
}

/* ---- JSON ---- */

static json_t *text_or_null(const char *text)
{
	return text ? json_text(text) : json_null();
}

static json_t *frame_json(const struct frame *frame, size_t line, bool *ok)
{
	static const struct frame_place nothing;
	const struct frame_place *place =
		line < frame->count ? &frame->places[line] : &nothing;
	json_t *object = json_object();

	json_put(object, "function", text_or_null(place->function), ok);
	json_put(object, "file", text_or_null(place->file), ok);
	json_put(object, "line",
		 place->line ? json_u64(place->line) : json_null(), ok);
	json_put(object, "module", text_or_null(frame->module), ok);
	json_put(object, "offset",
		 frame->named ? json_null() : json_u64(frame->offset), ok);
	return object;
}

static json_t *frames_json(const struct stacks *stacks,
			   const struct recording_stack *stack, bool *ok)
{
	json_t *array = json_array();

	for (size_t i = 0; i < stack->count; i++) {
		const struct frame *frame = frames_find(
			&stacks->frames, recording_stack_frame(stack, i));

		for (size_t j = 0; j < frames_lines(frame); j++)
			json_put(array, NULL, frame_json(frame, j, ok), ok);
	}
	return array;
}

json_t *stacks_json(const struct stacks *stacks, const struct stacks_list *list,
		    bool *ok)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->count; i++) {
		const struct stacks_one *one = &list->of[i];
		json_t *object = json_object();

		json_put(object, "bytes", json_u64(one->bytes), ok);
		json_put(object, "blocks", json_u64(one->blocks), ok);
		json_put(object, "frames", frames_json(stacks, one->stack, ok),
			 ok);
		json_put(array, NULL, object, ok);
	}
	return array;
}
