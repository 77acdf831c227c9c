/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See tag_names.h.
 */
#include "tag_names.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash(const char *text)
{
	uint64_t value = UINT64_C(14695981039346656037); /* FNV-1a */

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) *
			UINT64_C(1099511628211);
	return value;
}

void tag_names_init(struct tag_names *names)
{
	*names = (struct tag_names){0};
	trace_ids_init(&names->numbers);
}

static bool make_room(struct tag_names *names)
{
	size_t room = names->room ? names->room * 2 : 64;
	char **path;

	if (names->count < names->room)
		return true;
	path = realloc((void *)names->path, room * sizeof(*path));
	if (!path)
		return false;
	names->path = path;
	names->room = room;
	return true;
}

static enum tag_names_result add(struct tag_names *names, const char *path,
				 uint64_t key)
{
	if (names->count == TAG_NAMES_MAX)
		return TAG_NAMES_FULL;
	if (!make_room(names))
		return TAG_NAMES_NO_MEMORY;
	names->path[names->count] = strdup(path);
	if (!names->path[names->count])
		return TAG_NAMES_NO_MEMORY;
	names->count++;
	return trace_ids_add(&names->numbers, key, (uint32_t)names->count)
		       ? TAG_NAMES_OK
		       : TAG_NAMES_NO_MEMORY;
}

enum tag_names_result tag_names_number(struct tag_names *names,
				       const char *path, uint16_t *number_out)
{
	enum tag_names_result result;
	uint64_t key = hash(path);
	uint32_t number;

	*number_out = 0;
	if (!*path)
		return TAG_NAMES_OK;
	while ((number = trace_ids_find(&names->numbers, key)) !=
		       TRACE_NO_SLOT &&
	       strcmp(names->path[number - 1], path))
		key++;
	if (number == TRACE_NO_SLOT) {
		result = add(names, path, key);
		if (result != TAG_NAMES_OK)
			return result;
		number = (uint32_t)names->count;
	}
	*number_out = (uint16_t)number;
	return TAG_NAMES_OK;
}

const char *tag_names_path(const struct tag_names *names, uint16_t number)
{
	return number && number <= names->count ? names->path[number - 1]
						: NULL;
}

void tag_names_free(struct tag_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->path[i]);
	free((void *)names->path);
	trace_ids_free(&names->numbers);
	names->path = NULL;
	names->count = names->room = 0;
}
