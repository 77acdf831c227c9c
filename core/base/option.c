/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See option.h. The table is a list to which rows are only added; the mutex
 * guards the list and the values. It is never held while something is logged or
 * a caller's function runs, since the log itself reads an option.
 */
#include "option_table.h"
#include "error.h"
#include "name.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 1000

static const struct gpumem_option_row core_rows[] = {
#define CORE_ROW(key, value, kind, text)                                       \
	{#key, value, GPUMEM_OPTION_##kind, text},
	GM_OPTION_LIST(CORE_ROW)
#undef CORE_ROW
};

/* All under the mutex. The core's options are static, so that reading one
 * cannot fail for memory. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;
static struct gm_option core_options[GM_CORE_OPTION_COUNT];
static struct gm_option **tail;

static void append(struct gm_option *options, size_t count,
		   const struct gpumem_option_row *rows)
{
	size_t i;

	for (i = 0; i < count; i++) {
		options[i].row = &rows[i];
		gm_option_assign(&options[i], rows[i].default_value,
				 GM_SOURCE_DEFAULT);
		if (i + 1 < count)
			options[i].next = &options[i + 1];
	}
	if (tail)
		*tail = options;
	tail = &options[count - 1].next;
	gm_conf_apply(options);
}

void gm_option_lock(void)
{
	pthread_mutex_lock(&mutex);
	if (loaded)
		return;
	loaded = true;
	gm_conf_read();
	append(core_options, GM_CORE_OPTION_COUNT, core_rows);
}

void gm_option_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

struct gm_option *gm_option_first(void)
{
	return core_options;
}

struct gm_option *gm_option_find(struct gm_option *first, const char *key)
{
	while (first && strcmp(first->row->key, key) != 0)
		first = first->next;
	return first;
}

_Atomic int gm_option_log_level = GPUMEM_LOG_NONE;

/* Its value is what the level follows from, and has been found valid. */
static void keep_level(const struct gm_option *option)
{
	gpumem_log_level level;

	if (option == &core_options[GM_TEXT_log] &&
	    gm_log_level_parse(option->value, &level))
		atomic_store(&gm_option_log_level, (int)level);
}

void gm_option_assign(struct gm_option *option, const char *value,
		      enum gm_option_source source)
{
	size_t length = strnlen(value, GM_OPTION_VALUE_BYTES - 1);

	memcpy(option->value, value, length);
	option->value[length] = '\0';
	option->source = source;
	keep_level(option);
}

static bool key_is_sane(const char *key)
{
	size_t length = strspn(key, "abcdefghijklmnopqrstuvwxyz"
				    "0123456789._-");

	return length && length < GM_OPTION_KEY_BYTES && !key[length];
}

/* Under the mutex: row number `at` of what a backend brings. */
static gpumem_status check_row(const struct gpumem_option_row *rows, size_t at)
{
	const struct gpumem_option_row *row = &rows[at];
	const char *fault;
	size_t i;

	if (!key_is_sane(row->key))
		return gm_fail(GPUMEM_INVALID,
			       "option row %zu has a key that is none", at);
	if (!row->text || !row->default_value)
		return gm_fail(GPUMEM_INVALID, "option \"%s\" has no %s",
			       row->key, row->text ? "default" : "text");
	fault = gm_option_fault(row, row->default_value);
	if (fault)
		return gm_fail(GPUMEM_INVALID,
			       "option \"%s\": its default \"%.80s\" %s",
			       row->key, row->default_value, fault);
	for (i = 0; i < at; i++)
		if (strcmp(rows[i].key, row->key) == 0)
			break;
	if (i < at || gm_option_find(core_options, row->key))
		return gm_fail(GPUMEM_INVALID, "option \"%s\" is taken",
			       row->key);
	return GPUMEM_OK;
}

/* Under the mutex: all rows or none. */
static gpumem_status add_rows(const struct gpumem_option_row *rows)
{
	gpumem_status status = GPUMEM_OK;
	struct gm_option *options;
	size_t count;

	for (count = 0; rows[count].key; count++) {
		if (count == ROWS_MAX)
			return gm_fail(GPUMEM_INVALID,
				       "more than %d option rows", ROWS_MAX);
		status = check_row(rows, count);
		if (status != GPUMEM_OK)
			return status;
	}
	if (!count)
		return GPUMEM_OK;
	options = calloc(count, sizeof(*options));
	if (!options)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no memory for the options of a backend");
	append(options, count, rows);
	return GPUMEM_OK;
}

static bool is_added(const struct gpumem_option_row *rows)
{
	const struct gm_option *option = core_options;

	while (option && option->row != rows)
		option = option->next;
	return option != NULL;
}

gpumem_status gm_option_add(const struct gpumem_option_row *rows)
{
	gpumem_status status = GPUMEM_OK;

	gm_option_lock();
	if (!is_added(rows))
		status = add_rows(rows);
	gm_option_unlock();
	return status;
}

/* Under the mutex. In one way, so that nobody else has to know in how many a
 * value can be written. */
static void copy_value(const struct gm_option *option, char *value_out,
		       size_t bytes)
{
	const char *text = option->value;
	uint64_t number = 0;
	bool flag = false;

	switch (option->row->kind) {
	case GPUMEM_OPTION_BYTES:
	case GPUMEM_OPTION_MEMORY:
		if (!gm_parse_bytes(text, &number))
			break; /* a percentage */
		snprintf(value_out, bytes, "%llu", (unsigned long long)number);
		return;
	case GPUMEM_OPTION_COUNT:
		gm_parse_count(text, &number);
		snprintf(value_out, bytes, "%llu", (unsigned long long)number);
		return;
	case GPUMEM_OPTION_BOOL:
		gm_parse_bool(text, &flag);
		snprintf(value_out, bytes, "%s", flag ? "on" : "off");
		return;
	case GPUMEM_OPTION_PERCENT:
		break;
	case GPUMEM_OPTION_TEXT:
		snprintf(value_out, bytes, "%s", text);
		return;
	}
	snprintf(value_out, bytes, "%.*s%%", (int)strcspn(text, " %"), text);
}

bool gm_option_text(const char *key, char *value_out, size_t bytes)
{
	const struct gm_option *option;

	gm_option_lock();
	option = gm_option_find(core_options, key);
	if (option && bytes)
		copy_value(option, value_out, bytes);
	gm_option_unlock();
	return option != NULL;
}

static void copy_core(enum gm_core_option option, char *value_out, size_t bytes)
{
	gm_option_lock();
	copy_value(&core_options[option], value_out, bytes);
	gm_option_unlock();
}

bool gm_option_bool(enum gm_core_option option)
{
	char value[GM_OPTION_VALUE_BYTES];
	bool flag = false;

	copy_core(option, value, sizeof(value));
	gm_parse_bool(value, &flag);
	return flag;
}

uint64_t gm_option_bytes(enum gm_core_option option)
{
	char value[GM_OPTION_VALUE_BYTES];
	uint64_t number = 0;

	copy_core(option, value, sizeof(value));
	gm_parse_bytes(value, &number);
	return number;
}

uint64_t gm_option_count(enum gm_core_option option)
{
	return gm_option_bytes(option);
}

uint64_t gm_option_memory(enum gm_core_option option, uint64_t total_bytes)
{
	char value[GM_OPTION_VALUE_BYTES];
	uint64_t bytes = 0;

	copy_core(option, value, sizeof(value));
	gm_parse_memory(value, total_bytes, &bytes);
	return bytes;
}

double gm_option_fraction(enum gm_core_option option)
{
	char value[GM_OPTION_VALUE_BYTES];
	double fraction = 0;

	copy_core(option, value, sizeof(value));
	gm_parse_percent(value, &fraction);
	return fraction;
}

bool gm_option_given(enum gm_core_option option, char *value_out, size_t bytes)
{
	const struct gm_option *row = &core_options[option];
	bool given;

	gm_option_lock();
	given = row->source != GM_SOURCE_DEFAULT;
	if (given)
		copy_value(row, value_out, bytes);
	gm_option_unlock();
	return given;
}
