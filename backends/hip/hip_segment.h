/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Raw allocations made of virtual memory, at HIP_VM_RESERVE: each has addresses
 * of its own and one handle behind them, and both go when it is freed. So
 * memory that stays taken until its addresses are free (ROCm/hip#3781) does
 * come back, and a free waits for no work, which hipFree() does.
 *
 * They have no name for other processes, and no page of theirs can be mapped
 * elsewhere. Each call but new and left is made between begin and end, or
 * does that itself.
 */
#ifndef GM_HIP_SEGMENT_H
#define GM_HIP_SEGMENT_H

#include "plugin.h"

/* Of the device of that number. NULL: no host memory. */
struct hip_segments *gm_hip_segments_new(int device);
/* Of a device, which may have none. What the runtime did not take back is
 * offered a last time and forgotten. */
void gm_hip_segments_drop(struct gpu_device *device);

gpumem_status gm_hip_segment_alloc(const struct gpu_device *device,
				   uint64_t bytes, uint64_t *address_out);
gpumem_status gm_hip_segment_free(const struct gpu_device *device,
				  uint64_t address);
/* The peer may use all that there are and will be. */
gpumem_status gm_hip_segments_open(struct hip_segments *segments, int peer);
/* Addresses of what was freed are still taken. */
bool gm_hip_segments_left(struct hip_segments *segments);

#endif
