/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See oom.h. */
#include "oom.h"

json_t *oom_report_read(const struct model_oom *oom)
{
	return oom->report ? json_loads(oom->report, 0, NULL) : NULL;
}

const char *oom_report_text(const json_t *report, const char *key)
{
	const char *text = json_string_value(json_object_get(report, key));

	return text ? text : "";
}

static const json_t *rows(const json_t *report)
{
	return json_object_get(json_object_get(report, "table"), "rows");
}

size_t oom_report_rows(const json_t *report)
{
	return json_array_size(rows(report));
}

struct oom_report_row oom_report_row(const json_t *report, size_t at)
{
	const json_t *row = json_array_get(rows(report), at);
	json_int_t bytes = json_integer_value(json_object_get(row, "bytes"));

	return (struct oom_report_row){.what = oom_report_text(row, "what"),
				       .pool = oom_report_text(row, "pool"),
				       .tag = oom_report_text(row, "tag"),
				       .bytes =
					       bytes > 0 ? (uint64_t)bytes : 0};
}
