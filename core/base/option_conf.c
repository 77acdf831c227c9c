/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * GPUMEM_CONF: "key:value,key:value". It is copied once. Rows get their values
 * from the copy, under the table's mutex, when they are added; and the copy is
 * judged, without it, each time that a device is to be opened. A value ends at
 * a comma; the first colon ends the key. The last of several pairs with one key
 * wins. Blanks around both are dropped, and so is what is empty.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif

#include "option_table.h"
#include "error.h"
#include "log.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Written once, by gm_conf_read(); the marks are under the mutex. */
static char *conf;  /* NULL: there is none */
static char *told;  /* as long: at a pair's first byte, whether it was told */
static bool unread; /* there was no memory for them */

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
	conf = calloc(2, bytes);
	unread = !conf;
	if (unread)
		return;
	memcpy(conf, text, bytes);
	told = conf + bytes;
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

void gm_conf_keys(void (*fn)(const char *key))
{
	struct gm_pair pair;
	const char *at;

	gm_option_lock();
	at = conf;
	gm_option_unlock();
	while (gm_conf_next(&at, &pair))
		if (!pair.fault)
			fn(pair.key);
}

/* A key that the table does not have: true when that is no mistake. */
static bool excused(const char *key, gm_conf_waits_fn waits, char *sentence,
		    size_t bytes)
{
	char meant[16] = "";

	if (waits(key, meant))
		return true;
	if (*meant)
		snprintf(sentence, bytes,
			 "unknown option \"%s\", did you mean \"%s%s\"?", key,
			 meant, strchr(key, '.'));
	return false;
}

/* True, or what is wrong, as a sentence. */
static bool judge(const struct gm_pair *pair, gm_conf_waits_fn waits,
		  char *sentence, size_t bytes)
{
	if (pair->fault) {
		snprintf(sentence, bytes, "\"%s%s%.60s\" %s", pair->key,
			 *pair->value || !*pair->key ? ":" : "", pair->value,
			 pair->fault);
		return false;
	}
	switch (gm_option_judge(pair->key, pair->value, sentence, bytes)) {
	case GPUMEM_OK:
		return gm_option_try(pair->key, pair->value, sentence, bytes) ||
		       gm_option_decided(pair->key);
	case GPUMEM_NOT_FOUND:
		return excused(pair->key, waits, sentence, bytes);
	default:
		return gm_option_decided(pair->key);
	}
}

/* True the first time. */
static bool is_news(size_t offset)
{
	bool news;

	gm_option_lock();
	news = !told[offset];
	told[offset] = true;
	gm_option_unlock();
	return news;
}

gpumem_status gm_conf_check(gm_conf_waits_fn waits, bool tell)
{
	gpumem_status status = GPUMEM_OK;
	char sentence[GM_OPTION_VALUE_BYTES];
	const char *at, *from;
	struct gm_pair pair;

	gm_option_lock();
	at = from = conf;
	gm_option_unlock();
	if (unread)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no memory for a copy of GPUMEM_CONF");
	for (; gm_conf_next(&at, &pair); from = at) {
		if (judge(&pair, waits, sentence, sizeof(sentence)))
			continue;
		if (status == GPUMEM_OK)
			status = gm_fail(GPUMEM_INVALID, "GPUMEM_CONF: %s",
					 sentence);
		if (tell && is_news((size_t)(from - conf)))
			gm_log_unasked("GPUMEM_CONF: %s", sentence);
	}
	return status;
}
