/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What can be asked of a pool, and set. What it keeps is cuda_pool.c's.
 */
#include "cuda_fake.h"

/* NULL: no number of 64 bits. */
static uint64_t *number_of(struct fake_pool *pool, CUmemPool_attribute which)
{
	switch (which) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		return &pool->threshold_bytes;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		return &pool->reserved_bytes;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		return &pool->reserved_high_bytes;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		return &pool->live_bytes;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		return &pool->live_high_bytes;
	default:
		return NULL;
	}
}

/* NULL: no int. */
static int *switch_of(struct fake_pool *pool, CUmemPool_attribute which)
{
	int i = (int)which - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES;

	return i >= 0 && i < 3 ? &pool->reuse[i] : NULL;
}

static CUresult get(CUmemoryPool handle, CUmemPool_attribute which, void *value)
{
	struct fake_pool *pool = fake_pool_find(handle);

	if (!pool || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (switch_of(pool, which))
		memcpy(value, switch_of(pool, which), sizeof(int));
	else if (number_of(pool, which))
		memcpy(value, number_of(pool, which), sizeof(uint64_t));
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

/* What is highest can only begin anew, by 0. */
static CUresult set(CUmemoryPool handle, CUmemPool_attribute which,
		    const void *value)
{
	struct fake_pool *pool = fake_pool_find(handle);
	uint64_t number;
	int on;

	if (!pool || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (switch_of(pool, which)) {
		memcpy(&on, value, sizeof(on));
		*switch_of(pool, which) = on != 0;
		return CUDA_SUCCESS;
	}
	if (which == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
		memcpy(&pool->threshold_bytes, value, sizeof(uint64_t));
		return CUDA_SUCCESS;
	}
	if (which != CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH &&
	    which != CU_MEMPOOL_ATTR_USED_MEM_HIGH)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&number, value, sizeof(number));
	if (number)
		return CUDA_ERROR_INVALID_VALUE;
	if (which == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
		pool->reserved_high_bytes = pool->reserved_bytes;
	else
		pool->live_high_bytes = pool->live_bytes;
	return CUDA_SUCCESS;
}

static CUresult check_access(const struct fake_pool *pool,
			     const CUmemAccessDesc *desc)
{
	if (desc->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    !fake_device_good(desc->location.id))
		return CUDA_ERROR_INVALID_DEVICE;
	if (desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
		return CUDA_SUCCESS;
	if (desc->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)
		return CUDA_ERROR_INVALID_VALUE;
	return desc->location.id == pool->device ? CUDA_ERROR_INVALID_DEVICE
						 : CUDA_SUCCESS;
}

static CUresult set_access(CUmemoryPool handle, const CUmemAccessDesc *desc,
			   size_t count)
{
	struct fake_pool *pool = fake_pool_find(handle);

	if (!pool || !desc)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++) {
		CUresult result = check_access(pool, &desc[i]);

		if (result != CUDA_SUCCESS)
			return result;
	}
	for (size_t i = 0; i < count; i++) {
		unsigned bit = 1u << desc[i].location.id;

		pool->peers &= ~bit;
		if (desc[i].flags)
			pool->peers |= bit;
	}
	return CUDA_SUCCESS;
}

static CUresult get_access(CUmemAccess_flags *flags_out, CUmemoryPool handle,
			   const CUmemLocation *where)
{
	const struct fake_pool *pool = fake_pool_find(handle);

	if (!flags_out || !pool || !where ||
	    where->type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    !fake_device_good(where->id))
		return CUDA_ERROR_INVALID_VALUE;
	*flags_out = pool->peers >> where->id & 1
			     ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
			     : CU_MEM_ACCESS_FLAGS_PROT_NONE;
	return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which,
			       void *value)
{
	FAKE_CALL(cuMemPoolSetAttribute, set(pool, which, value));
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute which,
			       void *value)
{
	FAKE_CALL(cuMemPoolGetAttribute, get(pool, which, value));
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *desc,
			    size_t count)
{
	FAKE_CALL(cuMemPoolSetAccess, set_access(pool, desc, count));
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags_out, CUmemoryPool pool,
			    CUmemLocation *location)
{
	FAKE_CALL(cuMemPoolGetAccess, get_access(flags_out, pool, location));
}
