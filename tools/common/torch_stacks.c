/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See torch_stacks.h. */
#include "torch_stacks.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a */
#define HASH_BEGIN UINT64_C(14695981039346656037)
#define HASH_PRIME UINT64_C(1099511628211)

static uint64_t hash(uint64_t value, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	for (size_t i = 0; i < bytes; i++)
		value = (value ^ at[i]) * HASH_PRIME;
	return value;
}

/* The list with room for that many more; NULL: out of memory. */
static void *grown(void *list, size_t *room, size_t count, size_t more,
		   size_t size)
{
	size_t larger_room = *room ? *room : 64;
	void *larger;

	if (list && *room - count >= more)
		return list;
	while (larger_room - count < more)
		larger_room *= 2;
	larger = realloc(list, larger_room * size);
	if (larger)
		*room = larger_room;
	return larger;
}

/* ---- places ---- */

/* A text, if it says something, and is one in C too. */
static const struct unpickled *said(const struct unpickled *text)
{
	return text && text->kind == UNPICKLED_TEXT && text->bytes &&
			       !memchr(text->text, '\0', text->bytes) &&
			       !unpickled_is(text, "??")
		       ? text
		       : NULL;
}

static bool is_text(const char *known, const struct unpickled *text)
{
	return known && text ? strlen(known) == text->bytes &&
				       !memcmp(known, text->text, text->bytes)
			     : !known && !text;
}

/* What the place is made of. */
struct named {
	const struct unpickled *function, *file;
	uint32_t line;
};

static uint64_t hash_of(const struct named *named)
{
	uint64_t value = hash(HASH_BEGIN, &named->line, sizeof(named->line));

	if (named->function)
		value = hash(value, named->function->text,
			     named->function->bytes);
	value = hash(value, ":", 1);
	if (named->file)
		value = hash(value, named->file->text, named->file->bytes);
	return value;
}

static char *copy(const struct unpickled *text, bool *ok)
{
	char *to = text ? strndup(text->text, text->bytes) : NULL;

	*ok = *ok && (to || !text);
	return to;
}

static bool add_place(struct torch_stacks *stacks, const struct named *named,
		      uint64_t key)
{
	struct recording_place *places =
		grown(stacks->places, &stacks->place_room, stacks->place_count,
		      1, sizeof(*places));
	struct recording_place place = {.line = named->line};
	bool ok = places != NULL;

	if (!ok)
		return false;
	stacks->places = places;
	place.function = copy(named->function, &ok);
	place.file = copy(named->file, &ok);
	stacks->places[stacks->place_count++] = place;
	return ok && trace_ids_add(&stacks->place_ids, key,
				   (uint32_t)stacks->place_count);
}

/* The place's number, from 1 on; 0: out of memory. */
static uint32_t number_place(struct torch_stacks *stacks,
			     const struct named *named)
{
	uint64_t key = hash_of(named);
	uint32_t number;

	for (;; key++) {
		const struct recording_place *place;

		number = trace_ids_find(&stacks->place_ids, key);
		if (number == TRACE_NO_SLOT)
			break;
		place = &stacks->places[number - 1];
		if (place->line == named->line &&
		    is_text(place->function, named->function) &&
		    is_text(place->file, named->file))
			return number;
	}
	return add_place(stacks, named, key) ? (uint32_t)stacks->place_count
					     : 0;
}

/* Of a dictionary; *number_out 0: it has no name. */
static bool read_place(struct torch_stacks *stacks, struct unpickle *unpickle,
		       const struct unpickled *dict, uint32_t *number_out)
{
	uint64_t line = 0;
	struct named named;

	*number_out = dict->kind == UNPICKLED_DICT
			      ? unpickle_note(unpickle, dict)
			      : 0;
	if (*number_out)
		return true;
	named = (struct named){
		.function = said(unpickle_get(unpickle, dict, "name")),
		.file = said(unpickle_get(unpickle, dict, "filename"))};
	if (!named.function && !named.file)
		return true;
	(void)unpickle_get_u64(unpickle, dict, "line", &line);
	named.line = line <= UINT32_MAX ? (uint32_t)line : 0;
	*number_out = number_place(stacks, &named);
	if (unpickle_is_kept(unpickle, dict))
		unpickle_set_note(unpickle, dict, *number_out);
	return *number_out != 0;
}

/* ---- stacks ---- */

/* Behind what is there: how many frames, and which. */
static bool read_frames(struct torch_stacks *stacks, struct unpickle *unpickle,
			const struct unpickled *list, size_t *count_out)
{
	size_t most = unpickle_count(unpickle, list), count = 0;
	uint32_t *frames;

	*count_out = 0;
	if (!most)
		return true;
	frames = grown(stacks->frames, &stacks->frame_room, stacks->frame_count,
		       most, sizeof(*frames));
	if (!frames)
		return false;
	stacks->frames = frames;
	for (size_t i = 0; i < most; i++) {
		uint32_t place;

		if (!read_place(stacks, unpickle,
				unpickle_item(unpickle, list, i), &place))
			return false;
		if (place)
			frames[stacks->frame_count + count++] = place - 1;
	}
	*count_out = count;
	return true;
}

static size_t end_of(const struct torch_stacks *stacks, uint32_t number)
{
	return number < stacks->count ? stacks->begin[number]
				      : stacks->frame_count;
}

static bool is_stack(const struct torch_stacks *stacks, uint32_t number,
		     size_t count)
{
	size_t begin = stacks->begin[number - 1];

	return end_of(stacks, number) - begin == count &&
	       !memcmp(&stacks->frames[begin],
		       &stacks->frames[stacks->frame_count],
		       count * sizeof(*stacks->frames));
}

/* The frames behind what is there become the last stack. */
static bool add_stack(struct torch_stacks *stacks, size_t count, uint64_t key)
{
	size_t *begin = grown(stacks->begin, &stacks->room, stacks->count, 1,
			      sizeof(*begin));

	if (!begin)
		return false;
	stacks->begin = begin;
	begin[stacks->count++] = stacks->frame_count;
	stacks->frame_count += count;
	return trace_ids_add(&stacks->stack_ids, key, (uint32_t)stacks->count);
}

static bool number_stack(struct torch_stacks *stacks, size_t count,
			 uint32_t *number_out)
{
	uint64_t key = HASH_BEGIN;
	uint32_t number;

	for (size_t i = 0; i < count; i++)
		key = (key ^ stacks->frames[stacks->frame_count + i]) *
		      HASH_PRIME;
	for (;; key++) {
		number = trace_ids_find(&stacks->stack_ids, key);
		if (number == TRACE_NO_SLOT)
			break;
		if (is_stack(stacks, number, count)) {
			*number_out = number;
			return true;
		}
	}
	*number_out = (uint32_t)stacks->count + 1;
	return add_stack(stacks, count, key);
}

bool torch_stacks_number(struct torch_stacks *stacks, struct unpickle *unpickle,
			 const struct unpickled *list, uint32_t *number_out)
{
	uint32_t note;
	size_t count;

	*number_out = 0;
	if (!list || list->kind != UNPICKLED_LIST)
		return true;
	note = unpickle_note(unpickle, list);
	if (note) {
		*number_out = note - 1;
		return true;
	}
	if (!read_frames(stacks, unpickle, list, &count) ||
	    (count && !number_stack(stacks, count, number_out)))
		return false;
	if (unpickle_is_kept(unpickle, list)) {
		unpickle_set_note(unpickle, list, *number_out + 1);
		unpickle_forget(unpickle, list);
	}
	return true;
}

/* ---- all of them ---- */

void torch_stacks_init(struct torch_stacks *stacks)
{
	*stacks = (struct torch_stacks){0};
	trace_ids_init(&stacks->place_ids);
	trace_ids_init(&stacks->stack_ids);
}

bool torch_stacks_finish(struct torch_stacks *stacks)
{
	struct recording_stacks *table = &stacks->table;

	if (!recording_stacks_init(table, stacks->count, 0))
		return false;
	table->place = stacks->places;
	table->place_count = stacks->place_count;
	trace_ids_free(&stacks->place_ids);
	trace_ids_free(&stacks->stack_ids);
	for (uint32_t i = 1; i <= stacks->count; i++) {
		size_t begin = stacks->begin[i - 1];

		recording_stacks_add_places(table, i, &stacks->frames[begin],
					    end_of(stacks, i) - begin);
	}
	free(stacks->begin);
	stacks->begin = NULL;
	return true;
}

void torch_stacks_free(struct torch_stacks *stacks)
{
	recording_stacks_free(&stacks->table);
	for (size_t i = 0; i < stacks->place_count; i++) {
		free(stacks->places[i].function);
		free(stacks->places[i].file);
	}
	free(stacks->places);
	free(stacks->frames);
	free(stacks->begin);
	trace_ids_free(&stacks->place_ids);
	trace_ids_free(&stacks->stack_ids);
	torch_stacks_init(stacks);
}
