/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See error.h. Two records per thread: the last error, and what a plugin has
 * said about the driver call under way. They are made at the thread's first
 * failure and kept outside thread-local storage: there must be little of that
 * in a library that programs load late (cache/local.h). A thread that has no
 * host memory even for this keeps the status alone.
 */
#include "error.h"
#include "line.h"
#include "status.h"
#include "struct.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct native {
	bool said;
	int64_t code;
	char name[64];
	char text[512];
};

struct records {
	struct gpumem_error last;
	const char *text; /* of it, when it is not copied yet; or NULL */
	struct native native;
};

static _Thread_local struct records *own;
static _Thread_local gpumem_status status_alone;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;
static bool exit_key_made;

/* A later failure of the same thread makes new ones. */
static void thread_exit(void *records)
{
	own = NULL;
	free(records);
}

static void make_exit_key(void)
{
	exit_key_made = pthread_key_create(&exit_key, thread_exit) == 0;
}

/* The thread's records, or NULL. */
static struct records *obtain(void)
{
	struct records *records;

	if (own)
		return own;
	pthread_once(&once, make_exit_key);
	records = exit_key_made ? calloc(1, sizeof(*records)) : NULL;
	if (!records || pthread_setspecific(exit_key, records)) {
		free(records);
		return NULL;
	}
	records->last.size = sizeof(records->last);
	own = records;
	return records;
}

/* Copies what fits, and always ends it. NULL is "". */
static void copy_text(char *to, size_t bytes, const char *from)
{
	size_t used = from ? strnlen(from, bytes - 1) : 0;

	memcpy(to, from ? from : "", used);
	to[used] = '\0';
}

/* Everything but the text; the text is made apart, since its arguments may
 * point into the old one. */
static void record(gpumem_status status, const char *text)
{
	struct records *records = obtain();

	status_alone = status;
	if (!records)
		return;
	records->last = (struct gpumem_error){.size = sizeof(records->last),
					      .status = status};
	records->text = NULL;
	gm_line_copy(records->last.text, sizeof(records->last.text), text);
}

gpumem_status gm_refuse(gpumem_status status, const char *text)
{
	struct records *records = obtain();

	status_alone = status;
	if (!records)
		return status;
	records->last.status = status;
	records->text = text;
	return status;
}

/* The calling thread's last error as a whole; there are records. */
static struct gpumem_error *last(void)
{
	if (own->text)
		record(own->last.status, own->text);
	return &own->last;
}

gpumem_status gm_fail(gpumem_status status, const char *format, ...)
{
	char text[sizeof(own->last.text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	record(status, text);
	return status;
}

void gm_native_error(int64_t code, const char *name, const char *format, ...)
{
	struct records *records = obtain();
	char text[sizeof(own->native.text)] = "";
	struct native *native;
	va_list args;

	if (!records)
		return;
	if (format) {
		va_start(args, format);
		vsnprintf(text, sizeof(text), format, args);
		va_end(args);
	}
	native = &records->native;
	native->said = true;
	native->code = code;
	gm_line_copy(native->name, sizeof(native->name), name ? name : "");
	gm_line_copy(native->text, sizeof(native->text), text);
}

void gm_native_clear(void)
{
	if (own)
		own->native.said = false;
}

/* "(NAME, CODE)", or what there is of it. */
static void native_suffix(const struct native *native, char *to, size_t bytes)
{
	long long code = (long long)native->code;

	to[0] = '\0';
	if (native->name[0] && code)
		snprintf(to, bytes, " (%s, %lld)", native->name, code);
	else if (native->name[0])
		snprintf(to, bytes, " (%s)", native->name);
	else if (code)
		snprintf(to, bytes, " (%lld)", code);
}

gpumem_status gm_fail_native(gpumem_status status, const char *backend,
			     const char *where)
{
	const char *text = gm_status_text(status);
	struct native *native = own && own->native.said ? &own->native : NULL;
	char suffix[sizeof(native->name) + 32] = "";

	if (native) {
		native_suffix(native, suffix, sizeof(suffix));
		if (native->text[0])
			text = native->text;
	}
	gm_fail(status, "%s: %s%s", where, text, suffix);
	if (own)
		copy_text(own->last.backend, sizeof(own->last.backend),
			  backend);
	if (native) {
		own->last.native_code = native->code;
		copy_text(own->last.native_name, sizeof(own->last.native_name),
			  native->name);
		native->said = false;
	}
	return status;
}

void gm_error_context(const char *format, ...)
{
	char context[sizeof(own->last.text)];
	char text[2 * sizeof(context) + 2];
	va_list args;

	if (!own)
		return;
	va_start(args, format);
	vsnprintf(context, sizeof(context), format, args);
	va_end(args);
	snprintf(text, sizeof(text), "%s: %s", context, last()->text);
	gm_line_copy(own->last.text, sizeof(own->last.text), text);
}

const char *gm_error_text(void)
{
	if (own)
		return last()->text;
	return status_alone != GPUMEM_OK ? gm_status_text(status_alone) : "";
}

void gm_error_get(struct gpumem_error *error_out)
{
	struct gpumem_error alone = {.size = sizeof(alone),
				     .status = status_alone};

	if (own) {
		gm_struct_copy(error_out, last());
		return;
	}
	copy_text(alone.text, sizeof(alone.text), gm_error_text());
	gm_struct_copy(error_out, &alone);
}

void gm_error_set(const struct gpumem_error *error)
{
	struct records *records = obtain();

	status_alone = error->status;
	if (!records)
		return;
	records->text = NULL;
	if (error != &records->last)
		gm_struct_copy(&records->last, error);
}

void gm_first_keep(struct gm_first *first, gpumem_status status)
{
	if (first->status != GPUMEM_OK || status == GPUMEM_OK)
		return;
	first->status = status;
	first->error.size = sizeof(first->error);
	gm_error_get(&first->error);
}

gpumem_status gm_first_end(const struct gm_first *first)
{
	if (first->status != GPUMEM_OK)
		gm_error_set(&first->error);
	return first->status;
}
