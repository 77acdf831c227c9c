/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group VM for runtimes that take one mapping a call. What is mapped is written
 * down, so that half a call can be undone.
 */
#ifndef GM_HIP_PIECE_H
#define GM_HIP_PIECE_H

#include "plugin.h"

#include <pthread.h>

struct hip_piece {
	hipMemGenericAllocationHandle_t handle; /* NULL: nothing is mapped */
	uint64_t devices;			/* that may use it */
};

/* One piece for each granule; those inside a page but for the first stay empty.
 */
struct hip_range {
	struct hip_range *next;
	uint64_t address, bytes;
	struct hip_piece *piece;
};

struct hip_ranges {
	pthread_mutex_t mutex;
	struct hip_range *first;
};

/* Under the mutex: the range that the address is in, or NULL. */
struct hip_range *gm_hip_range_find(const struct hip_ranges *ranges,
				    uint64_t address);
struct hip_piece *gm_hip_piece_at(const struct gpu_device *device,
				  const struct hip_range *range,
				  uint64_t address);
/* Say so. */
gpumem_status gm_hip_no_table(void);
gpumem_status gm_hip_foreign(uint64_t address);

#endif
