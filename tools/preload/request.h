/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What `gpumem-run --trim` asks of a process: a number in its ledger, for which
 * a thread waits, and which only who may write that file can change: the same
 * user, or root. No signal, and no descriptor that stays open.
 *
 *	trim_asked != trim_done <=> somebody waits for an answer
 */
#ifndef GPUMEM_PRELOAD_REQUEST_H
#define GPUMEM_PRELOAD_REQUEST_H

#include "ledger.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Begins the thread that answers, which blocks all signals and lasts as long as
 * the process. Where it cannot be had, nothing is answered. */
void request_listen(struct ledger *ledger);

/* Until *word is not `value`; `patience` NULL: without end. The ledger is
 * another process's, too. -1: errno says why it did not wait. */
static inline long request_wait(_Atomic uint32_t *word, uint32_t value,
				const struct timespec *patience)
{
	return syscall(SYS_futex, word, FUTEX_WAIT, value, patience, NULL, 0);
}

static inline void request_wake(_Atomic uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

#endif
