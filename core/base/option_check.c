/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What is wrong in GPUMEM_CONF: its copy is judged, without the table's mutex,
 * each time that a device is to be opened. */
#include "option_table.h"
#include "error.h"
#include "log.h"
#include <stdio.h>
#include <string.h>

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
	news = !gm_conf.told[offset];
	gm_conf.told[offset] = true;
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
	at = from = gm_conf.text;
	gm_option_unlock();
	if (gm_conf.unread)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no memory for a copy of GPUMEM_CONF");
	for (; gm_conf_next(&at, &pair); from = at) {
		if (judge(&pair, waits, sentence, sizeof(sentence)))
			continue;
		if (status == GPUMEM_OK)
			status = gm_fail(GPUMEM_INVALID, "GPUMEM_CONF: %s",
					 sentence);
		if (tell && is_news((size_t)(from - gm_conf.text)))
			gm_log_unasked("GPUMEM_CONF: %s", sentence);
	}
	return status;
}
