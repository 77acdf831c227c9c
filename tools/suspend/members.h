/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What the kernel says of processes, in /proc. No locks: for one thread. */
#ifndef GPUMEM_TOOLS_SUSPEND_MEMBERS_H
#define GPUMEM_TOOLS_SUSPEND_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The name of its program, "" if there is no such process. */
void members_name(pid_t pid, char *name_out, size_t bytes);

/* Its bytes in the host's memory; 0: the kernel does not say. */
uint64_t members_resident(pid_t pid);

struct members_link {
	pid_t pid, parent;
};

/* All processes that there are, for free(); NULL, and told: no memory, or no
 * /proc. */
struct members_link *members_all(size_t *count_out);

#endif
