/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the driver says of an address. The values are what was seen for a
 * cuMemAlloc block, a mapping and pinned memory.
 */
#include "cuda_fake.h"

/* An address of a reservation counts only where something is mapped. */
static const struct fake_region *known(CUdeviceptr address,
				       const struct fake_mapping **mapping_out)
{
	const struct fake_region *region =
		fake_spans_find(&fake_regions, address);

	*mapping_out = NULL;
	if (!region || region->kind != FAKE_RESERVED)
		return region;
	*mapping_out = fake_spans_find(&fake_mappings, address);
	return *mapping_out ? region : NULL;
}

static bool on_device(const struct fake_region *region)
{
	return region->kind != FAKE_PINNED && region->kind != FAKE_REGISTERED;
}

static bool host_sees(const struct fake_region *region)
{
	return !on_device(region) || region->kind == FAKE_MANAGED;
}

static unsigned handle_types(const struct fake_mapping *mapping)
{
	return mapping && mapping->chunk->own_fd
		       ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
		       : 0;
}

/* CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE, which came with CUDA 12.8. */
enum { DECOMPRESSES = 21 };

static bool decompresses(const struct fake_region *region,
			 const struct fake_mapping *mapping)
{
	if (mapping)
		return mapping->chunk->decompresses;
	return region->pool ? region->pool->decompresses
			    : region->kind == FAKE_ALLOC;
}

/* In four bytes. (Seen; cuda.h says "a boolean".) */
static CUresult yes_or_no(void *data, bool yes)
{
	*(int *)data = yes;
	return CUDA_SUCCESS;
}

static CUresult address_or_refuse(void *data, bool yes, CUdeviceptr address)
{
	if (!yes)
		return CUDA_ERROR_INVALID_VALUE;
	*(CUdeviceptr *)data = address;
	return CUDA_SUCCESS;
}

static CUresult attribute(void *data, CUpointer_attribute which,
			  CUdeviceptr address)
{
	const struct fake_mapping *mapping;
	const struct fake_region *region = known(address, &mapping);

	if (!data || !region)
		return CUDA_ERROR_INVALID_VALUE;
	switch ((int)which) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(void **)data = region->context
					 ? fake_handle_of(region->context)
					 : NULL;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned *)data = on_device(region) ? CU_MEMORYTYPE_DEVICE
						      : CU_MEMORYTYPE_HOST;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		return address_or_refuse(data, !mapping || mapping->readers,
					 address);
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		return address_or_refuse(data, host_sees(region), address);
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		return yes_or_no(data, region->kind == FAKE_MANAGED);
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data =
			mapping ? mapping->chunk->device : region->device;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		return yes_or_no(data,
				 region->kind == FAKE_ALLOC && !region->pool);
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: /* of a mapping: all of */
		return address_or_refuse(data, true, region->start);
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE: /* the reservation (seen) */
		*(size_t *)data = region->bytes;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		return yes_or_no(data, true);
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*(void **)data =
			region->pool ? fake_handle_of(region->pool) : NULL;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		*(uint64_t *)data = handle_types(mapping);
		return CUDA_SUCCESS;
	case DECOMPRESSES:
		return yes_or_no(data, decompresses(region, mapping));
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

/* An address that the driver does not know is no error here: zeros. */
static CUresult attributes(unsigned count, CUpointer_attribute *which,
			   void **data, CUdeviceptr address)
{
	if (!count || !which || !data)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < count; i++) {
		if (attribute(data[i], which[i], address) == CUDA_SUCCESS)
			continue;
		switch ((int)which[i]) {
		case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
			*(unsigned *)data[i] = 0;
			break;
		case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
			*(int *)data[i] = -2; /* as the runtime's "none" */
			break;
		case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		case CU_POINTER_ATTRIBUTE_MAPPED:
			(void)yes_or_no(data[i], false);
			break;
		default:
			*(uint64_t *)data[i] = 0;
		}
	}
	return CUDA_SUCCESS;
}

/* Of a cuMemAlloc block, and of one that was opened, it is what was asked for,
 * to the byte. Who asks for nothing is told nothing, not even that there is no
 * such memory or no context. (All seen.) */
static CUresult range_of(CUdeviceptr *base_out, size_t *bytes_out,
			 CUdeviceptr address)
{
	const struct fake_mapping *mapping;
	const struct fake_region *region = known(address, &mapping);
	struct fake_context *context;
	CUresult result;

	if (!base_out && !bytes_out)
		return CUDA_SUCCESS;
	result = fake_context_current(&context);
	if (result != CUDA_SUCCESS)
		return result;
	if (!region)
		return CUDA_ERROR_NOT_FOUND;
	if (base_out)
		*base_out = region->start;
	if (bytes_out)
		*bytes_out = region->bytes;
	return CUDA_SUCCESS;
}

/* What is set makes no difference here. */
static CUresult set(const void *value, CUpointer_attribute which,
		    CUdeviceptr address)
{
	const struct fake_mapping *mapping;

	if (!value || which != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
	    !known(address, &mapping))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute which,
			       CUdeviceptr address)
{
	FAKE_CALL(cuPointerSetAttribute, set(value, which, address));
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base_out, size_t *bytes_out,
				 CUdeviceptr address)
{
	FAKE_CALL(cuMemGetAddressRange_v2,
		  range_of(base_out, bytes_out, address));
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute which,
			       CUdeviceptr address)
{
	FAKE_CALL(cuPointerGetAttribute, attribute(data, which, address));
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *which,
				void **data, CUdeviceptr address)
{
	FAKE_CALL(cuPointerGetAttributes,
		  attributes(count, which, data, address));
}
