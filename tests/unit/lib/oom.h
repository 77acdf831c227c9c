/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What gpumem_oom_set()'s function was told last, and a look into its JSON. */
#ifndef LIB_OOM_H
#define LIB_OOM_H

#include "fixture.h"

/* Of the last call; `text` and `json` are copies. */
static struct {
	unsigned calls;
	struct gpumem_oom oom;
	char text[1024];
	char json[1 << 18];
} told;

LIB_USE void told_note(const struct gpumem_oom *oom, void *user)
{
	if (user != &told || oom->size != sizeof(*oom))
		bail("a call with %p", user);
	told.calls++;
	told.oom = *oom;
	snprintf(told.text, sizeof(told.text), "%s", oom->text);
	if (strlen(oom->json) >= sizeof(told.json))
		bail("JSON of %zu bytes", strlen(oom->json));
	strcpy(told.json, oom->json);
}

/* ---- JSON: what follows a value; NULL: it is none ---- */

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

/* The first number or text with this key from `at` on; "" if there is none. */
LIB_USE void json_member(const char *at, const char *key, char *to, size_t room)
{
	char quoted[40];

	snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
	at = at ? strstr(at, quoted) : NULL;
	*to = '\0';
	if (!at)
		return;
	at += strlen(quoted);
	at += *at == '"';
	snprintf(to, room, "%.*s", (int)strcspn(at, "\",}]"), at);
}

LIB_USE ull json_number(const char *at, const char *key)
{
	char text[32];

	json_member(at, key, text, sizeof(text));
	return strtoull(text, NULL, 0);
}

/* Whether the first member of that name from `at` on is this text. */
LIB_USE bool json_says(const char *at, const char *key, const char *value)
{
	char text[1024];

	json_member(at, key, text, sizeof(text));
	return !strcmp(text, value);
}

#endif
