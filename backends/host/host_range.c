/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Address ranges: a sorted array, and the system calls for addresses. The
 * callers hold the device's `memory`. The address calls need no lock.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FAULTING (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

/* The index of the first range that does not lie above the address. */
static size_t lower(const struct host_ranges *ranges, uint64_t address)
{
	size_t from = 0, to = ranges->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (ranges->item[middle].address > address)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

gpumem_status gm_host_range_add(struct host_ranges *ranges,
				const struct host_range *range)
{
	size_t at = lower(ranges, range->address);

	if (ranges->count == ranges->room) {
		size_t room = ranges->room ? 2 * ranges->room : 16;
		void *larger =
			realloc(ranges->item, room * sizeof(*ranges->item));

		if (!larger)
			return gm_host_fail_system(
				ENOMEM, "memory for its bookkeeping");
		ranges->item = larger;
		ranges->room = room;
	}
	memmove(ranges->item + at + 1, ranges->item + at,
		(ranges->count - at) * sizeof(*ranges->item));
	ranges->item[at] = *range;
	ranges->count++;
	return GPUMEM_OK;
}

struct host_range *gm_host_range_find(const struct host_ranges *ranges,
				      uint64_t address)
{
	size_t at = lower(ranges, address);

	if (at == ranges->count ||
	    address - ranges->item[at].address >= ranges->item[at].bytes)
		return NULL;
	return &ranges->item[at];
}

void gm_host_range_remove(struct host_ranges *ranges, struct host_range *range)
{
	size_t at = (size_t)(range - ranges->item);

	ranges->count--;
	memmove(range, range + 1, (ranges->count - at) * sizeof(*range));
}

void gm_host_range_clear(struct host_ranges *ranges)
{
	for (size_t i = 0; i < ranges->count; i++) {
		struct host_range *range = &ranges->item[i];

		(void)munmap((void *)(uintptr_t)range->base, range->span);
		if (range->buffer) {
			(void)munmap((void *)(uintptr_t)range->memory,
				     range->span);
			gm_host_buffer_end(range->buffer);
		}
		if (range->peers)
			(void)munmap(range->peers, range->granule_bytes);
	}
	free(ranges->item);
	memset(ranges, 0, sizeof(*ranges));
}

gpumem_status gm_host_address_reserve(uint64_t bytes, uint64_t alignment,
				      uint64_t *address_out)
{
	uint64_t unit = gm_host_unit();
	uint64_t extra = alignment > unit ? alignment - unit : 0;
	uint64_t total, start, address, end;
	void *at;

	if (__builtin_add_overflow(bytes, extra, &total))
		return gm_host_fail_system(ENOMEM, "so many addresses");
	at = mmap(NULL, total, PROT_NONE, FAULTING, -1, 0);
	if (at == MAP_FAILED)
		return gm_host_fail_system(errno, "addresses");
	start = (uint64_t)(uintptr_t)at;
	end = start + total;
	address = (start + extra) & ~(alignment - 1);
	if (address > start)
		(void)munmap(at, address - start);
	if (end > address + bytes)
		(void)munmap((void *)(uintptr_t)(address + bytes),
			     end - address - bytes);
	*address_out = address;
	return GPUMEM_OK;
}

/* At the system's limit of mappings nothing can be mapped any more, not even to
 * take something away; but whole mappings can be made to fault where they are.
 * What replaces them later takes them away. */
gpumem_status gm_host_address_fault(uint64_t address, uint64_t bytes)
{
	void *at = (void *)(uintptr_t)address;
	int error;

	if (mmap(at, bytes, PROT_NONE, FAULTING | MAP_FIXED, -1, 0) !=
	    MAP_FAILED)
		return GPUMEM_OK;
	error = errno;
	if (mprotect(at, bytes, PROT_NONE) == 0)
		return GPUMEM_OK;
	/* It may have done a part, which is whole mappings by now. */
	(void)mprotect(at, bytes, PROT_READ | PROT_WRITE);
	return gm_host_fail_system(
		error, "an unmapping (vm.max_map_count bounds them)");
}

gpumem_status gm_host_address_release(uint64_t address, uint64_t bytes)
{
	if (munmap((void *)(uintptr_t)address, bytes) < 0)
		return gm_host_fail_system(errno, "to take back addresses");
	return GPUMEM_OK;
}
