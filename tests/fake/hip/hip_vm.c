/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Virtual memory: ranges, and what is mapped in them. The driver is told of
 * one mapping at a time, and memory is given back by hip_handle.c. All under
 * the mutex.
 */
#include "hip_fake.h"

#include <stdlib.h>
#include <string.h>

struct mapping {
	struct fake_span span;
	struct hip_handle *handle;
};

static struct fake_spans ranges, mappings;
static uint64_t last_serial;

struct hip_range *hip_range_find(uint64_t address)
{
	return fake_spans_find(&ranges, address);
}

static CUdeviceptr at(const void *address)
{
	return (CUdeviceptr)(uintptr_t)address;
}

/* hipMemAllocationProp lost a field at its front after 5.2: where an int is
 * in the caller's, whatever header this is built with. */
#if FAKEHIP_MAJOR >= 6
enum { TYPE_AT = 0, HANDLE_TYPE_AT = 4, LOCATION_AT = 8 };
#else
enum { TYPE_AT = 16, HANDLE_TYPE_AT = 12, LOCATION_AT = 4 };
#endif

static int field(const void *properties, size_t offset)
{
	int value;

	memcpy(&value, (const char *)properties + offset, sizeof(value));
	return value;
}

static CUmemAllocationProp properties_of(const hipMemAllocationProp *theirs)
{
	CUmemAllocationProp ours;

	memset(&ours, 0, sizeof(ours));
	ours.type = (CUmemAllocationType)field(theirs, TYPE_AT);
	ours.requestedHandleTypes =
		(CUmemAllocationHandleType)field(theirs, HANDLE_TYPE_AT);
	ours.location.type = (CUmemLocationType)field(theirs, LOCATION_AT);
	ours.location.id = field(theirs, LOCATION_AT + 4);
	return ours;
}

/* ---- Ranges ---------------------------------------------------------------
 */

static hipError_t reserve(void **out, size_t bytes, size_t alignment,
			  const void *wanted, unsigned long long flags)
{
	struct hip_range *range;
	CUdeviceptr start;
	hipError_t error;

	if (!out)
		return hipErrorInvalidValue;
	range = calloc(1, sizeof(*range));
	if (!range)
		return hipErrorOutOfMemory;
	error = hip_error_of(cu.cuMemAddressReserve(&start, bytes, alignment,
						    at(wanted), flags));
	if (error != hipSuccess) {
		free(range);
		return error;
	}
	range->span = (struct fake_span){start, bytes};
	range->serial = ++last_serial;
	if (!fake_spans_add(&ranges, range)) {
		(void)cu.cuMemAddressFree(start, bytes);
		free(range);
		return hipErrorOutOfMemory;
	}
	*out = (void *)(uintptr_t)start;
	return hipSuccess;
}

static hipError_t unreserve(const void *address, size_t bytes)
{
	struct hip_range *range = hip_range_find(at(address));
	hipError_t error;

	if (!range || range->span.start != at(address))
		return hipErrorInvalidValue;
	error = hip_error_of(cu.cuMemAddressFree(at(address), bytes));
	if (error != hipSuccess)
		return error;
	fake_spans_remove(&ranges, range);
	hip_handle_free_withheld(range);
	free(range);
	return hipSuccess;
}

/* ---- Mappings -------------------------------------------------------------
 */

/* Of a copy only the mapping holds the memory. */
static CUresult map_copy(CUdeviceptr address, size_t bytes, int device)
{
	CUmemAllocationProp properties;
	CUmemGenericAllocationHandle memory;
	CUresult result;

	memset(&properties, 0, sizeof(properties));
	properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	properties.location.id = device;
	result = cu.cuMemCreate(&memory, bytes, &properties, 0);
	if (result != CUDA_SUCCESS)
		return result;
	result = cu.cuMemMap(address, bytes, 0, memory, 0);
	(void)cu.cuMemRelease(memory);
	return result;
}

static hipError_t map_to(CUdeviceptr address, size_t bytes,
			 const struct hip_handle *handle)
{
	if (handle->mappings && hip_quirk(HIP_ONCE))
		return hipErrorInvalidValue;
	if (handle->mappings && hip_quirk(HIP_COPIES))
		return hip_error_of(map_copy(address, bytes, handle->device));
	return hip_error_of(cu.cuMemMap(address, bytes, 0,
					hip_handle_seen(handle, address), 0));
}

static hipError_t map_it(const void *address, size_t bytes, size_t offset,
			 hipMemGenericAllocationHandle_t name,
			 unsigned long long flags)
{
	struct hip_handle *handle = hip_handle_find(name);
	struct mapping *mapping;
	hipError_t error;

	if (!handle || offset || flags)
		return hipErrorInvalidValue;
	mapping = calloc(1, sizeof(*mapping));
	if (!mapping)
		return hipErrorOutOfMemory;
	mapping->span = (struct fake_span){at(address), bytes};
	mapping->handle = handle;
	error = map_to(at(address), bytes, handle);
	if (error != hipSuccess) {
		free(mapping);
		return error;
	}
	if (!fake_spans_add(&mappings, mapping)) {
		(void)cu.cuMemUnmap(at(address), bytes);
		free(mapping);
		return hipErrorOutOfMemory;
	}
	hip_handle_map(handle, hip_range_find(at(address)), at(address));
	return hipSuccess;
}

static struct mapping *mapping_of(const struct hip_handle *handle)
{
	for (size_t i = 0; i < mappings.count; i++) {
		struct mapping *mapping = mappings.items[i];

		if (mapping->handle == handle)
			return mapping;
	}
	return NULL;
}

static hipError_t unmap_one(struct mapping *mapping)
{
	struct fake_span span = mapping->span;
	hipError_t error = hip_error_of(cu.cuMemUnmap(span.start, span.bytes));

	if (error != hipSuccess)
		return error;
	fake_spans_remove(&mappings, mapping);
	hip_handle_unmap(mapping->handle);
	free(mapping);
	return hipSuccess;
}

static hipError_t unmap(const void *address, size_t bytes)
{
	size_t first, count = fake_spans_exactly(&mappings, at(address), bytes,
						 &first);

	if (!count)
		return hipErrorInvalidValue;
	if (hip_quirk(HIP_JOINT_UNMAP))
		count = 1;
	while (count--) {
		struct mapping *mapping = mappings.items[first];
		const struct hip_handle *handle = mapping->handle;
		hipError_t error = unmap_one(mapping);

		while (error == hipSuccess && hip_quirk(HIP_TOGETHER) &&
		       (mapping = mapping_of(handle)))
			error = unmap_one(mapping);
		if (error != hipSuccess)
			return error;
	}
	return hipSuccess;
}

static hipError_t set_access(const void *address, size_t bytes,
			     const hipMemAccessDesc *access, size_t count)
{
	CUmemAccessDesc theirs[HIP_DEVICES_MAX];
	size_t first;

	if (!access || !count || count > HIP_DEVICES_MAX ||
	    hip_quirk(HIP_NO_ACCESS))
		return hipErrorInvalidValue;
	if (hip_quirk(HIP_JOINT_ACCESS) &&
	    fake_spans_exactly(&mappings, at(address), bytes, &first) != 1)
		return hipErrorInvalidValue;
	memset(theirs, 0, sizeof(theirs));
	for (size_t i = 0; i < count; i++) {
		theirs[i].location.type =
			(CUmemLocationType)access[i].location.type;
		theirs[i].location.id = access[i].location.id;
		theirs[i].flags = (CUmemAccess_flags)access[i].flags;
	}
	return hip_error_of(
		cu.cuMemSetAccess(at(address), bytes, theirs, count));
}

/* ---- Physical memory ------------------------------------------------------
 */

static hipError_t create(hipMemGenericAllocationHandle_t *name_out,
			 size_t bytes, const hipMemAllocationProp *theirs,
			 unsigned long long flags)
{
	CUmemGenericAllocationHandle memory;
	CUmemAllocationProp properties;
	hipError_t error;

	if (!name_out || !theirs)
		return hipErrorInvalidValue;
	properties = properties_of(theirs);
	if (!hip_device_good(properties.location.id))
		return hipErrorInvalidValue;
	error = hip_error_of(
		cu.cuMemCreate(&memory, bytes, &properties, flags));
	if (error != hipSuccess)
		return error;
	return hip_handle_adopt(memory, properties.location.id, bytes,
				name_out);
}

static hipError_t granularity(size_t *bytes_out,
			      const hipMemAllocationProp *theirs, int option)
{
	CUmemAllocationProp properties;

	if (!bytes_out || !theirs)
		return hipErrorInvalidValue;
	properties = properties_of(theirs);
	return hip_error_of(cu.cuMemGetAllocationGranularity(
		bytes_out, &properties,
		(CUmemAllocationGranularity_flags)option));
}

hipError_t hipMemAddressReserve(void **out, size_t bytes, size_t alignment,
				void *wanted, unsigned long long flags)
{
	HIP_CALL_ON(NULL, hipMemAddressReserve,
		    HIP_VM(reserve(out, bytes, alignment, wanted, flags)));
}

hipError_t hipMemAddressFree(void *address, size_t bytes)
{
	HIP_CALL_ON(NULL, hipMemAddressFree, HIP_VM(unreserve(address, bytes)));
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *name_out, size_t bytes,
			const hipMemAllocationProp *properties,
			unsigned long long flags)
{
	HIP_CALL_ON(NULL, hipMemCreate,
		    HIP_VM(create(name_out, bytes, properties, flags)));
}

hipError_t hipMemRelease(hipMemGenericAllocationHandle_t name)
{
	HIP_CALL_ON(NULL, hipMemRelease, HIP_VM(hip_handle_release(name)));
}

hipError_t hipMemMap(void *address, size_t bytes, size_t offset,
		     hipMemGenericAllocationHandle_t name,
		     unsigned long long flags)
{
	HIP_CALL_ON(NULL, hipMemMap,
		    HIP_VM(map_it(address, bytes, offset, name, flags)));
}

hipError_t hipMemUnmap(void *address, size_t bytes)
{
	HIP_CALL_ON(NULL, hipMemUnmap, HIP_VM(unmap(address, bytes)));
}

hipError_t hipMemSetAccess(void *address, size_t bytes,
			   const hipMemAccessDesc *access, size_t count)
{
	HIP_CALL_ON(NULL, hipMemSetAccess,
		    HIP_VM(set_access(address, bytes, access, count)));
}

hipError_t
hipMemGetAllocationGranularity(size_t *bytes_out,
			       const hipMemAllocationProp *properties,
			       hipMemAllocationGranularity_flags option)
{
	HIP_CALL_ON(NULL, hipMemGetAllocationGranularity,
		    HIP_VM(granularity(bytes_out, properties, (int)option)));
}
