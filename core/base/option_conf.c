/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * GPUMEM_CONF: "key:value,key:value". It is copied once and read in two passes:
 * one, under the table's mutex, gives rows their values; one, without it, logs
 * what was wrong. Keys of backends that are not there yet wait in the copy. A
 * value ends at a comma; the first colon ends the key. The last of several
 * pairs with one key wins. Blanks around both are dropped.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif

#include "option_table.h"
#include "log.h"
#include <stdlib.h>
#include <string.h>

static char *conf; /* written once, by gm_conf_read() */

const char *gm_environment(const char *name)
{
	return secure_getenv(name);
}

void gm_conf_read(void)
{
	const char *text = gm_environment("GPUMEM_CONF");

	if (text)
		conf = strdup(text);
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
			pair->fault = "the key is too long";
	} while (!colon && !pair->key[0]);
	if (!colon)
		pair->fault = "no colon";
	else if (!pair->key[0])
		pair->fault = "no key";
	else if (!copy_trimmed(pair->value, sizeof(pair->value), colon + 1,
			       end))
		pair->fault = "the value is too long";
	return true;
}

void gm_conf_apply(struct gm_option *first)
{
	const char *at = conf;
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

/* Whether the pair's key is of the same owner as `key`: what stands before the
 * dot is the same. The core's keys have none. */
static bool same_owner(const char *pair_key, const char *key)
{
	const char *dot = strchr(pair_key, '.');
	size_t length = dot ? (size_t)(dot - pair_key) + 1 : 0;

	if (!key)
		return !dot;
	return dot && strncmp(pair_key, key, length) == 0;
}

void gm_conf_report(const char *key)
{
	const char *at = conf;
	struct gm_pair pair;
	char sentence[GM_OPTION_VALUE_BYTES];

	while (gm_conf_next(&at, &pair)) {
		if (!same_owner(pair.key, key))
			continue;
		if (pair.fault)
			gm_log(GPUMEM_LOG_WARN,
			       "GPUMEM_CONF: \"%s\" is ignored: %s", pair.key,
			       pair.fault);
		else if (gm_option_judge(pair.key, pair.value, sentence,
					 sizeof(sentence)) != GPUMEM_OK)
			gm_log(GPUMEM_LOG_WARN, "GPUMEM_CONF: %s; ignored",
			       sentence);
	}
}
