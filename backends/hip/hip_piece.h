/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group VM for runtimes that cannot do all of it. Mappings are made and taken
 * away piece by piece, and what is mapped is written down, so that half a call
 * can be undone. A piece is
 *
 *     HIP_VM_SINGLE   a page, in one reservation with all others
 *     HIP_VM_RESERVE  a granule, in a reservation of its own, which is given
 *                     back and taken again after each unmap
 *
 * At HIP_VM_RESERVE pages are lists of handles, one for each granule. The one
 * mutex of a device's ranges is held while pieces change: between the two calls
 * an address is nobody's, and another thread of the program may get it. Then
 * that piece is lost, cannot be mapped again, and says so.
 */
#ifndef GM_HIP_PIECE_H
#define GM_HIP_PIECE_H

#include "hip_plugin.h"

#include <pthread.h>

struct hip_piece {
	hipMemGenericAllocationHandle_t handle; /* NULL: nothing is mapped */
	uint64_t devices;			/* that may use it */
	bool lost;
};

/* One piece for each granule; those inside a larger one stay empty. */
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
struct hip_piece *gm_hip_piece_at(const struct hip_device *device,
				  const struct hip_range *range,
				  uint64_t address);
/* Reserves the granule at exactly that address. */
gpumem_status gm_hip_reserve_at(const struct hip_device *device,
				uint64_t address);
/* Say so. */
gpumem_status gm_hip_no_table(void);
gpumem_status gm_hip_foreign(uint64_t address);

#endif
