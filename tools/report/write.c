/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The picture and the page, to a file.
 */
#include "report.h"

#include "common/tool.h"
#include "page.h"

#include <stdlib.h>

struct drawn {
	const struct model *model;
	const struct report_config *config;
	struct curves *curves;
};

static bool write_drawn(FILE *out, void *user)
{
	const struct drawn *drawn = user;
	bool ok = drawn->config->format == REPORT_PAGE
			  ? page_write(out, drawn->model, drawn->curves,
				       drawn->config->blocks)
			  : draw_svg(out, drawn->model, drawn->curves);

	if (!ok)
		tool_error("out of memory");
	return ok;
}

bool report_draw(const struct model *model, const struct report_config *config)
{
	struct drawn drawn = {model, config, malloc(sizeof(*drawn.curves))};
	bool ok = drawn.curves != NULL;

	if (!ok)
		tool_error("out of memory");
	ok = ok && curves_read(drawn.curves, model, NULL) &&
	     report_write(config, write_drawn, &drawn);
	free(drawn.curves);
	return ok;
}
