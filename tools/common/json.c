/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See json.h.
 */
#include "json.h"

#include "clean.h"
#include "tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number that is a text until it is printed: behind a character that nobody
 * uses, as jansson escapes it. */
#define NUMBER "\xee\x80\x80"
#define NUMBER_PRINTED "\"\\uE000"

json_t *json_u64(uint64_t value)
{
	char text[sizeof(NUMBER) + 20];

	if (value <= INT64_MAX)
		return json_integer((json_int_t)value);
	snprintf(text, sizeof(text), NUMBER "%" PRIu64, value);
	return json_string(text);
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

/* The text with its numbers as numbers. */
static bool put_text(const char *text)
{
	const char *number;

	while ((number = strstr(text, NUMBER_PRINTED))) {
		const char *digits = number + sizeof(NUMBER_PRINTED) - 1;
		size_t count = strspn(digits, "0123456789");
		bool is_number = count && digits[count] == '"';
		const char *from = is_number ? digits : number;

		fwrite(text, 1, (size_t)(number - text), stdout);
		fwrite(from, 1, (size_t)(digits + count - from), stdout);
		text = digits + count + is_number;
	}
	return fputs(text, stdout) >= 0 && putchar('\n') != EOF;
}

bool json_print(json_t *value, bool ok)
{
	const size_t flags =
		JSON_INDENT(2) | JSON_REAL_PRECISION(10) | JSON_ENSURE_ASCII;

	char *text = value && ok ? json_dumps(value, flags) : NULL;

	json_decref(value);
	if (!text) {
		tool_error("out of memory");
		return false;
	}
	ok = put_text(text);
	free(text);
	return ok;
}
