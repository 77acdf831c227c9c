/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Virtual memory: reservations are PROT_NONE, a mapping is the handle's piece
 * of the memory file put there with MAP_FIXED, access is mprotect. None of
 * these calls needs a context, waits for work, or counts as unsafe while a
 * stream is captured (all seen).
 */
#include "cuda_fake.h"

#include <stdlib.h>
#include <sys/mman.h>

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static bool granular(uint64_t value)
{
	return !(value & (FAKE_GRANULE - 1));
}

/* ---- Addresses ------------------------------------------------------------
 */

/* Addresses that nobody has, those wanted if they can be had. 0: none. */
static uint64_t find_room(uint64_t wanted, size_t bytes, uint64_t unit)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	uint64_t start;
	char *map;

	if (wanted)
		fake_unretire(wanted, bytes);
	if (wanted && !(wanted & (unit - 1)) &&
	    mmap(at(wanted), bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1,
		 0) == at(wanted))
		return wanted;
	map = mmap(NULL, bytes + unit, PROT_NONE, flags, -1, 0);
	if (map == MAP_FAILED)
		return 0;
	start = ((uintptr_t)map + unit - 1) & ~(unit - 1);
	if (start > (uintptr_t)map)
		munmap(map, start - (uintptr_t)map);
	munmap(at(start + bytes), (uintptr_t)map + unit - start);
	return start;
}

/* Seen: sizes are whole granules, where cuda.h says host pages. */
static CUresult reserve(CUdeviceptr *address_out, size_t bytes,
			size_t alignment, uint64_t wanted,
			unsigned long long flags)
{
	struct fake_region *region;
	CUresult result = fake_vm_usable();
	uint64_t start,
		unit = alignment > FAKE_GRANULE ? alignment : FAKE_GRANULE;

	if (result != CUDA_SUCCESS)
		return result;
	if (!address_out || !bytes || !granular(bytes) || flags ||
	    alignment & (alignment - 1))
		return CUDA_ERROR_INVALID_VALUE;
	region = calloc(1, sizeof(*region));
	start = region ? find_room(wanted, bytes, unit) : 0;
	if (!start) {
		free(region);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*region = (struct fake_region){
		.start = start,
		.bytes = bytes,
		.kind = FAKE_RESERVED,
		.mapped_start = start,
		.mapped_bytes = bytes,
	};
	*address_out = start;
	return fake_region_add(region);
}

/* The mappings that begin before `end`, from the first that ends after
 * `start` on. */
static bool mapping_in(uint64_t start, uint64_t end)
{
	size_t i = fake_spans_after(&fake_mappings, start);

	return i < fake_mappings.count &&
	       ((struct fake_mapping *)fake_mappings.items[i])->start < end;
}

static CUresult unreserve(CUdeviceptr address, size_t bytes)
{
	struct fake_region *region = fake_region_at(address, FAKE_RESERVED);
	CUresult result = fake_vm_usable();

	if (result != CUDA_SUCCESS)
		return result;
	if (!region || region->bytes != bytes ||
	    mapping_in(address, address + bytes))
		return CUDA_ERROR_INVALID_VALUE;
	fake_region_drop(region);
	return CUDA_SUCCESS;
}

/* ---- Mappings -------------------------------------------------------------
 */

/* All of it lies in one reservation. The real driver maps past its end, too
 * (seen); the double does not, since that is another's. */
static bool reserved(uint64_t address, uint64_t bytes)
{
	const struct fake_region *region =
		fake_spans_find(&fake_regions, address);

	return region && region->kind == FAKE_RESERVED &&
	       bytes <= region->start + region->bytes - address;
}

static CUresult add_mapping(uint64_t address, struct fake_chunk *chunk)
{
	struct fake_mapping *mapping = calloc(1, sizeof(*mapping));

	if (!mapping)
		return CUDA_ERROR_OUT_OF_MEMORY;
	mapping->start = address;
	mapping->bytes = chunk->bytes;
	mapping->chunk = chunk;
	if (!fake_spans_add(&fake_mappings, mapping)) {
		free(mapping);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (mmap(at(address), chunk->bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
		 chunk->fd, (off_t)chunk->offset) == MAP_FAILED) {
		fake_spans_remove(&fake_mappings, mapping);
		free(mapping);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	chunk->refs++;
	return CUDA_SUCCESS;
}

static CUresult map(CUdeviceptr address, size_t bytes, size_t offset,
		    CUmemGenericAllocationHandle name, unsigned long long flags)
{
	const struct fake_handle *handle = fake_handle_find(name);
	CUresult result = fake_vm_usable();

	if (result != CUDA_SUCCESS)
		return result;
	if (!handle || flags || !granular(address))
		return CUDA_ERROR_INVALID_VALUE;
	/* Seen: all of a handle or nothing, whatever part is given. */
	if (offset || bytes != handle->chunk->bytes)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!reserved(address, bytes) || mapping_in(address, address + bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return add_mapping(address, handle->chunk);
}

/* Of whole mappings, several at once too, or of a range of a reservation where
 * nothing is mapped (seen). */
static CUresult unmap(CUdeviceptr address, size_t bytes)
{
	CUresult result = fake_vm_usable();
	size_t first, count;

	if (result != CUDA_SUCCESS)
		return result;
	count = fake_spans_exactly(&fake_mappings, address, bytes, &first);
	if (!reserved(address, bytes) ||
	    (!count && mapping_in(address, address + bytes)))
		return CUDA_ERROR_INVALID_VALUE;
	if (mmap(at(address), bytes, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		return CUDA_ERROR_OPERATING_SYSTEM;
	for (size_t i = first; i < first + count; i++) {
		struct fake_mapping *mapping = fake_mappings.items[i];

		fake_chunk_put(mapping->chunk);
		free(mapping);
	}
	fake_mappings.count -= count;
	memmove(fake_mappings.items + first,
		fake_mappings.items + first + count,
		(fake_mappings.count - first) * sizeof(void *));
	return CUDA_SUCCESS;
}

/* Seen: to read alone is right, and of no device it is 1. */
static bool good_desc(const CUmemAccessDesc *desc, size_t count)
{
	for (size_t i = 0; desc && i < count; i++)
		if (desc[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
		    !fake_device_good(desc[i].location.id) ||
		    (desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
		     desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
		     desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
			return false;
	return desc && count;
}

static void grant(struct fake_mapping *mapping, const CUmemAccessDesc *desc)
{
	unsigned bit = 1u << desc->location.id;

	mapping->readers &= ~bit;
	mapping->writers &= ~bit;
	if (desc->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)
		mapping->readers |= bit;
	if (desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
		mapping->writers |= bit;
}

/* The process may do what some device may. */
static bool protect(const struct fake_mapping *mapping)
{
	int allowed = (mapping->readers ? PROT_READ : 0) |
		      (mapping->writers ? PROT_WRITE : 0);

	return !mprotect(at(mapping->start), mapping->bytes, allowed);
}

static CUresult set_access(CUdeviceptr address, size_t bytes,
			   const CUmemAccessDesc *desc, size_t desc_count)
{
	CUresult result = fake_vm_usable();
	size_t first, count;

	if (result != CUDA_SUCCESS)
		return result;
	count = fake_spans_exactly(&fake_mappings, address, bytes, &first);
	if (!good_desc(desc, desc_count) || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = first; i < first + count; i++) {
		struct fake_mapping *mapping = fake_mappings.items[i];

		for (size_t k = 0; k < desc_count; k++)
			grant(mapping, &desc[k]);
		if (!protect(mapping))
			return CUDA_ERROR_OPERATING_SYSTEM;
	}
	return CUDA_SUCCESS;
}

/* ---- The calls ------------------------------------------------------------
 */

CUresult cuMemAddressReserve(CUdeviceptr *address_out, size_t bytes,
			     size_t alignment, CUdeviceptr hint,
			     unsigned long long flags)
{
	FAKE_CALL(cuMemAddressReserve,
		  reserve(address_out, bytes, alignment, hint, flags));
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
	FAKE_CALL(cuMemAddressFree, unreserve(address, bytes));
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
		  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	FAKE_CALL(cuMemMap, map(address, bytes, offset, handle, flags));
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
	FAKE_CALL(cuMemUnmap, unmap(address, bytes));
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes,
			const CUmemAccessDesc *desc, size_t count)
{
	FAKE_CALL(cuMemSetAccess, set_access(address, bytes, desc, count));
}
