/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How much of a device's memory the process has, over all of its pools, and the
 * limit of that: option `device_limit`. What is asked of the driver is claimed
 * before, and is given back when the driver has it again, or has not given it;
 * live.h holds it meanwhile. It is no pool's limit: space/budget.h. No lock:
 * one atomic sum, touched with calls of the driver only.
 *
 *     reserved_bytes <= claimed_bytes <= limit_bytes       at every instant
 */
#ifndef GM_DEVICE_CLAIM_H
#define GM_DEVICE_CLAIM_H

#include "device.h"

/* The option, once the device's memory is known. */
void gm_claim_init(struct gpumem_device *device);
/* False: it would be more than the limit, and nothing is claimed. */
bool gm_claim(struct gpumem_device *device, uint64_t bytes);
void gm_claim_back(struct gpumem_device *device, uint64_t bytes);
/* How much more may be claimed; UINT64_MAX: there is no limit. */
uint64_t gm_claim_room(const struct gpumem_device *device);
/* LIMIT, with a sentence. */
gpumem_status gm_claim_refuse(const struct gpumem_device *device);

#endif
