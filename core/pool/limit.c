/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Limits in percent of the device's memory; see pool.h. No lock. */
#include "pool.h"
#include "base/error.h"

gpumem_status gm_limit_of_percent(const struct gpumem_device *device,
				  unsigned percent, const char *what,
				  uint64_t *bytes_out)
{
	const uint64_t total = device->info.total_bytes;

	if (percent > 100)
		return gm_fail(GPUMEM_INVALID,
			       "%s is %u, and at most 100 can be had", what,
			       percent);
	/* Exact, and without an overflow. */
	*bytes_out = total / 100 * percent + total % 100 * percent / 100;
	return GPUMEM_OK;
}

static gpumem_status one_of(const struct gpumem_device *device,
			    unsigned percent, const char *what, uint64_t *bytes)
{
	if (!percent)
		return GPUMEM_OK;
	if (*bytes)
		return gm_fail(GPUMEM_INVALID,
			       "%s is set, and the same limit in bytes too",
			       what);
	return gm_limit_of_percent(device, percent, what, bytes);
}

gpumem_status gm_limits_of_config(const struct gpumem_device *device,
				  struct gpumem_pool_config *config)
{
	gpumem_status status = one_of(device, config->limit_percent,
				      "limit_percent", &config->limit_bytes);

	if (status == GPUMEM_OK)
		status =
			one_of(device, config->soft_limit_percent,
			       "soft_limit_percent", &config->soft_limit_bytes);
	return status;
}
