/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * GPUMEM_CONF: "key:value,key:value". It is copied once, and rows get their
 * values from the copy, under the table's mutex, when they are added. A value
 * ends at a comma; the first colon ends the key. The last of several pairs with
 * one key wins. Blanks around both are dropped, and so is what is empty. What
 * is wrong in it: option_check.c.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif

#include "option_table.h"
#include <stdlib.h>
#include <string.h>

struct gm_conf gm_conf;

const char *gm_environment(const char *name)
{
	return secure_getenv(name);
}

void gm_conf_read(void)
{
	const char *text = gm_environment("GPUMEM_CONF");
	size_t bytes = text ? strlen(text) + 1 : 0;

	if (!text)
		return;
	gm_conf.text = calloc(2, bytes);
	gm_conf.unread = !gm_conf.text;
	if (gm_conf.unread)
		return;
	memcpy(gm_conf.text, text, bytes);
	gm_conf.told = gm_conf.text + bytes;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Copies what is between the two, without blanks around it. False: too long,
 * and then as much as fits. */
static bool copy_trimmed(char *to, size_t bytes, const char *from,
			 const char *end)
{
	size_t length;

	while (from < end && is_blank(*from))
		from++;
	while (from < end && is_blank(end[-1]))
		end--;
	length = (size_t)(end - from);
	if (length >= bytes)
		length = bytes - 1;
	memcpy(to, from, length);
	to[length] = '\0';
	return from + length == end;
}

bool gm_conf_next(const char **at, struct gm_pair *pair)
{
	const char *from, *end, *colon;

	do {
		if (!*at || !**at)
			return false;
		from = *at;
		end = from + strcspn(from, ",");
		*at = *end ? end + 1 : end;
		pair->value[0] = '\0';
		pair->fault = NULL;
		colon = memchr(from, ':', (size_t)(end - from));
		if (!copy_trimmed(pair->key, sizeof(pair->key), from,
				  colon ? colon : end))
			pair->fault = "has too long a key";
	} while (!colon && !pair->key[0]);
	if (colon &&
	    !copy_trimmed(pair->value, sizeof(pair->value), colon + 1, end))
		pair->fault = "has too long a value";
	if (!colon)
		pair->fault = "has no colon: it has to be like \"vm:off\"";
	else if (!pair->key[0])
		pair->fault = "has no key: it has to be like \"vm:off\"";
	return true;
}

void gm_conf_apply(struct gm_option *first)
{
	const char *at = gm_conf.text;
	struct gm_option *option;
	struct gm_pair pair;

	while (gm_conf_next(&at, &pair)) {
		if (pair.fault)
			continue;
		option = gm_option_find(first, pair.key);
		if (option && !gm_option_fault(option->row, pair.value))
			gm_option_assign(option, pair.value,
					 GM_SOURCE_ENVIRONMENT);
	}
}

void gm_conf_keys(void (*fn)(const char *key))
{
	struct gm_pair pair;
	const char *at;

	gm_option_lock();
	at = gm_conf.text;
	gm_option_unlock();
	while (gm_conf_next(&at, &pair))
		if (!pair.fault)
			fn(pair.key);
}
