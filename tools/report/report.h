/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Between the files of gpumem-report.
 */
#ifndef GPUMEM_TOOLS_REPORT_REPORT_H
#define GPUMEM_TOOLS_REPORT_REPORT_H

#include "model.h"

struct report_config {
	struct trace_config trace;
	size_t blocks; /* how many of the largest are listed */
	bool json;
};

/* Facts on standard output, for people and for programs: the same ones. False,
 * and told, if that failed. */
bool report_text(const struct model *model, const struct report_config *config);
bool report_json(const struct model *model, const struct report_config *config);

#endif
