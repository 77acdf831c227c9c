/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Between the files of gpumem-report.
 */
#ifndef GPUMEM_TOOLS_REPORT_REPORT_H
#define GPUMEM_TOOLS_REPORT_REPORT_H

#include "model.h"

#include "common/file.h"
#include "common/json.h"

enum report_format {
	REPORT_TEXT,
	REPORT_JSON,
	REPORT_SVG,
	REPORT_PNG,
	REPORT_PAGE
};

struct report_config {
	struct trace_config trace;
	const char *other;  /* a file that it is compared with, or NULL */
	const char *output; /* of a picture or page; NULL: standard output */
	size_t blocks;	    /* how many of the largest are listed */
	enum report_format format;
};

/* Facts on standard output, for people and for programs: the same ones. False,
 * and told, if that failed. */
bool report_text(const struct model *model, const struct report_config *config);
bool report_json(const struct model *model, const struct report_config *config);
/* The table of tags, which are freed; NULL: out of memory, and false. */
bool text_tags(const struct model *model, struct model_tag *tags, size_t count,
	       uint64_t requested);
json_t *report_tags_json(const struct model *model,
			 const struct model_tag *tags, size_t count, bool *ok);
/* groups_print.c: by pool and device, where there are several; false, and told.
 * JSON has empty lists elsewhere. */
bool groups_text(const struct model *model);
void groups_json(json_t *root, const struct model *model, bool *ok);
/* served.c: what served the allocations, where that is known; false: out of
 * memory. */
bool served_text(const struct model *model);
json_t *served_json(const struct model *model, bool *ok);
/* The picture or the page, to config->output. */
bool report_draw(const struct model *model, const struct report_config *config);
/* png.c: what `write` writes, to config->output, and as PNG if it is an SVG and
 * that is the format. False, and told. */
bool report_write(const struct report_config *config, file_fn write,
		  void *user);

#endif
