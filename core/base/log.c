/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See log.h. Option `log` is read anew for each message that has no function
 * to go to: messages are rare, and so no second copy of the level can be stale.
 * One message is one printable line, whatever a driver put into it.
 */
#include "log.h"
#include "line.h"
#include "name.h"
#include "option.h"
#include "scope.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 1280

struct sink {
	gpumem_log_fn fn;
	gpumem_log_level level;
	void *user;
};

/* A message that waits for its thread to leave. */
struct kept {
	struct kept *next;
	gpumem_log_level level, unasked; /* the sink's, by default */
	char line[];
};

static _Thread_local struct kept *oldest, *newest;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sink sink; /* under the mutex */
/* The level of its function, if it has one: else -1. */
static _Atomic int fn_level = -1;

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
	if (gm_option_given(GM_TEXT_log, text, sizeof(text)))
		gm_log_level_parse(text, &now.level);
	return now;
}

/* Plugins are foreign: a level that is none is never wanted. */
static bool wanted(const struct sink *now, gpumem_log_level level)
{
	return (int)level >= GPUMEM_LOG_ERROR &&
	       (int)level <= GPUMEM_LOG_DEBUG && (int)level <= (int)now->level;
}

bool gm_log_debugs(void)
{
	int level = atomic_load(&fn_level);

	if (level < 0)
		level = atomic_load(&gm_option_log_level);
	return level >= GPUMEM_LOG_DEBUG;
}

static void tell(const struct sink *now, gpumem_log_level level,
		 const char *line)
{
	if (now->fn)
		now->fn(level, line, now->user);
	else
		fprintf(stderr, "gpumem: %s: %s\n", gm_log_level_name(level),
			line);
}

/* A thread whose function did not come back may end before it has been told
 * all. */
static pthread_key_t thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void forget_kept(void *unused)
{
	(void)unused;
	while (oldest) {
		struct kept *kept = oldest;

		oldest = kept->next;
		free(kept);
	}
}

static void make_key(void)
{
	has_key = !pthread_key_create(&thread_end, forget_kept);
}

/* With no host memory for it, a message is lost. */
static void keep(gpumem_log_level unasked, gpumem_log_level level,
		 const char *line)
{
	size_t bytes = strlen(line) + 1;
	struct kept *kept = malloc(sizeof(*kept) + bytes);

	if (!kept)
		return;
	pthread_once(&once, make_key);
	if (has_key)
		pthread_setspecific(thread_end, &once); /* anything */
	*kept = (struct kept){.level = level, .unasked = unasked};
	memcpy(kept->line, line, bytes);
	if (oldest)
		newest->next = kept;
	else
		oldest = kept;
	newest = kept;
}

static void emit(gpumem_log_level unasked, gpumem_log_level level,
		 const char *format, va_list args)
{
	struct sink now = sink_now(unasked);
	char text[LINE_BYTES], line[LINE_BYTES];

	if (!wanted(&now, level))
		return;
	vsnprintf(text, sizeof(text), format, args);
	gm_line_copy(line, sizeof(line), text);
	if (gm_scope_inside())
		keep(unasked, level, line);
	else
		tell(&now, level, line);
}

/* The function may not come back: what it has not been told yet stays. */
void gm_log_tell_kept(void)
{
	while (oldest) {
		struct kept *kept = oldest;
		gpumem_log_level level = kept->level;
		struct sink now = sink_now(kept->unasked);
		char line[LINE_BYTES];

		snprintf(line, sizeof(line), "%s", kept->line);
		oldest = kept->next;
		free(kept);
		if (wanted(&now, level))
			tell(&now, level, line);
	}
}

void gm_log(gpumem_log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	emit(GPUMEM_LOG_NONE, level, format, args);
	va_end(args);
}

void gm_log_unasked(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	emit(GPUMEM_LOG_ERROR, GPUMEM_LOG_ERROR, format, args);
	va_end(args);
}

void gm_log_set(gpumem_log_level level, gpumem_log_fn fn, void *user)
{
	pthread_mutex_lock(&mutex);
	sink = (struct sink){.fn = fn, .level = level, .user = user};
	atomic_store(&fn_level, fn ? (int)level : -1);
	pthread_mutex_unlock(&mutex);
}
