/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What is at which address: the regions that the driver gave out, and the
 * mappings inside reservations, each in an array sorted by address.
 */
#include "cuda_fake.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define RETIRED 64

struct fake_spans fake_regions, fake_mappings;

_Static_assert(offsetof(struct fake_region, start) == 0 &&
		       offsetof(struct fake_region, bytes) == 8 &&
		       offsetof(struct fake_mapping, start) == 0 &&
		       offsetof(struct fake_mapping, bytes) == 8,
	       "both are spans");

struct fake_region *fake_region_at(uint64_t start, enum fake_region_kind kind)
{
	struct fake_region *region = fake_spans_find(&fake_regions, start);

	return region && region->start == start && region->kind == kind ? region
									: NULL;
}

static struct fake_span late[RETIRED];

/* Addresses that were given back stay without access for a while, so that what
 * still uses them faults and does not reach memory of a later owner. */
static void retire(uint64_t start, uint64_t bytes)
{
	static unsigned turn;
	struct fake_span *oldest = &late[turn++ % RETIRED];
	void *at = (void *)(uintptr_t)start;

	if (oldest->bytes)
		munmap((void *)(uintptr_t)oldest->start, oldest->bytes);
	oldest->bytes = 0;
	if (mmap(at, bytes, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		munmap(at, bytes);
	else
		*oldest = (struct fake_span){start, bytes};
}

void fake_unretire(uint64_t start, uint64_t bytes)
{
	for (unsigned i = 0; i < RETIRED; i++) {
		if (!late[i].bytes || late[i].start >= start + bytes ||
		    start >= late[i].start + late[i].bytes)
			continue;
		munmap((void *)(uintptr_t)late[i].start, late[i].bytes);
		late[i].bytes = 0;
	}
}

/* What it has of the system and of the device. */
static void give_back(struct fake_region *region)
{
	if (region->mapped_bytes)
		retire(region->mapped_start, region->mapped_bytes);
	if (region->pool)
		fake_pool_drop(region->pool, region->bytes);
	if (region->charged_bytes)
		fake_discharge(region->device, region->charged_bytes);
	if (region->chunk)
		fake_chunk_put(region->chunk);
	free(region);
}

CUresult fake_region_add(struct fake_region *region)
{
	if (fake_spans_add(&fake_regions, region))
		return CUDA_SUCCESS;
	give_back(region);
	return CUDA_ERROR_OUT_OF_MEMORY;
}

void fake_region_drop(struct fake_region *region)
{
	fake_spans_remove(&fake_regions, region);
	give_back(region);
}

void fake_region_drop_all(const struct fake_context *context)
{
	for (size_t i = fake_regions.count; i-- > 0;) {
		struct fake_region *region = fake_regions.items[i];

		if (region->context == context)
			fake_region_drop(region);
	}
}

uint64_t fake_region_count(enum fake_region_kind kind)
{
	uint64_t count = 0;

	for (size_t i = 0; i < fake_regions.count; i++)
		count += ((struct fake_region *)fake_regions.items[i])->kind ==
			 kind;
	return count;
}

/* All of the range is mapped for one of these devices. */
static bool mapped_for(uint64_t address, uint64_t bytes, unsigned devices,
		       bool writes)
{
	uint64_t end = address + bytes;

	while (address < end) {
		const struct fake_mapping *mapping =
			fake_spans_find(&fake_mappings, address);

		if (!mapping ||
		    !((writes ? mapping->writers : mapping->readers) & devices))
			return false;
		address = mapping->start + mapping->bytes;
	}
	return true;
}

static bool may_touch(const struct fake_context *context, uint64_t address,
		      uint64_t bytes, bool copy, bool writes)
{
	unsigned devices = copy ? ~0u : 1u << context->device | context->peers;
	const struct fake_region *region =
		fake_spans_find(&fake_regions, address);

	if (!region)
		return copy;
	if (bytes > region->start + region->bytes - address)
		return false;
	if (region->kind == FAKE_RESERVED)
		return mapped_for(address, bytes,
				  copy ? ~0u : 1u << context->device, writes);
	if (region->pool)
		return copy || region->pool->peers >> context->device & 1;
	if (region->kind == FAKE_ALLOC && fake.strict &&
	    region->device == context->device)
		return region->context == context;
	if (region->kind == FAKE_ALLOC)
		return devices >> region->device & 1;
	return true;
}

bool fake_may_write(const struct fake_context *context, uint64_t address,
		    uint64_t bytes, bool copy)
{
	return may_touch(context, address, bytes, copy, true);
}

bool fake_may_read(const struct fake_context *context, uint64_t address,
		   uint64_t bytes)
{
	return may_touch(context, address, bytes, true, false);
}
