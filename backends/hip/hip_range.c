/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The ranges of hip_piece.h reserved and released. Their list is guarded by its
 * mutex.
 */
#include "hip_piece.h"

#include <stdlib.h>

struct hip_ranges *gm_hip_ranges_new(void)
{
	struct hip_ranges *ranges = calloc(1, sizeof(*ranges));

	if (ranges)
		pthread_mutex_init(&ranges->mutex, NULL);
	return ranges;
}

static void drop_range(struct hip_ranges *ranges, struct hip_range *range)
{
	struct hip_range **at = &ranges->first;

	while (*at != range)
		at = &(*at)->next;
	*at = range->next;
	free(range->piece);
	free(range);
}

void gm_hip_ranges_free(struct hip_ranges *ranges)
{
	if (!ranges)
		return;
	while (ranges->first)
		drop_range(ranges, ranges->first);
	pthread_mutex_destroy(&ranges->mutex);
	free(ranges);
}

struct hip_range *gm_hip_range_find(const struct hip_ranges *ranges,
				    uint64_t address)
{
	struct hip_range *range = ranges->first;

	while (range && address - range->address >= range->bytes)
		range = range->next;
	return range;
}

struct hip_piece *gm_hip_piece_at(const struct gpu_device *device,
				  const struct hip_range *range,
				  uint64_t address)
{
	return range->piece +
	       (address - range->address) / device->traits.granularity_bytes;
}

gpumem_status gm_hip_no_table(void)
{
	return gpu_fail(GPUMEM_NO_HOST_MEMORY, hipSuccess,
			"no host memory for a table of mappings");
}

/* On failure the addresses are free. */
gpumem_status gpu_pieces_reserve(const struct gpu_device *device,
				 uint64_t address, uint64_t bytes)
{
	struct hip_range *range = calloc(1, sizeof(*range));

	if (!range)
		goto free_range;
	range->address = address;
	range->bytes = bytes;
	range->piece = calloc(bytes / device->traits.granularity_bytes,
			      sizeof(*range->piece));
	if (!range->piece)
		goto free_range;
	pthread_mutex_lock(&device->ranges->mutex);
	range->next = device->ranges->first;
	device->ranges->first = range;
	pthread_mutex_unlock(&device->ranges->mutex);
	return GPUMEM_OK;

free_range:
	free(range);
	(void)gpu_addresses_free(address, bytes);
	return gm_hip_no_table();
}

gpumem_status gm_hip_foreign(uint64_t address)
{
	return gpu_fail(GPUMEM_INVALID, hipSuccess,
			"0x%llx is in no range that was reserved here",
			(unsigned long long)address);
}

gpumem_status gpu_pieces_release(const struct gpu_device *device,
				 uint64_t address, uint64_t bytes)
{
	gpumem_status status = GPUMEM_OK;
	struct hip_range *range;

	pthread_mutex_lock(&device->ranges->mutex);
	range = gm_hip_range_find(device->ranges, address);
	if (!range)
		status = gm_hip_foreign(address);
	else
		status = gpu_addresses_free(address, bytes);
	if (range && status == GPUMEM_OK)
		drop_range(device->ranges, range);
	pthread_mutex_unlock(&device->ranges->mutex);
	return status;
}
