/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See host_granule.h. */
#include "host_granule.h"

gpumem_status gm_host_invalid(const char *what, uint64_t address,
			      uint64_t bytes)
{
	return gm_host_fail(GPUMEM_INVALID, "%s: 0x%llx, %llu bytes", what,
			    (unsigned long long)address,
			    (unsigned long long)bytes);
}

gpumem_status gm_host_extent_find(struct host_extent *extent)
{
	uint64_t granule = extent->device->config.granularity - 1;
	uint64_t address = extent->address;
	struct host_range *range;

	if (!extent->count || !extent->page_bytes ||
	    (extent->page_bytes | address) & granule ||
	    __builtin_mul_overflow(extent->count, extent->page_bytes,
				   &extent->bytes))
		return gm_host_invalid("not whole granules", address,
				       extent->page_bytes);
	range = gm_host_range_find(&extent->device->spaces, address);
	if (!range || extent->bytes > range->address + range->bytes - address)
		return gm_host_invalid("not inside one reservation", address,
				       extent->bytes);
	extent->range = range;
	return GPUMEM_OK;
}

/* The number of the first granule of place i. */
static uint64_t number_of(const struct host_extent *extent, size_t i)
{
	uint64_t from = extent->address - extent->range->address;

	return (from + i * extent->page_bytes) /
	       extent->device->config.granularity;
}

static uint32_t *granule_at(const struct host_extent *extent, size_t i)
{
	return extent->range->granules + number_of(extent, i);
}

static uint64_t granules_per_page(const struct host_extent *extent)
{
	return extent->page_bytes / extent->device->config.granularity;
}

uint32_t gm_host_extent_page(const struct host_extent *extent, size_t i)
{
	return *granule_at(extent, i);
}

void gm_host_extent_mark(const struct host_extent *extent, size_t i,
			 uint32_t value)
{
	uint32_t *granule = granule_at(extent, i);
	uint64_t count = granules_per_page(extent);

	granule[0] = value;
	for (uint64_t k = 1; k < count; k++)
		granule[k] = value ? HOST_GRANULE_MORE : 0;
	extent->range->peers[number_of(extent, i)] = value ? extent->peers : 0;
	if (value)
		extent->range->mapped += count;
	else
		extent->range->mapped -= count;
}

void gm_host_extent_open(const struct host_extent *extent, size_t i)
{
	extent->range->peers[number_of(extent, i)] |= extent->peers;
}

gpumem_status gm_host_extent_vacant(const struct host_extent *extent)
{
	const uint32_t *granule = granule_at(extent, 0);
	uint64_t count = extent->count * granules_per_page(extent);

	for (uint64_t k = 0; k < count; k++)
		if (granule[k])
			return gm_host_invalid("something is mapped there",
					       extent->address, extent->bytes);
	return GPUMEM_OK;
}

gpumem_status gm_host_extent_mapped(const struct host_extent *extent)
{
	for (size_t i = 0; i < extent->count; i++) {
		uint32_t number = gm_host_extent_page(extent, i);

		if (!number || number == HOST_GRANULE_MORE ||
		    extent->device->phys.pages[number - 1].bytes !=
			    extent->page_bytes)
			return gm_host_invalid("no such mapping",
					       extent->address +
						       i * extent->page_bytes,
					       extent->page_bytes);
	}
	return GPUMEM_OK;
}
