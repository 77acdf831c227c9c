/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A look into JSON that the library wrote, for the tests of what it says: not a
 * parser of any other.
 */
#ifndef LIB_JSON_H
#define LIB_JSON_H

#include "fixture.h"

/* ---- what follows a value; NULL: it is none ---- */

static const char *json_string(const char *at)
{
	if (*at++ != '"')
		return NULL;
	for (; *at != '"'; at++) {
		if (*at == '\\')
			at++;
		if ((unsigned char)*at < ' ')
			return NULL;
	}
	return at + 1;
}

static const char *json_value(const char *at);

static const char *json_members(const char *at, char end)
{
	if (*at == end)
		return at + 1;
	for (;;) {
		if (end == '}') {
			at = json_string(at);
			if (!at || strncmp(at, ": ", 2) != 0)
				return NULL;
			at += 2;
		}
		at = json_value(at);
		if (!at || *at == end)
			return at ? at + 1 : NULL;
		if (strncmp(at, ", ", 2) != 0)
			return NULL;
		at += 2;
	}
}

static const char *json_value(const char *at)
{
	size_t digits = strspn(at, "0123456789.");

	if (*at == '{')
		return json_members(at + 1, '}');
	if (*at == '[')
		return json_members(at + 1, ']');
	return digits ? at + digits : json_string(at);
}

/* One object, and nothing behind it. */
LIB_USE bool json_whole(const char *text)
{
	const char *end = *text == '{' ? json_value(text) : NULL;

	return end && !*end;
}

/* ---- members ---- */

/* The first number or text with this key from `at` on, and before `end` if that
 * is not NULL; "" if there is none. */
LIB_USE void json_member_before(const char *at, const char *end,
				const char *key, char *to, size_t room)
{
	char quoted[40];

	snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
	at = at ? strstr(at, quoted) : NULL;
	*to = '\0';
	if (!at || (end && at > end))
		return;
	at += strlen(quoted);
	at += *at == '"';
	snprintf(to, room, "%.*s", (int)strcspn(at, "\",}]"), at);
}

LIB_USE void json_member(const char *at, const char *key, char *to, size_t room)
{
	json_member_before(at, NULL, key, to, room);
}

LIB_USE ull json_number_before(const char *at, const char *end, const char *key)
{
	char text[32];

	json_member_before(at, end, key, text, sizeof(text));
	return strtoull(text, NULL, 0);
}

LIB_USE ull json_number(const char *at, const char *key)
{
	return json_number_before(at, NULL, key);
}

/* Whether the first member of that name from `at` on is this text. */
LIB_USE bool json_says(const char *at, const char *key, const char *value)
{
	char text[1024];

	json_member(at, key, text, sizeof(text));
	return !strcmp(text, value);
}

#endif
