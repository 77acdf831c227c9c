/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where a plugin takes pinned memory from, and that the thread's own policy is
 * as it was: what the tests of cuda and hip share. After a fixture.h.
 */
#ifndef GPU_NEAR_H
#define GPU_NEAR_H

#include <linux/mempolicy.h>
#include <sys/syscall.h>

/* The thread's policy; -1: this place does not tell. */
static int policy(void)
{
	int mode;

	return syscall(SYS_get_mempolicy, &mode, NULL, 0ul, NULL, 0ul) ? -1
								       : mode;
}

static bool set_policy(int mode)
{
	unsigned long nodes[16] = {1};
	bool none = mode == MPOL_DEFAULT;

	return !syscall(SYS_set_mempolicy, mode, none ? NULL : nodes,
			none ? 0ul : 1024ul);
}

/* The node for which the driver gave pinned memory; -1: any. */
static int node_of_pinned(void *device)
{
	uint64_t address = 0;

	if (gpu->kind_alloc(device, GPUMEM_KIND_PINNED, MIB, &address) ||
	    gpu->kind_free(device, GPUMEM_KIND_PINNED, address, MIB))
		bail("no pinned memory: %s", said.text);
	return driver.fakecuda_pinned_node();
}

/* The device is close to node `near`; -1: to none. */
static void check_near(void *device, int near)
{
	if (policy() != MPOL_DEFAULT || !set_policy(MPOL_DEFAULT)) {
		skip("policies of memory cannot be set here", 4);
		return;
	}
	is_int(node_of_pinned(device), near, "of the node");
	is_int(policy(), MPOL_DEFAULT, "the thread is as it was");
	if (!set_policy(MPOL_BIND))
		bail("set_mempolicy");
	is_int(node_of_pinned(device), -1, "not where the program has chosen");
	is_int(policy(), MPOL_BIND, "which stays");
	(void)set_policy(MPOL_DEFAULT);
}

#endif
