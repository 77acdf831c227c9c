/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The host's memory that is closest to a device. The drivers take pinned memory
 * by the calling thread's policy, see set_mempolicy(2), so the thread has
 * another one for the time of a call. A policy that somebody chose, by
 * numactl(8) say, stays. What the kernel or a container forbids is left out:
 * the memory is farther away, and good. Keeps nothing; no lock.
 */
#include "plugin.h"

#include <limits.h>
#include <linux/mempolicy.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel has at most so many nodes. */
enum { NODES_MAX = 1024, WORD_BITS = sizeof(unsigned long) * CHAR_BIT };

static bool has_own_policy(void)
{
	int mode;

	return syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0) ||
	       mode != MPOL_DEFAULT;
}

bool gpu_near_begin(const struct gpu_device *device)
{
	unsigned long nodes[NODES_MAX / WORD_BITS] = {0};
	int node = gpu_host_node(device);

	if (node < 0 || node >= NODES_MAX || has_own_policy())
		return false;
	nodes[node / WORD_BITS] = 1ul << node % WORD_BITS;
	/* One more bit than there are: the kernel leaves out the last. */
	return !syscall(SYS_set_mempolicy, MPOL_PREFERRED, nodes,
			(unsigned long)NODES_MAX + 1);
}

void gpu_near_end(bool begun)
{
	if (begun)
		(void)syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0ul);
}
