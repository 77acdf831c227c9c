/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The picture and the page, to a file.
 */
#include "report.h"

#include "common/tool.h"
#include "page.h"

struct drawn {
	const struct model *model;
	const struct report_config *config;
	struct curves curves;
	struct groups groups;
	struct devices devices;
};

static bool write_drawn(FILE *out, void *user)
{
	const struct drawn *drawn = user;
	const struct page page = {.out = out,
				  .model = drawn->model,
				  .curves = &drawn->curves,
				  .groups = &drawn->groups,
				  .devices = &drawn->devices};
	bool ok = drawn->config->format == REPORT_PAGE
			  ? page_write(page, drawn->config->blocks)
			  : devices_svg(out, &drawn->devices, drawn->model,
					&drawn->curves);

	if (!ok)
		tool_error("out of memory");
	return ok;
}

static bool read_all(struct drawn *drawn)
{
	return curves_read(&drawn->curves, drawn->model, NULL) &&
	       groups_read(&drawn->groups, drawn->model) &&
	       devices_read(&drawn->devices, drawn->model, &drawn->curves,
			    &drawn->groups);
}

bool report_draw(const struct model *model, const struct report_config *config)
{
	struct drawn drawn = {.model = model, .config = config};
	bool ok = read_all(&drawn) && report_write(config, write_drawn, &drawn);

	devices_free(&drawn.devices);
	groups_free(&drawn.groups);
	return ok;
}
