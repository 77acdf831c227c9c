/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What is there of a pickle's bytes: a window that goes over them, twice. A
 * text is a place in it; before the window goes on, texts that are on the
 * stack, in containers or remembered are copied. What was dropped is not. No
 * locks.
 */
#include "unpickle_stack.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 22 };

/* ---- texts ---- */

/* Of one in the window. */
static bool keep_text(struct unpickle *unpickle, struct unpickled *value)
{
	char **texts, *copy;

	if (value->kind != UNPICKLED_TEXT ||
	    value->text < (const char *)unpickle->begin ||
	    value->text >= (const char *)unpickle->end)
		return true;
	texts = unpickle_grow(unpickle, unpickle->texts, &unpickle->text_room,
			      unpickle->text_count + 1, sizeof(*texts));
	if (!texts)
		return false;
	unpickle->texts = texts;
	copy = malloc(value->bytes + (size_t)1);
	if (!copy)
		return unpickle_fail(unpickle, "out of host memory");
	memcpy(copy, value->text, value->bytes);
	texts[unpickle->text_count++] = copy;
	value->text = copy;
	return true;
}

static bool keep_all(struct unpickle *unpickle, struct unpickled *values,
		     size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!keep_text(unpickle, &values[i]))
			return false;
	return true;
}

static bool keep_texts(struct unpickle *unpickle)
{
	struct unpickle_memo *memo = &unpickle->memo;

	for (size_t i = 0; i < unpickle->container_count; i++)
		if (!keep_all(unpickle, unpickle->containers[i].items,
			      unpickle->containers[i].count))
			return false;
	for (size_t i = 0; i < memo->kept_count; i++)
		if (!keep_text(unpickle, &memo->kept[i].value))
			return false;
	return keep_all(unpickle, unpickle->stack, unpickle->stack_count);
}

/* ---- the window ---- */

/* Room for so many bytes more than those from `at` on, which come first. */
static bool move(struct unpickle *unpickle, size_t left, size_t more)
{
	unsigned char *window = unpickle->window;

	if (left)
		memmove(window, unpickle->at, left);
	window = unpickle_grow(unpickle, window, &unpickle->window_room,
			       left + more, 1);
	if (!window)
		return false;
	unpickle->window = window;
	unpickle->begin = unpickle->at = window;
	unpickle->end = window + left;
	return true;
}

/* A text may be as long as it says only if the input has that much. */
bool unpickle_window_fill(struct unpickle *unpickle, size_t bytes)
{
	const struct unpickle_input *input = unpickle->input;
	size_t left = (size_t)(unpickle->end - unpickle->at), got = 1;

	if (!input || !keep_texts(unpickle))
		return false;
	while (left < bytes && got) {
		if (!move(unpickle, left, PIECE))
			return false;
		got = input->read(unpickle->window + left, PIECE, input->user);
		left += got;
		unpickle->bytes += got;
		unpickle->end += got;
	}
	return left >= bytes;
}

bool unpickle_window_rewind(struct unpickle *unpickle)
{
	unpickle->at = unpickle->begin;
	if (!unpickle->input)
		return true;
	unpickle->end = unpickle->at;
	return unpickle->input->rewind(unpickle->input->user) ||
	       unpickle_fail(unpickle, "it cannot be read a second time");
}

void unpickle_window_close(struct unpickle *unpickle)
{
	for (size_t i = 0; i < unpickle->text_count; i++)
		free(unpickle->texts[i]);
	free(unpickle->texts);
	free(unpickle->window);
	unpickle->texts = NULL;
	unpickle->window = NULL;
	unpickle->text_count = 0;
}
