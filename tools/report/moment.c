/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What was live at a moment, by tag and block by block.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>

enum { TAGS = UINT16_MAX + 1 };

const char *model_tag_path(const struct model *model, uint16_t number,
			   char buffer[MODEL_TAG])
{
	const char *path = trace_tag(model->source, number);

	if (path)
		return path;
	buffer[0] = '\0';
	if (number)
		snprintf(buffer, MODEL_TAG, "#%u", number);
	return buffer;
}

static int compare_tags(const void *a, const void *b)
{
	const struct model_tag *one = a, *other = b;

	if (one->bytes != other->bytes)
		return one->bytes < other->bytes ? 1 : -1;
	return (one->number > other->number) - (one->number < other->number);
}

static unsigned quarter_of(const struct model *model,
			   const struct model_span *span)
{
	double last = model->has_times ? (double)model->summary.last_ns
				       : (double)model->summary.all.events;
	double at =
		model->has_times ? (double)span->begin_ns : (double)span->begin;
	double quarter = last > 0 ? at / last * MODEL_QUARTERS : 0;

	return quarter < MODEL_QUARTERS ? (unsigned)quarter
					: MODEL_QUARTERS - 1;
}

static void count_span(const struct model *model, struct model_tag *tag,
		       const struct model_span *span)
{
	tag->quarter_bytes[quarter_of(model, span)] += span->bytes;
	tag->number = span->tag;
	tag->bytes += span->bytes;
	if (!tag->blocks++ || span->begin_ns < tag->oldest_ns)
		tag->oldest_ns = span->begin_ns;
	if (span->bytes > tag->largest_bytes)
		tag->largest_bytes = span->bytes;
}

struct model_tag *model_tags(const struct model *model, uint64_t event,
			     size_t *count_out)
{
	return model_tags_of(model, event, NULL, count_out);
}

struct model_tag *model_tags_of(const struct model *model, uint64_t event,
				const bool *only, size_t *count_out)
{
	struct model_tag *tags = calloc(TAGS, sizeof(*tags));
	size_t count = 0;

	if (!tags)
		return NULL;
	for (size_t i = 0; i < model->count; i++)
		if ((!only || only[model->spans[i].pool]) &&
		    model_is_live(&model->spans[i], event))
			count_span(model, &tags[model->spans[i].tag],
				   &model->spans[i]);
	for (size_t i = 0; i < TAGS; i++)
		if (tags[i].blocks)
			tags[count++] = tags[i];
	qsort(tags, count, sizeof(*tags), compare_tags);
	*count_out = count;
	return tags;
}

static int compare_spans(const void *a, const void *b)
{
	const struct model_span *const *one = a, *const *other = b;

	if ((*one)->bytes != (*other)->bytes)
		return (*one)->bytes < (*other)->bytes ? 1 : -1;
	return (*one < *other) ? -1 : *one > *other;
}

const struct model_span **model_blocks(const struct model *model,
				       uint64_t event, size_t *count_out)
{
	const struct model_span **live;
	size_t count = 0;

	for (size_t i = 0; i < model->count; i++)
		count += model_is_live(&model->spans[i], event);
	live = malloc((count + 1) * sizeof(*live));
	if (!live)
		return NULL;
	count = 0;
	for (size_t i = 0; i < model->count; i++)
		if (model_is_live(&model->spans[i], event))
			live[count++] = &model->spans[i];
	if (count)
		qsort((void *)live, count, sizeof(*live), compare_spans);
	*count_out = count;
	return live;
}
