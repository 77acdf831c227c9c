/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See devices.h. A device is read as a file is of which only its pools were
 * asked for.
 */
#include "devices.h"

#include "common/tool.h"

#include <stdlib.h>

static void share_tags(struct devices *devices, const struct model *model,
		       const struct curves *all)
{
	struct curves_like *like = &devices->like;

	like->last = all->last;
	for (; like->count < all->tag_count; like->count++)
		like->paths[like->count] =
			model_tag_path(model, all->tags[like->count],
				       devices->paths[like->count]);
}

static bool read_only(struct device_run *run, const struct devices *devices,
		      struct trace_source *source, const bool *only)
{
	const struct trace_config *whole = source->config;
	struct trace_config config = *whole;
	bool ok;

	config.only = only;
	source->config = &config;
	ok = model_read(&run->model, source) &&
	     curves_read(&run->curves, &run->model, &devices->like);
	source->config = whole;
	return ok;
}

static bool read_device(struct devices *devices, const struct model *model,
			const struct groups *groups, const struct group *group)
{
	struct device_run *run = &devices->runs[devices->count++];
	bool *only = group_pools(groups, group);
	bool ok;

	run->heading = group_heading(groups, group);
	ok = only && run->heading;
	if (!ok)
		tool_error("%s: out of host memory",
			   model->source->config->file);
	ok = ok && read_only(run, devices, model->source, only);
	free(only);
	return ok;
}

/* A byte is as high in each. */
static void share_top(struct devices *devices, uint64_t top)
{
	for (size_t i = 0; i < devices->count; i++)
		if (devices->runs[i].curves.top > top)
			top = devices->runs[i].curves.top;
	for (size_t i = 0; i < devices->count; i++)
		devices->runs[i].curves.top = top;
}

bool devices_read(struct devices *devices, const struct model *model,
		  const struct curves *all, const struct groups *groups)
{
	*devices = (struct devices){0};
	if (!groups_has_devices(groups))
		return true;
	devices->runs =
		calloc(groups->count - groups->pools, sizeof(*devices->runs));
	if (!devices->runs) {
		tool_error("%s: out of host memory",
			   model->source->config->file);
		return false;
	}
	share_tags(devices, model, all);
	for (size_t i = groups->pools; i < groups->count; i++)
		if (!read_device(devices, model, groups, &groups->list[i]))
			return false;
	share_top(devices, all->top);
	return true;
}

void devices_free(struct devices *devices)
{
	for (size_t i = 0; i < devices->count; i++) {
		free(devices->runs[i].heading);
		model_free(&devices->runs[i].model);
	}
	free(devices->runs);
	*devices = (struct devices){0};
}

bool devices_svg(FILE *out, const struct devices *devices,
		 const struct model *model, const struct curves *all)
{
	struct draw_one *list;
	bool ok;

	if (!devices->count)
		return draw_svg(out, model, all);
	list = calloc(devices->count + 1, sizeof(*list));
	if (!list)
		return false;
	list[0] = (struct draw_one){"all devices together", model, all};
	for (size_t i = 0; i < devices->count; i++)
		list[i + 1] = (struct draw_one){devices->runs[i].heading,
						&devices->runs[i].model,
						&devices->runs[i].curves};
	ok = draw_all(out, "each device", list, devices->count + 1);
	free(list);
	return ok;
}
