/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Two runs side by side: figures of both, and the tags at the peak of each,
 * which are the same tag if they have the same path.
 */
#include "compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void compare_figures(const struct model *one, const struct model *other,
		     struct compare_figure figures[COMPARE_FIGURES])
{
	const struct model *models[2] = {one, other};

#define FIGURE(name, key, words, is_bytes_, value_, known_)                    \
	figures[COMPARE_##name] =                                              \
		(struct compare_figure){key, words, is_bytes_, {0}, {0}};
	COMPARE_FIGURE_LIST(FIGURE)
#undef FIGURE
	for (unsigned i = 0; i < 2; i++) {
		const struct model *model = models[i];
#define FIGURE(name, key, words, is_bytes_, value_, known_)                    \
	figures[COMPARE_##name].value[i] = (value_);                           \
	figures[COMPARE_##name].known[i] = (known_);
		COMPARE_FIGURE_LIST(FIGURE)
#undef FIGURE
	}
}

/* ---- cells ---- */

static void say(char *text, const char *sign, uint64_t value, bool is_bytes)
{
	char number[HUMAN_BYTES];

	if (is_bytes)
		human_bytes(number, value);
	else
		snprintf(number, sizeof(number), "%" PRIu64, value);
	snprintf(text, sizeof(((struct compare_cells *)0)->text[0]), "%s%s",
		 sign, number);
}

void compare_cells(struct compare_cells *cells, const uint64_t value[2],
		   const bool known[2], bool is_bytes)
{
	for (unsigned i = 0; i < COMPARE_CELLS; i++)
		strcpy(cells->text[i], "-");
	for (unsigned i = 0; i < 2; i++)
		if (known[i])
			say(cells->text[i], "", value[i], is_bytes);
	if (!known[0] || !known[1])
		return;
	if (value[1] < value[0])
		say(cells->text[2], "-", value[0] - value[1], is_bytes);
	else
		say(cells->text[2], value[1] > value[0] ? "+" : "",
		    value[1] - value[0], is_bytes);
	if (value[0])
		snprintf(cells->text[3], sizeof(cells->text[3]), "%.3f",
			 (double)value[1] / (double)value[0]);
}

/* ---- tags ---- */

static bool add_tags(struct compare *compare, const struct model *model,
		     unsigned which)
{
	size_t count = 0;
	struct model_tag *tags = model_tags(model, model->peak.event, &count);
	struct compare_tag *more =
		tags ? realloc(compare->tags,
			       (compare->count + count + 1) * sizeof(*more))
		     : NULL;
	bool ok = more != NULL;

	if (more)
		compare->tags = more;
	for (size_t i = 0; i < count && ok; i++) {
		struct compare_tag *tag = &more[compare->count];
		char buffer[MODEL_TAG];

		*tag = (struct compare_tag){
			.path = strdup(
				model_tag_path(model, tags[i].number, buffer))};
		tag->bytes[which] = tags[i].bytes;
		tag->blocks[which] = tags[i].blocks;
		ok = tag->path != NULL;
		compare->count += ok;
	}
	free(tags);
	return ok;
}

static int by_path(const void *a, const void *b)
{
	const struct compare_tag *one = a, *other = b;

	return strcmp(one->path, other->path);
}

static uint64_t larger(const struct compare_tag *tag)
{
	return tag->bytes[0] > tag->bytes[1] ? tag->bytes[0] : tag->bytes[1];
}

static int by_bytes(const void *a, const void *b)
{
	const struct compare_tag *one = a, *other = b;

	if (larger(one) != larger(other))
		return larger(one) < larger(other) ? 1 : -1;
	return by_path(a, b);
}

/* Those with one path become one. */
static void join(struct compare *compare)
{
	struct compare_tag *tags = compare->tags;
	size_t last = 0;

	qsort(tags, compare->count, sizeof(*tags), by_path);
	for (size_t i = 1; i < compare->count; i++) {
		if (strcmp(tags[i].path, tags[last].path) != 0) {
			tags[++last] = tags[i];
			continue;
		}
		for (unsigned j = 0; j < 2; j++) {
			tags[last].bytes[j] += tags[i].bytes[j];
			tags[last].blocks[j] += tags[i].blocks[j];
		}
		free(tags[i].path);
	}
	compare->count = last + 1;
	qsort(tags, compare->count, sizeof(*tags), by_bytes);
}

bool compare_tags(struct compare *compare, const struct model *one,
		  const struct model *other)
{
	*compare = (struct compare){0};
	if (!add_tags(compare, one, 0) || !add_tags(compare, other, 1))
		return false;
	if (compare->count)
		join(compare);
	return true;
}

void compare_free(struct compare *compare)
{
	for (size_t i = 0; i < compare->count; i++)
		free(compare->tags[i].path);
	free(compare->tags);
	*compare = (struct compare){0};
}
