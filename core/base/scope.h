/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A scope: one call of the program into the library, or one round of a
 * background thread. Locks may be held in it, so the calling thread cannot be
 * cancelled, and its messages are queued (log.h). When the outermost scope
 * ends, no lock is held: the thread may be cancelled again, and the messages
 * are logged. Every public function that takes a lock, calls a backend or may
 * log has a scope. The hot path has none, nor have gpumem_last_error(),
 * gpumem_device_get_info() and the functions that give names and texts: they
 * read what is constant or their thread's own.
 */
#ifndef GM_BASE_SCOPE_H
#define GM_BASE_SCOPE_H

#include <stdbool.h>

void gm_scope_enter(void);
void gm_scope_leave(void);
/* Is the calling thread between the two? */
bool gm_scope_inside(void);

static inline void gm_scope_end(const char *unused)
{
	(void)unused;
	gm_scope_leave();
}

/* From here to the end of the block. */
#define GM_SCOPE                                                               \
	__attribute__((cleanup(gm_scope_end), unused)) const char gm_scope =   \
		(gm_scope_enter(), 0)

#endif
