/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Counts driver calls: a backend of the tool's own that forwards every call to
 * the real one, and counts its pages and bytes, which the statistics of a pool
 * do not have. One backend a process, one thread, no lock.
 */
#ifndef GPUMEM_TOOLS_REPLAY_COUNT_H
#define GPUMEM_TOOLS_REPLAY_COUNT_H

#include <gpumem/gpumem.h>

#define COUNT_NAME 32 /* bytes of a device's name, as in gpumem_device_info */

struct count {
	uint64_t calls;
	uint64_t pages; /* of map and unmap */
	uint64_t bytes; /* of all that take or give memory or addresses */
};

struct counts {
	struct count call[GPUMEM_CALL_COUNT];
};

/* Puts the counter in front of the backend of `device`, "host:0". Opened by
 * the name that comes out, "host-count:0", it is the same device. The status
 * is that of the backend. */
gpumem_status count_begin(const char *device, char name_out[COUNT_NAME]);

/* All calls since the program began, those that failed too. */
const struct counts *count_now(void);

/* Counts one more call. */
void count_add(struct counts *counts, enum gpumem_call call, uint64_t pages,
	       uint64_t bytes);

#endif
