/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Processes that are suspended and resumed together: the ranks of a job wait
 * for each other on the devices, so all are locked before one is taken away,
 * and all are back before one goes on. No locks: for one thread.
 */
#ifndef GPUMEM_TOOLS_SUSPEND_GROUP_H
#define GPUMEM_TOOLS_SUSPEND_GROUP_H

#include "suspend/driver.h"

#include <stddef.h>
#include <stdint.h>

struct member {
	pid_t pid;
	char name[64]; /* of its program */
	enum driver_state state;
	char why[DRIVER_WHY]; /* what failed; "": nothing */
	bool optional;	      /* a descendant, which may do without CUDA */
	bool ours;	      /* its state was changed here */
	double seconds;	      /* that its checkpoint or restore took */
	uint64_t host_bytes;  /* resident in the host's memory afterwards */
};

struct group {
	struct member *members;
	size_t count;
};

/* False, and told: it is no process, or this one. */
bool group_add(struct group *group, pid_t pid);
/* Their children, and theirs. */
bool group_add_descendants(struct group *group);
void group_free(struct group *group);

/* Each: false where one has a `why`. Of suspend all are as they were then, as
 * far as the driver lets them; of resume those that could not be restored are,
 * and nobody goes on. */
bool group_suspend(struct group *group, unsigned timeout_ms);
bool group_resume(struct group *group);

const char *group_state_name(enum driver_state state);

#endif
