/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pools of stream-ordered memory, which are those of the driver below: a handle
 * is its handle. Blocks are in hip_async.c. Access of other devices and sharing
 * are not here.
 */
#include "hip_fake.h"

static CUmemoryPool below(hipMemPool_t pool)
{
	return (CUmemoryPool)pool;
}

static hipError_t create(hipMemPool_t *out, const hipMemPoolProps *about)
{
	CUmemPoolProps props = {0};

	if (!out || !about)
		return hipErrorInvalidValue;
	props.allocType = (CUmemAllocationType)about->allocType;
	props.handleTypes = (CUmemAllocationHandleType)about->handleTypes;
	props.location.type = (CUmemLocationType)about->location.type;
	props.location.id = about->location.id;
	return hip_error_of(cu.cuMemPoolCreate((CUmemoryPool *)out, &props));
}

static bool is_attribute(hipMemPoolAttr which)
{
	return which >= hipMemPoolReuseFollowEventDependencies &&
	       which <= hipMemPoolAttrUsedMemHigh;
}

/* The numbers of attributes are those of CUDA. */
static hipError_t get_attribute(hipMemPool_t pool, hipMemPoolAttr which,
				void *value_out)
{
	if (!value_out || !is_attribute(which))
		return hipErrorInvalidValue;
	return hip_error_of(cu.cuMemPoolGetAttribute(
		below(pool), (CUmemPool_attribute)which, value_out));
}

static hipError_t set_attribute(hipMemPool_t pool, hipMemPoolAttr which,
				void *value)
{
	if (!value || !is_attribute(which))
		return hipErrorInvalidValue;
	return hip_error_of(cu.cuMemPoolSetAttribute(
		below(pool), (CUmemPool_attribute)which, value));
}

/* ---- the calls -------------------------------------------------------------
 */

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *out, int device)
{
	HIP_CALL(hipDeviceGetDefaultMemPool,
		 hip_error_of(cu.cuDeviceGetDefaultMemPool((CUmemoryPool *)out,
							   device)));
}

hipError_t hipDeviceGetMemPool(hipMemPool_t *out, int device)
{
	HIP_CALL(hipDeviceGetMemPool, hip_error_of(cu.cuDeviceGetMemPool(
					      (CUmemoryPool *)out, device)));
}

hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool)
{
	HIP_CALL(hipDeviceSetMemPool,
		 hip_error_of(cu.cuDeviceSetMemPool(device, below(pool))));
}

hipError_t hipMemPoolCreate(hipMemPool_t *out, const hipMemPoolProps *about)
{
	HIP_CALL(hipMemPoolCreate, create(out, about));
}

hipError_t hipMemPoolDestroy(hipMemPool_t pool)
{
	HIP_CALL(hipMemPoolDestroy,
		 hip_error_of(cu.cuMemPoolDestroy(below(pool))));
}

hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t keep_bytes)
{
	HIP_CALL(hipMemPoolTrimTo,
		 hip_error_of(cu.cuMemPoolTrimTo(below(pool), keep_bytes)));
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr which,
				  void *value)
{
	HIP_CALL(hipMemPoolSetAttribute, set_attribute(pool, which, value));
}

hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr which,
				  void *value_out)
{
	HIP_CALL(hipMemPoolGetAttribute, get_attribute(pool, which, value_out));
}
