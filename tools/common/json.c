/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See json.h.
 */
#include "json.h"

#include "clean.h"
#include "tool.h"

#include <math.h>
#include <stdlib.h>

json_t *json_u64(uint64_t value)
{
	if (value > INT64_MAX)
		return json_real((double)value);
	return json_integer((json_int_t)value);
}

json_t *json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_text(const char *text)
{
	json_t *value = json_string(text);
	char *line;

	if (value)
		return value;
	line = clean_copy(text);
	value = line ? json_string(line) : NULL;
	free(line);
	return value;
}

void json_put(json_t *container, const char *key, json_t *value, bool *ok)
{
	int failed = key ? json_object_set_new(container, key, value)
			 : json_array_append_new(container, value);

	if (failed)
		*ok = false;
}

bool json_print(json_t *value, bool ok)
{
	const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(10) |
			     JSON_ENSURE_ASCII;

	if (!value || !ok) {
		tool_error("out of memory");
		json_decref(value);
		return false;
	}
	ok = json_dumpf(value, stdout, flags) == 0 && putchar('\n') != EOF;
	json_decref(value);
	return ok;
}
