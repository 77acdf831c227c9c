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

struct hip_piece *gm_hip_piece_at(const struct hip_device *device,
				  const struct hip_range *range,
				  uint64_t address)
{
	return range->piece +
	       (address - range->address) / device->granularity_bytes;
}

gpumem_status gm_hip_no_table(void)
{
	return gm_hip_fail(GPUMEM_NO_HOST_MEMORY, hipSuccess,
			   "no host memory for a table of mappings");
}

/* At exactly that address, or not at all. */
gpumem_status gm_hip_reserve_at(const struct hip_device *device,
				uint64_t address)
{
	uint64_t bytes = device->granularity_bytes, found = 0;
	gpumem_status status;

	status = gm_hip_addresses_reserve(bytes, bytes, address, &found);
	if (status != GPUMEM_OK || found == address)
		return status;
	(void)gm_hip_addresses_free(found, bytes);
	return gm_hip_fail(GPUMEM_DRIVER, hipSuccess,
			   "the addresses from 0x%llx on were taken by "
			   "somebody else while they were given back, as this "
			   "release of ROCm needs (hip.vm)",
			   (unsigned long long)address);
}

/* The whole has shown that there is room: now as granules. */
static gpumem_status divide(const struct hip_device *device, uint64_t address,
			    uint64_t bytes)
{
	uint64_t granule = device->granularity_bytes, done = 0;
	gpumem_status status = gm_hip_addresses_free(address, bytes);

	if (status != GPUMEM_OK)
		return status;
	for (; done < bytes && status == GPUMEM_OK; done += granule)
		status = gm_hip_reserve_at(device, address + done);
	if (status == GPUMEM_OK)
		return GPUMEM_OK;
	for (done -= granule; done;) {
		done -= granule;
		(void)gm_hip_addresses_free(address + done, granule);
	}
	return status;
}

/* On failure the addresses are free. */
gpumem_status gm_hip_pieces_reserve(const struct hip_device *device,
				    uint64_t address, uint64_t bytes)
{
	struct hip_range *range = calloc(1, sizeof(*range));
	gpumem_status status = GPUMEM_OK;

	if (!range)
		goto no_memory;
	range->address = address;
	range->bytes = bytes;
	range->piece = calloc(bytes / device->granularity_bytes,
			      sizeof(*range->piece));
	if (!range->piece)
		goto no_memory;
	if (device->level == HIP_VM_RESERVE)
		status = divide(device, address, bytes);
	if (status != GPUMEM_OK)
		goto free_range;
	pthread_mutex_lock(&device->ranges->mutex);
	range->next = device->ranges->first;
	device->ranges->first = range;
	pthread_mutex_unlock(&device->ranges->mutex);
	return GPUMEM_OK;

no_memory:
	(void)gm_hip_addresses_free(address, bytes);
	status = gm_hip_no_table();
free_range:
	if (range)
		free(range->piece);
	free(range);
	return status;
}

/* A granule that is free counts as lost, so that what failed can be tried again
 * for the rest. */
static gpumem_status release_granules(const struct hip_device *device,
				      struct hip_range *range)
{
	uint64_t granule = device->granularity_bytes;
	gpumem_status status;

	for (uint64_t at = range->address; at < range->address + range->bytes;
	     at += granule) {
		struct hip_piece *piece = gm_hip_piece_at(device, range, at);

		if (piece->lost)
			continue;
		status = gm_hip_addresses_free(at, granule);
		if (status != GPUMEM_OK)
			return status;
		piece->lost = true;
	}
	return GPUMEM_OK;
}

gpumem_status gm_hip_foreign(uint64_t address)
{
	return gm_hip_fail(GPUMEM_INVALID, hipSuccess,
			   "0x%llx is in no range that was reserved here",
			   (unsigned long long)address);
}

gpumem_status gm_hip_pieces_release(const struct hip_device *device,
				    uint64_t address, uint64_t bytes)
{
	gpumem_status status;
	struct hip_range *range;

	pthread_mutex_lock(&device->ranges->mutex);
	range = gm_hip_range_find(device->ranges, address);
	if (!range)
		status = gm_hip_foreign(address);
	else if (device->level == HIP_VM_RESERVE)
		status = release_granules(device, range);
	else
		status = gm_hip_addresses_free(address, bytes);
	if (range && status == GPUMEM_OK)
		drop_range(device->ranges, range);
	pthread_mutex_unlock(&device->ranges->mutex);
	return status;
}
