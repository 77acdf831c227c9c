/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See json.h.
 */
#include "json.h"

#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	char *copy;

	if (value)
		return value;
	copy = strdup(text);
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	value = json_string(copy);
	free(copy);
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
	const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(10);

	if (!value || !ok) {
		tool_error("out of memory");
		json_decref(value);
		return false;
	}
	ok = json_dumpf(value, stdout, flags) == 0 && putchar('\n') != EOF;
	json_decref(value);
	return ok;
}
