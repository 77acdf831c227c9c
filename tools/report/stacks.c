/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See stacks.h.
 */
#include "stacks.h"

#include <stdlib.h>

static const struct recording_stacks *table_of(const struct model *model)
{
	return trace_stacks(model->source);
}

/* ---- what is live ---- */

static void count_span(struct stacks_list *list, const struct model *model,
		       size_t span)
{
	const struct recording_stack *stack =
		trace_stack(model->source, model->spans[span].stack);
	struct stacks_one *one;

	if (!stack)
		return;
	one = &list->of[stack - table_of(model)->stack];
	if (!one->blocks++)
		one->first = span;
	one->stack = stack;
	one->bytes += model->spans[span].bytes;
}

static int compare(const void *a, const void *b)
{
	const struct stacks_one *one = a, *other = b;

	if (one->bytes != other->bytes)
		return one->bytes < other->bytes ? 1 : -1;
	return (one->first > other->first) - (one->first < other->first);
}

static void keep_largest(struct stacks_list *list, const struct model *model,
			 size_t most)
{
	const struct recording_stacks *table = table_of(model);
	size_t count = 0;

	for (size_t i = 0; i < table->count; i++) {
		list->rank[i] = STACKS_NONE;
		if (list->of[i].blocks)
			list->of[count++] = list->of[i];
	}
	if (count)
		qsort(list->of, count, sizeof(*list->of), compare);
	list->count = count < most ? count : most;
	for (size_t i = 0; i < list->count; i++)
		list->rank[list->of[i].stack - table->stack] = i;
}

static bool read_list(struct stacks_list *list, const struct model *model,
		      uint64_t event, size_t most)
{
	size_t count = table_of(model)->count;

	list->of = calloc(count + 1, sizeof(*list->of));
	list->rank = calloc(count + 1, sizeof(*list->rank));
	if (!list->of || !list->rank)
		return false;
	for (size_t i = 0; i < model->count && count; i++)
		if (model_is_live(&model->spans[i], event))
			count_span(list, model, i);
	keep_largest(list, model, most);
	return true;
}

/* ---- both moments ---- */

static bool want(struct stacks *stacks, const struct stacks_list *list)
{
	bool ok = true;

	for (size_t i = 0; i < list->count && ok; i++)
		ok = frames_add(&stacks->frames, list->of[i].stack);
	return ok;
}

bool stacks_read(struct stacks *stacks, const struct model *model, size_t most,
		 bool only_end)
{
	bool ok;

	*stacks = (struct stacks){.model = model};
	ok = read_list(&stacks->peak, model, model->peak.event,
		       only_end ? 0 : most) &&
	     read_list(&stacks->end, model, model->end.event, most) &&
	     want(stacks, &stacks->peak) && want(stacks, &stacks->end) &&
	     frames_resolve(&stacks->frames, table_of(model));
	if (!ok)
		stacks_free(stacks);
	return ok;
}

void stacks_free(struct stacks *stacks)
{
	free(stacks->peak.of);
	free(stacks->peak.rank);
	free(stacks->end.of);
	free(stacks->end.rank);
	frames_free(&stacks->frames);
	*stacks = (struct stacks){.model = stacks->model};
}

size_t stacks_find(const struct stacks *stacks, const struct stacks_list *list,
		   const struct model_span *span)
{
	const struct recording_stack *stack =
		trace_stack(stacks->model->source, span->stack);

	return stack && list->rank
		       ? list->rank[stack - table_of(stacks->model)->stack]
		       : STACKS_NONE;
}
