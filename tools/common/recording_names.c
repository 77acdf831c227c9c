/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See recording.h: the definitions, which are what events name by a number.
 */
#include "recording.h"

#include <stdlib.h>
#include <string.h>

typedef bool (*definition_fn)(struct recording *recording,
			      const struct gpumem_record_definition *definition,
			      const char *text, size_t bytes);

static bool each_definition(struct recording *recording, definition_fn fn)
{
	const char *at = recording->data + recording->header.header_bytes;
	const char *end = at + recording->header.definition_bytes;
	struct gpumem_record_definition one;

	while (at < end) {
		size_t left = (size_t)(end - at);

		if (left < sizeof(one))
			return recording_fail(recording,
					      "damaged: a definition is cut");
		memcpy(&one, at, sizeof(one));
		if (one.bytes < sizeof(one) || one.bytes % 8 ||
		    one.bytes > left)
			return recording_fail(
				recording, "damaged: a definition has %u bytes",
				one.bytes);
		if (!fn(recording, &one, at + sizeof(one),
			one.bytes - sizeof(one)))
			return false;
		at += one.bytes;
	}
	return true;
}

/* How many there are of each kind. */
static bool count_name(struct recording *recording,
		       const struct gpumem_record_definition *definition,
		       const char *content, size_t bytes)
{
	uint32_t *count = definition->kind == GPUMEM_RECORD_DEFINITION_POOL
				  ? &recording->pool_count
				  : &recording->tag_count;

	(void)content;
	(void)bytes;
	switch (definition->kind) {
	case GPUMEM_RECORD_DEFINITION_STACK:
		recording->stacks.count++;
		return true;
	case GPUMEM_RECORD_DEFINITION_MODULE:
		recording->stacks.module_count++;
		return true;
	case GPUMEM_RECORD_DEFINITION_POOL:
	case GPUMEM_RECORD_DEFINITION_TAG:
		if (definition->number <= UINT16_MAX &&
		    definition->number >= *count)
			*count = (uint32_t)definition->number + 1;
		return true;
	default:
		return true;
	}
}

/* The text that begins here and ends before `end`, and what is behind it. */
static bool next_text(const char **at, const char *end, const char **text_out)
{
	const char *nul = memchr(*at, '\0', (size_t)(end - *at));

	if (!nul)
		return false;
	*text_out = *at;
	*at = nul + 1;
	return true;
}

static bool add_pool(struct recording *recording, uint64_t number,
		     const char *text, const char *end)
{
	struct recording_pool pool;

	if (!next_text(&text, end, &pool.name) ||
	    !next_text(&text, end, &pool.device) ||
	    !next_text(&text, end, &pool.kind))
		return recording_fail(recording,
				      "damaged: the name of a pool has no end");
	recording->pools[number] = pool;
	return true;
}

static bool add_tag(struct recording *recording, uint64_t number,
		    const char *text, const char *end)
{
	return next_text(&text, end, &recording->tags[number]) ||
	       recording_fail(recording,
			      "damaged: the path of a tag has no end");
}

static bool add_module(struct recording *recording, const char *text,
		       const char *end)
{
	const char *line;

	if (!next_text(&text, end, &line))
		return recording_fail(recording,
				      "damaged: the line of a module has no "
				      "end");
	recording_stacks_add_module(&recording->stacks, line);
	return true;
}

/* Numbers of pools and tags have 16 bits, those of stacks are any. */
static bool add_name(struct recording *recording,
		     const struct gpumem_record_definition *definition,
		     const char *content, size_t bytes)
{
	const char *end = content + bytes;
	uint64_t number = definition->number;

	switch (definition->kind) {
	case GPUMEM_RECORD_DEFINITION_POOL:
		return number > UINT16_MAX ||
		       add_pool(recording, number, content, end);
	case GPUMEM_RECORD_DEFINITION_TAG:
		return number > UINT16_MAX ||
		       add_tag(recording, number, content, end);
	case GPUMEM_RECORD_DEFINITION_STACK:
		recording_stacks_add(&recording->stacks, number, content,
				     bytes);
		return true;
	case GPUMEM_RECORD_DEFINITION_MODULE:
		return add_module(recording, content, end);
	default:
		return true;
	}
}

static bool make_room(struct recording *recording)
{
	struct recording_stacks *stacks = &recording->stacks;

	recording->pools =
		calloc(recording->pool_count + 1, sizeof(*recording->pools));
	recording->tags =
		calloc(recording->tag_count + 1, sizeof(*recording->tags));
	return recording_stacks_init(stacks, stacks->count,
				     stacks->module_count) &&
	       recording->pools && recording->tags;
}

bool recording_read_definitions(struct recording *recording)
{
	if (!each_definition(recording, count_name))
		return false;
	if (!make_room(recording))
		return recording_fail(recording, "out of host memory");
	if (!each_definition(recording, add_name))
		return false;
	recording_stacks_sort(&recording->stacks);
	return true;
}

void recording_free_definitions(struct recording *recording)
{
	free(recording->pools);
	free((void *)recording->tags);
	recording_stacks_free(&recording->stacks);
	recording->pools = NULL;
	recording->tags = NULL;
	recording->pool_count = recording->tag_count = 0;
}

struct recording_pool recording_pool(const struct recording *recording,
				     uint16_t number)
{
	return number < recording->pool_count ? recording->pools[number]
					      : (struct recording_pool){0};
}

const char *recording_tag(const struct recording *recording, uint16_t number)
{
	return number < recording->tag_count ? recording->tags[number] : NULL;
}
