/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Detects that this process was forked after the library was first used: the
 * device's driver and the worker threads of a backend do not work in a child,
 * so only calls that return names and texts work there. No fork handler is
 * installed; the kernel wipes a page in the child instead (MADV_WIPEONFORK). No
 * locks.
 */
#ifndef GM_BASE_FORK_H
#define GM_BASE_FORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the word of gm_fork_word says. A page wiped in a child reads as 0. */
enum gm_fork_state {
	GM_FORK_CHILD = 0,
	GM_FORK_UNKNOWN = 1, /* not used yet, or the kernel cannot wipe */
	GM_FORK_PARENT = 2
};

extern const _Atomic uint32_t *_Atomic gm_fork_word;

/* The library is used from now on. Cheap when called again. */
void gm_fork_init(void);

bool gm_forked_slow(void);

/* True in a child that was forked after gm_fork_init(). Takes no lock and makes
 * no call while the process is not a child. */
static inline bool gm_forked(void)
{
	const _Atomic uint32_t *word =
		atomic_load_explicit(&gm_fork_word, memory_order_relaxed);

	return atomic_load_explicit(word, memory_order_relaxed) !=
		       GM_FORK_PARENT &&
	       gm_forked_slow();
}

/* Zeroed memory of whole pages that reads as zero again in a forked child
 * (except where the kernel cannot wipe: there gm_forked() has to be asked
 * first). NULL: no memory. */
void *gm_fork_private(size_t bytes);
void gm_fork_private_free(void *memory, size_t bytes);

#endif
