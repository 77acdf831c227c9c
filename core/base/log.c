/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See log.h. Option `log` is read anew for each message that has no function
 * to go to: messages are rare, and so no second copy of the level can be stale.
 * One message is one printable line, whatever a driver put into it.
 */
#include "log.h"
#include "line.h"
#include "option.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#define LINE_BYTES 1280

struct sink {
	gpumem_log_fn fn;
	gpumem_log_level level;
	void *user;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sink sink; /* under the mutex */

static const char *const level_names[] = {
	[GPUMEM_LOG_NONE] = "none",   [GPUMEM_LOG_ERROR] = "error",
	[GPUMEM_LOG_WARN] = "warn",   [GPUMEM_LOG_INFO] = "info",
	[GPUMEM_LOG_DEBUG] = "debug",
};

bool gm_log_level_parse(const char *text, gpumem_log_level *level_out)
{
	int level;

	for (level = GPUMEM_LOG_NONE; level <= GPUMEM_LOG_DEBUG; level++) {
		if (strcasecmp(text, level_names[level]) != 0)
			continue;
		*level_out = (gpumem_log_level)level;
		return true;
	}
	return false;
}

/* The present sink; without a function, its level is that of option `log`, or
 * `unasked` if that has its default. */
static struct sink sink_now(gpumem_log_level unasked)
{
	struct sink now;
	char text[8];

	pthread_mutex_lock(&mutex);
	now = sink;
	pthread_mutex_unlock(&mutex);
	if (now.fn)
		return now;
	now.level = unasked;
	if (!gm_option_is_default("log") &&
	    gm_option_text("log", text, sizeof(text)))
		gm_log_level_parse(text, &now.level);
	return now;
}

/* Plugins are foreign: a level that is none is never wanted. */
static bool wanted(const struct sink *now, gpumem_log_level level)
{
	return (int)level >= GPUMEM_LOG_ERROR &&
	       (int)level <= GPUMEM_LOG_DEBUG && (int)level <= (int)now->level;
}

bool gm_log_wanted(gpumem_log_level level)
{
	struct sink now = sink_now(GPUMEM_LOG_NONE);

	return wanted(&now, level);
}

static void emit(const struct sink *now, gpumem_log_level level,
		 const char *format, va_list args)
{
	char text[LINE_BYTES], line[LINE_BYTES];

	if (!wanted(now, level))
		return;
	vsnprintf(text, sizeof(text), format, args);
	gm_line_copy(line, sizeof(line), text);
	if (now->fn)
		now->fn(level, line, now->user);
	else
		fprintf(stderr, "gpumem: %s: %s\n", level_names[level], line);
}

void gm_log(gpumem_log_level level, const char *format, ...)
{
	struct sink now = sink_now(GPUMEM_LOG_NONE);
	va_list args;

	va_start(args, format);
	emit(&now, level, format, args);
	va_end(args);
}

void gm_log_unasked(const char *format, ...)
{
	struct sink now = sink_now(GPUMEM_LOG_ERROR);
	va_list args;

	va_start(args, format);
	emit(&now, GPUMEM_LOG_ERROR, format, args);
	va_end(args);
}

void gm_log_set(gpumem_log_level level, gpumem_log_fn fn, void *user)
{
	pthread_mutex_lock(&mutex);
	sink = (struct sink){.fn = fn, .level = level, .user = user};
	pthread_mutex_unlock(&mutex);
}
