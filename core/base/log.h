/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * One sink for messages, with levels. Off unless the program sets a function
 * or option `log` is set. Never used on a hot path. A mutex of its own guards
 * the sink; the sink is called without it, and without any other lock: messages
 * inside a scope (scope.h) are queued until the scope ends.
 */
#ifndef GM_BASE_LOG_H
#define GM_BASE_LOG_H

#include <gpumem/backend.h>

void gm_log(gpumem_log_level level, const char *format, ...)
	GPUMEM_PRINTF(2, 3);

/* The same at level error, for what would otherwise be passed over in silence:
 * it goes to standard error also where nobody asked for messages. A function
 * of the program takes it like any other, and only a `log:none` that somebody
 * did ask for silences it. */
void gm_log_unasked(const char *format, ...) GPUMEM_PRINTF(1, 2);

/* Tells what the calling thread has kept, in its order. It is outside. */
void gm_log_tell_kept(void);

/* Would a message of level debug be seen? Without a lock: for what is told
 * often. */
bool gm_log_debugs(void);

void gm_log_set(gpumem_log_level level, gpumem_log_fn fn, void *user);

#endif
