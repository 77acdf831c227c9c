/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What core/record needs of core/base, without what that brings along: texts of
 * each thread in memory by malloc(), messages, and names of tags, of which a
 * program that does not know of gpumem has none. Under the mutex of the
 * recorder, but for gm_forked_slow().
 */
#include "base/error.h"
#include "base/fork.h"
#include "base/scope.h"
#include "base/tag.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- base/error.h, of all threads together ---- */

static char text[256];

gpumem_status gm_fail(gpumem_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return status;
}

const char *gm_error_text(void)
{
	return text;
}

/* ---- base/fork.h: the word is the recorder's ---- */

static const _Atomic uint32_t unknown = GM_FORK_UNKNOWN;
const _Atomic uint32_t *_Atomic gm_fork_word = &unknown;

bool gm_forked_slow(void)
{
	return atomic_load(atomic_load(&gm_fork_word)) == GM_FORK_CHILD;
}

/* ---- base/scope.h: the program's errno stays as well ---- */

static __thread struct {
	unsigned depth;
	int cancel, error;
} scope __attribute__((tls_model("initial-exec")));

void gm_scope_enter(void)
{
	if (scope.depth++)
		return;
	scope.error = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &scope.cancel);
}

void gm_scope_leave(void)
{
	if (--scope.depth)
		return;
	pthread_setcancelstate(scope.cancel, NULL);
	errno = scope.error;
}

/* ---- base/tag.h ---- */

_Atomic uint32_t gm_tag_count;

const char *gm_tag_path(uint32_t number)
{
	(void)number;
	return "";
}
