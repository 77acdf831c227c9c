/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See recording_stack.h.
 */
#include "recording_stack.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool recording_stacks_init(struct recording_stacks *stacks, size_t count,
			   size_t module_count)
{
	*stacks = (struct recording_stacks){
		.stack = calloc(count + 1, sizeof(*stacks->stack)),
		.module = calloc(module_count + 1, sizeof(*stacks->module)),
	};
	return stacks->stack && stacks->module;
}

void recording_stacks_free(struct recording_stacks *stacks)
{
	free(stacks->stack);
	free(stacks->module);
	*stacks = (struct recording_stacks){0};
}

void recording_stacks_add(struct recording_stacks *stacks, uint64_t number,
			  const void *content, size_t bytes)
{
	if (!number || bytes < sizeof(uint64_t))
		return;
	stacks->stack[stacks->count++] = (struct recording_stack){
		.number = number,
		.frames = content,
		.count = bytes / sizeof(uint64_t),
	};
}

void recording_stacks_add_places(struct recording_stacks *stacks,
				 uint64_t number, const uint32_t *places,
				 size_t count)
{
	stacks->stack[stacks->count++] = (struct recording_stack){
		.number = number, .places = places, .count = count};
}

/* ---- lines of /proc/PID/maps ---- */

/* A number, and the character behind it; false: there is none such. */
static bool read_hex(const char **at, char behind, uint64_t *value_out)
{
	char *end;

	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	*value_out = strtoull(*at, &end, 16);
	if (errno || *end != behind)
		return false;
	*at = end + 1;
	return true;
}

/* Behind a word that is not looked at, and one blank. */
static bool skip_word(const char **at)
{
	size_t bytes = strcspn(*at, " ");

	if (!bytes || !(*at)[bytes])
		return false;
	*at += bytes + 1;
	return true;
}

/* "begin-end perms offset dev inode    path"; the path may have blanks. */
static bool read_line(const char *line, struct recording_module *module_out)
{
	struct recording_module module = {.line = line};
	const char *at = line;

	if (!read_hex(&at, '-', &module.begin) ||
	    !read_hex(&at, ' ', &module.end) || module.begin >= module.end ||
	    !skip_word(&at) || !read_hex(&at, ' ', &module.offset) ||
	    !skip_word(&at))
		return false;
	at += strcspn(at, " ");
	at += strspn(at, " ");
	module.path = *at ? at : NULL;
	*module_out = module;
	return true;
}

void recording_stacks_add_module(struct recording_stacks *stacks,
				 const char *line)
{
	if (read_line(line, &stacks->module[stacks->module_count]))
		stacks->module_count++;
}

/* ---- looking up ---- */

static int compare_stacks(const void *a, const void *b)
{
	const struct recording_stack *one = a, *other = b;

	if (one->number != other->number)
		return one->number < other->number ? -1 : 1;
	return one->frames < other->frames ? -1 : one->frames > other->frames;
}

static int compare_modules(const void *a, const void *b)
{
	const struct recording_module *one = a, *other = b;

	if (one->begin != other->begin)
		return one->begin < other->begin ? -1 : 1;
	return one->line < other->line ? -1 : one->line > other->line;
}

/* Each number once, and each begin: the first in the file stays. */
void recording_stacks_sort(struct recording_stacks *stacks)
{
	size_t kept = 0;

	qsort(stacks->stack, stacks->count, sizeof(*stacks->stack),
	      compare_stacks);
	for (size_t i = 0; i < stacks->count; i++)
		if (!kept ||
		    stacks->stack[i].number != stacks->stack[kept - 1].number)
			stacks->stack[kept++] = stacks->stack[i];
	stacks->count = kept;
	qsort(stacks->module, stacks->module_count, sizeof(*stacks->module),
	      compare_modules);
	kept = 0;
	for (size_t i = 0; i < stacks->module_count; i++)
		if (!kept ||
		    stacks->module[i].begin != stacks->module[kept - 1].begin)
			stacks->module[kept++] = stacks->module[i];
	stacks->module_count = kept;
}

const struct recording_stack *
recording_stacks_find(const struct recording_stacks *stacks, uint64_t number)
{
	size_t from = 0, to = stacks->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (stacks->stack[middle].number == number)
			return &stacks->stack[middle];
		if (stacks->stack[middle].number < number)
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}

const struct recording_module *
recording_stacks_module(const struct recording_stacks *stacks, uint64_t address)
{
	size_t from = 0, to = stacks->module_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (stacks->module[middle].begin <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from && address < stacks->module[from - 1].end
		       ? &stacks->module[from - 1]
		       : NULL;
}
