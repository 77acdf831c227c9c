/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Setting, getting and visiting options by name, with sentences for what is
 * wrong. Holds the table's mutex around each step, never around a caller's
 * function.
 */
#include "option_table.h"
#include "error.h"
#include "path.h"
#include "struct.h"
#include <stdio.h>
#include <string.h>

static const char *const source_names[] = {
	[GM_SOURCE_DEFAULT] = "default",
	[GM_SOURCE_ENVIRONMENT] = "environment",
	[GM_SOURCE_PROGRAM] = "program",
};

/* The key that is meant, when one is near; under the mutex. */
static const char *nearest(const char *key)
{
	const struct gm_option *option;
	const char *best = NULL;
	unsigned best_distance = 3;

	if (strlen(key) >= GM_OPTION_KEY_BYTES)
		return NULL;
	for (option = gm_option_first(); option; option = option->next) {
		const char *other = option->row->key;
		unsigned distance = gm_option_distance(key, other);

		if (distance < best_distance && distance < strlen(other)) {
			best = other;
			best_distance = distance;
		}
	}
	return best;
}

static void say_unknown(const char *key, char *sentence, size_t bytes)
{
	const char *meant = nearest(key);

	if (meant)
		snprintf(sentence, bytes,
			 "unknown option \"%s\", did you mean \"%s\"?", key,
			 meant);
	else
		snprintf(sentence, bytes, "unknown option \"%s\"", key);
}

/* Under the mutex. */
static gpumem_status judge(const char *key, const char *value, char *sentence,
			   size_t bytes, struct gm_option **option_out)
{
	struct gm_option *option = gm_option_find(gm_option_first(), key);
	const char *fault;

	if (!option) {
		say_unknown(key, sentence, bytes);
		return GPUMEM_NOT_FOUND;
	}
	fault = value ? gm_option_fault(option->row, value) : NULL;
	if (fault) {
		snprintf(sentence, bytes, "option \"%s\": \"%.80s\" %s", key,
			 value, fault);
		return GPUMEM_INVALID;
	}
	*option_out = option;
	return GPUMEM_OK;
}

gpumem_status gm_option_judge(const char *key, const char *value,
			      char *sentence, size_t bytes)
{
	struct gm_option *option;
	gpumem_status status;

	gm_option_lock();
	status = judge(key, value, sentence, bytes, &option);
	gm_option_unlock();
	return status;
}

bool gm_option_decided(const char *key)
{
	const struct gm_option *option;
	bool decided;

	gm_option_lock();
	option = gm_option_find(gm_option_first(), key);
	decided = option && option->decided;
	gm_option_unlock();
	return decided;
}

/* Files that are written when it has happened: whether that can be done is to
 * be known before. */
static const struct {
	const char *key;
	bool (*try)(struct gm_own *own, const char *path);
} files[] = {{"oom", gm_path_try_add},
	     {"leaks", gm_path_try_add},
	     {"oom_snapshot", gm_path_try}};

bool gm_option_try(const char *key, const char *value, char *sentence,
		   size_t bytes)
{
	struct gm_own own;

	if (!*value || strlen(value) >= GM_OPTION_VALUE_BYTES)
		return true;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!strcmp(key, files[i].key) && !files[i].try(&own, value)) {
			snprintf(sentence, bytes,
				 "option \"%s\": \"%.200s\" cannot be "
				 "written: %s",
				 key, value, own.why);
			return false;
		}
	return true;
}

gpumem_status gm_option_set(const char *key, const char *value)
{
	struct gm_option *option;
	gpumem_status status;
	char sentence[512];

	if (value && !gm_option_try(key, value, sentence, sizeof(sentence)))
		return gm_fail(GPUMEM_INVALID, "%s", sentence);
	gm_option_lock();
	status = judge(key, value, sentence, sizeof(sentence), &option);
	if (status == GPUMEM_OK && value)
		gm_option_assign(option, value, GM_SOURCE_PROGRAM);
	else if (status == GPUMEM_OK)
		gm_option_assign(option, option->row->default_value,
				 GM_SOURCE_DEFAULT);
	if (status == GPUMEM_OK)
		option->decided = true;
	gm_option_unlock();
	return status == GPUMEM_OK ? status : gm_fail(status, "%s", sentence);
}

static struct gpumem_option describe(const struct gm_option *option)
{
	return (struct gpumem_option){
		.size = sizeof(struct gpumem_option),
		.key = option->row->key,
		.value = option->value,
		.default_value = option->row->default_value,
		.source = source_names[option->source],
		.text = option->row->text,
	};
}

gpumem_status gm_option_get(const char *key, struct gpumem_option *option_out)
{
	struct gpumem_option described;
	struct gm_option *option;
	gpumem_status status;
	char sentence[512];

	gm_option_lock();
	status = judge(key, NULL, sentence, sizeof(sentence), &option);
	if (status == GPUMEM_OK)
		described = describe(option);
	gm_option_unlock();
	if (status != GPUMEM_OK)
		return gm_fail(status, "%s", sentence);
	gm_struct_copy(option_out, &described);
	return GPUMEM_OK;
}

void gm_option_visit(bool (*fn)(const struct gpumem_option *option, void *user),
		     void *user)
{
	const struct gm_option *option;
	char value[GM_OPTION_VALUE_BYTES];
	bool more = true;

	gm_option_lock();
	for (option = gm_option_first(); option && more;
	     option = option->next) {
		struct gpumem_option described = describe(option);

		memcpy(value, option->value, sizeof(value));
		described.value = value;
		gm_option_unlock();
		more = fn(&described, user);
		gm_option_lock();
	}
	gm_option_unlock();
}
