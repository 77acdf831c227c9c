/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See claim.h. */
#include "claim.h"
#include "base/error.h"
#include "base/option.h"

void gm_claim_init(struct gpumem_device *device)
{
	uint64_t limit = gm_option_memory(GM_MEMORY_device_limit,
					  device->info.total_bytes);

	device->limit_bytes = limit ? limit : UINT64_MAX;
}

bool gm_claim(struct gpumem_device *device, uint64_t bytes)
{
	uint64_t claimed = atomic_load(&device->claimed_bytes);

	do {
		if (bytes > device->limit_bytes - claimed)
			return false;
	} while (!atomic_compare_exchange_weak(&device->claimed_bytes, &claimed,
					       claimed + bytes));
	return true;
}

void gm_claim_back(struct gpumem_device *device, uint64_t bytes)
{
	atomic_fetch_sub(&device->claimed_bytes, bytes);
}

uint64_t gm_claim_room(const struct gpumem_device *device)
{
	if (device->limit_bytes == UINT64_MAX)
		return UINT64_MAX;
	return device->limit_bytes - atomic_load(&device->claimed_bytes);
}

gpumem_status gm_claim_refuse(const struct gpumem_device *device)
{
	return gm_fail(GPUMEM_LIMIT,
		       "%s: the limit of %llu bytes for all pools (option "
		       "`device_limit`) is reached",
		       device->info.name,
		       (unsigned long long)device->limit_bytes);
}
