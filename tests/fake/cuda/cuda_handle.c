/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Handles of physical memory, which belong to no context. That they are
 * exported as descriptors is cuda_share.c's.
 */
#include "cuda_fake.h"

#include <stdlib.h>

/* Seen: a lost context takes none of it away. */
CUresult fake_vm_usable(void)
{
	return fake.vmm ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- Handles --------------------------------------------------------------
 */

static CUresult check_prop(const CUmemAllocationProp *prop)
{
	if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	if (!fake_device_good(prop->location.id))
		return CUDA_ERROR_INVALID_DEVICE;
	if (prop->requestedHandleTypes &
	    ~(unsigned)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_NOT_PERMITTED; /* fabric, without IMEX */
	return CUDA_SUCCESS;
}

static CUresult new_handle(CUmemGenericAllocationHandle *handle_out,
			   size_t bytes, const CUmemAllocationProp *prop)
{
	int device = prop->location.id;
	struct fake_handle *handle;
	CUresult result;

	if (!fake_charge(device, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	handle = fake_object_new(FAKE_HANDLE, sizeof(*handle));
	if (!handle) {
		fake_discharge(device, bytes);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	handle->types = prop->requestedHandleTypes;
	handle->chunk =
		fake_chunk_new(device, bytes, handle->types != 0, &result);
	if (!handle->chunk) {
		fake_discharge(device, bytes);
		fake_object_retire(handle);
		free(handle);
		return result;
	}
	handle->chunk->charged = true;
	handle->chunk->decompresses =
		prop->allocFlags.usage & FAKE_FOR_DECOMPRESSION;
	handle->chunk->handle = handle;
	*handle_out = handle->object.handle;
	return CUDA_SUCCESS;
}

static CUresult create(CUmemGenericAllocationHandle *handle_out, size_t bytes,
		       const CUmemAllocationProp *prop,
		       unsigned long long flags)
{
	CUresult result = fake_vm_usable();

	if (result == CUDA_SUCCESS)
		result = check_prop(prop);
	if (result != CUDA_SUCCESS)
		return result;
	if (!handle_out || !bytes || bytes % FAKE_GRANULE || flags)
		return CUDA_ERROR_INVALID_VALUE;
	return new_handle(handle_out, bytes, prop);
}

struct fake_handle *fake_handle_find(CUmemGenericAllocationHandle name)
{
	return fake_object_find(FAKE_HANDLE, (void *)(uintptr_t)name);
}

/* The memory stays while it is mapped. */
static CUresult release(CUmemGenericAllocationHandle name)
{
	struct fake_handle *handle = fake_handle_find(name);
	CUresult result = fake_vm_usable();

	if (result != CUDA_SUCCESS)
		return result;
	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	if (handle->retained) {
		handle->retained--;
		return CUDA_SUCCESS;
	}
	handle->chunk->handle = NULL;
	fake_object_retire(handle);
	fake_chunk_put(handle->chunk);
	free(handle);
	return CUDA_SUCCESS;
}

/* Of memory that is mapped, but whose handle was released. */
static struct fake_handle *handle_anew(struct fake_chunk *chunk)
{
	struct fake_handle *handle =
		fake_object_new(FAKE_HANDLE, sizeof(*handle));

	if (!handle)
		return NULL;
	handle->chunk = chunk;
	handle->types = chunk->own_fd ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
				      : CU_MEM_HANDLE_TYPE_NONE;
	chunk->refs++;
	chunk->handle = handle;
	return handle;
}

/* Of an address inside a mapping. */
static CUresult retain(CUmemGenericAllocationHandle *handle_out, void *address)
{
	const struct fake_mapping *mapping =
		fake_spans_find(&fake_mappings, (uintptr_t)address);
	CUresult result = fake_vm_usable();
	struct fake_handle *handle;

	if (result != CUDA_SUCCESS)
		return result;
	if (!handle_out || !mapping)
		return CUDA_ERROR_INVALID_VALUE;
	handle = mapping->chunk->handle;
	if (handle)
		handle->retained++;
	else
		handle = handle_anew(mapping->chunk);
	if (!handle)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*handle_out = handle->object.handle;
	return CUDA_SUCCESS;
}

static CUresult granularity(size_t *bytes_out, const CUmemAllocationProp *prop,
			    CUmemAllocationGranularity_flags option)
{
	CUresult result = fake_vm_usable();

	if (result == CUDA_SUCCESS)
		result = check_prop(prop);
	if (result != CUDA_SUCCESS)
		return result;
	if (!bytes_out ||
	    (unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
		return CUDA_ERROR_INVALID_VALUE;
	*bytes_out = FAKE_GRANULE;
	return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle_out, size_t bytes,
		     const CUmemAllocationProp *prop, unsigned long long flags)
{
	FAKE_CALL(cuMemCreate, create(handle_out, bytes, prop, flags));
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	FAKE_CALL(cuMemRelease, release(handle));
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle_out,
				     void *address)
{
	FAKE_CALL(cuMemRetainAllocationHandle, retain(handle_out, address));
}

CUresult cuMemGetAllocationGranularity(size_t *bytes_out,
				       const CUmemAllocationProp *prop,
				       CUmemAllocationGranularity_flags option)
{
	FAKE_CALL(cuMemGetAllocationGranularity,
		  granularity(bytes_out, prop, option));
}
