/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The report for programs.
 */
#include "report.h"
#include "stacks.h"
#include "oom.h"

#include "trace/print.h"

#include <gpumem/gpumem.h>
#include <stdlib.h>

static json_t *bytes_or_null(uint64_t bytes, bool known)
{
	return known ? json_u64(bytes) : json_null();
}

static json_t *seconds_or_null(const struct model *model, uint64_t ns)
{
	return model->has_times ? json_number(print_seconds(ns)) : json_null();
}

static json_t *tag_json(const struct model *model, uint16_t number)
{
	char buffer[MODEL_TAG];

	return number ? json_text(model_tag_path(model, number, buffer))
		      : json_null();
}

static void put_moment(json_t *object, const struct model *model,
		       const struct model_moment *moment, bool *ok)
{
	bool reserved = model->summary.all.peak_reserved_bytes > 0;

	json_put(object, "event", json_u64(moment->event), ok);
	json_put(object, "seconds", seconds_or_null(model, moment->ns), ok);
	json_put(object, "blocks", json_u64(moment->blocks), ok);
	json_put(object, "requested_bytes", json_u64(moment->requested), ok);
	json_put(object, "reserved_bytes",
		 bytes_or_null(moment->reserved, reserved), ok);
	json_put(object, "unused_bytes",
		 bytes_or_null(model_unused(moment), reserved), ok);
	json_put(object, "unreleasable_bytes",
		 bytes_or_null(model_stranded(moment), model->has_pages), ok);
	json_put(object, "mapped_bytes",
		 bytes_or_null(moment->mapped, model_has_places(model)), ok);
	json_put(object, "twice_mapped_bytes",
		 bytes_or_null(moment->twice, model_has_places(model)), ok);
	json_put(object, "hole_bytes",
		 bytes_or_null(model_holes(model, moment),
			       model_has_places(model)),
		 ok);
}

static json_t *quarters_json(const struct model_tag *tag, bool *ok)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < MODEL_QUARTERS; i++)
		json_put(array, NULL, json_u64(tag->quarter_bytes[i]), ok);
	return array;
}

json_t *report_tags_json(const struct model *model,
			 const struct model_tag *tags, size_t count, bool *ok)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *object = json_object();

		json_put(object, "tag", tag_json(model, tags[i].number), ok);
		json_put(object, "bytes", json_u64(tags[i].bytes), ok);
		json_put(object, "blocks", json_u64(tags[i].blocks), ok);
		json_put(object, "largest_bytes",
			 json_u64(tags[i].largest_bytes), ok);
		json_put(object, "oldest_seconds",
			 seconds_or_null(model, tags[i].oldest_ns), ok);
		json_put(object, "quarter_bytes", quarters_json(&tags[i], ok),
			 ok);
		json_put(object, "grows", json_boolean(model_grows(&tags[i])),
			 ok);
		json_put(array, NULL, object, ok);
	}
	return array;
}

static json_t *tags_json(const struct model *model, uint64_t event, bool *ok)
{
	size_t count = 0;
	struct model_tag *tags = model_tags(model, event, &count);
	json_t *array;

	*ok = *ok && tags;
	array = report_tags_json(model, tags, count, ok);
	free(tags);
	return array;
}

static json_t *block_json(const struct stacks *stacks,
			  const struct stacks_list *list,
			  const struct model_span *span, bool *ok)
{
	const struct model *model = stacks->model;
	size_t stack = stacks_find(stacks, list, span);
	json_t *object = json_object();

	json_put(object, "bytes", json_u64(span->bytes), ok);
	json_put(object, "address",
		 bytes_or_null(span->address, model->has_addresses), ok);
	json_put(object, "pool", json_u64(span->pool), ok);
	json_put(object, "stream", json_u64(span->stream), ok);
	json_put(object, "seconds", seconds_or_null(model, span->begin_ns), ok);
	json_put(object, "tag", tag_json(model, span->tag), ok);
	json_put(object, "stack", bytes_or_null(stack, stack != STACKS_NONE),
		 ok);
	return object;
}

static json_t *blocks_json(const struct stacks *stacks,
			   const struct stacks_list *list, uint64_t event,
			   size_t most, bool *ok)
{
	size_t count = 0;
	const struct model_span **live =
		model_blocks(stacks->model, event, &count);
	json_t *array = json_array();

	*ok = *ok && live;
	for (size_t i = 0; i < count && i < most; i++)
		json_put(array, NULL, block_json(stacks, list, live[i], ok),
			 ok);
	free((void *)live);
	return array;
}

static json_t *live_json(const struct stacks *stacks,
			 const struct model_moment *moment, size_t most,
			 bool *ok)
{
	const struct model *model = stacks->model;
	const struct stacks_list *list =
		moment == &model->end ? &stacks->end : &stacks->peak;
	json_t *object = json_object();

	put_moment(object, model, moment, ok);
	json_put(object, "tags", tags_json(model, moment->event, ok), ok);
	json_put(object, "largest",
		 blocks_json(stacks, list, moment->event, most, ok), ok);
	json_put(object, "stacks", stacks_json(stacks, list, ok), ok);
	return object;
}

static json_t *report_or_null(const struct model_oom *oom)
{
	json_t *report = oom_report_read(oom);

	return report ? report : json_null();
}

static json_t *ooms_json(const struct model *model, bool *ok)
{
	json_t *array = json_array();

	for (size_t i = 0; i < model->oom_count; i++) {
		const struct model_oom *oom = &model->ooms[i];
		json_t *object = json_object();

		json_put(object, "seconds",
			 seconds_or_null(model, oom->moment.ns), ok);
		json_put(object, "event", json_u64(oom->moment.event), ok);
		json_put(object, "pool", json_u64(oom->pool), ok);
		json_put(object, "bytes", json_u64(oom->bytes), ok);
		json_put(object, "requested_bytes", json_u64(oom->requested),
			 ok);
		json_put(object, "reserved_bytes",
			 bytes_or_null(oom->reserved,
				       model_oom_reserved(model, oom)),
			 ok);
		json_put(object, "status",
			 json_text(gpumem_status_name(
				 (gpumem_status)(int64_t)oom->status)),
			 ok);
		if (oom->advice)
			json_put(object, "advice",
				 json_text(recording_advice(oom->advice)), ok);
		if (oom->report)
			json_put(object, "report", report_or_null(oom), ok);
		json_put(array, NULL, object, ok);
	}
	return array;
}

bool report_json(const struct model *model, const struct report_config *config)
{
	json_t *root = json_object(), *worst = json_object();
	struct stacks stacks;
	bool ok = stacks_read(&stacks, model, config->blocks, false);

	print_json_about(root, model->source, &model->summary, &ok);
	json_put(root, "peak",
		 live_json(&stacks, &model->peak, config->blocks, &ok), &ok);
	json_put(root, "end",
		 live_json(&stacks, &model->end, config->blocks, &ok), &ok);
	put_moment(worst, model, &model->worst, &ok);
	json_put(root, "most_unreleasable",
		 model->has_pages ? worst : json_null(), &ok);
	if (!model->has_pages)
		json_decref(worst);
	groups_json(root, model, &ok);
	json_put(root, "served", served_json(model, &ok), &ok);
	json_put(root, "out_of_memory", ooms_json(model, &ok), &ok);
	stacks_free(&stacks);
	return json_print(root, ok);
}
