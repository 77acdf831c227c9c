/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* When a process was started, by which it is known: numbers of processes are
 * used again. No locks. */
#ifndef GPUMEM_TOOLS_KEEP_OWNER_H
#define GPUMEM_TOOLS_KEEP_OWNER_H

#include <stdint.h>
#include <sys/types.h>

/* In the kernel's ticks; 0: there is none, or it has ended. */
uint64_t owner_started(pid_t pid);

#endif
