/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See why.h. */
#include "why.h"

json_t *why_read(const struct model_oom *oom)
{
	return oom->report ? json_loads(oom->report, 0, NULL) : NULL;
}

const char *why_text(const json_t *why, const char *key)
{
	const char *text = json_string_value(json_object_get(why, key));

	return text ? text : "";
}

static const json_t *rows(const json_t *why)
{
	return json_object_get(json_object_get(why, "table"), "rows");
}

size_t why_rows(const json_t *why)
{
	return json_array_size(rows(why));
}

struct why_row why_row(const json_t *why, size_t at)
{
	const json_t *row = json_array_get(rows(why), at);
	json_int_t bytes = json_integer_value(json_object_get(row, "bytes"));

	return (struct why_row){.what = why_text(row, "what"),
				.pool = why_text(row, "pool"),
				.tag = why_text(row, "tag"),
				.bytes = bytes > 0 ? (uint64_t)bytes : 0};
}
