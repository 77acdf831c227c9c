/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Between the files of gpumem-report.
 */
#ifndef GPUMEM_TOOLS_REPORT_REPORT_H
#define GPUMEM_TOOLS_REPORT_REPORT_H

#include "model.h"

#include "common/file.h"

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
/* The picture or the page, to config->output. */
bool report_draw(const struct model *model, const struct report_config *config);
/* png.c: what `write` writes, to config->output, and as PNG if it is an SVG and
 * that is the format. False, and told. */
bool report_write(const struct report_config *config, file_fn write,
		  void *user);

#endif
