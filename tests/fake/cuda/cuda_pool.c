/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pools of stream-ordered memory: what they are, and what they keep. They grow
 * by 32 MiB (seen), or by granules where so much is not to be had. What is
 * freed stays reserved until the program waits for work, and more than the
 * threshold goes then, or until it trims. Which block is at which address is
 * cuda_async.c's.
 */
#include "cuda_fake.h"

#include <stdlib.h>

#define UNIT ((uint64_t)32 << 20)

enum { HOST = 2 }; /* of enum CUmemLocationType; newer headers have it */

static uint64_t whole(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) & ~(unit - 1);
}

/* ---- what they keep --------------------------------------------------------
 */

static void trim(struct fake_pool *pool, uint64_t keep_bytes)
{
	uint64_t least = pool->held_bytes;

	if (least < keep_bytes)
		least = keep_bytes;
	if (least >= pool->reserved_bytes)
		return;
	least = whole(least, UNIT);
	if (least >= pool->reserved_bytes)
		return;
	if (!pool->on_host)
		fake_discharge(pool->device, pool->reserved_bytes - least);
	pool->reserved_bytes = least;
}

static bool grow_to(struct fake_pool *pool, uint64_t bytes)
{
	if (pool->most_bytes && bytes > pool->most_bytes)
		return false;
	if (!pool->on_host &&
	    !fake_charge(pool->device, bytes - pool->reserved_bytes))
		return false;
	pool->reserved_bytes = bytes;
	if (pool->reserved_high_bytes < bytes)
		pool->reserved_high_bytes = bytes;
	return true;
}

static bool reserve(struct fake_pool *pool, uint64_t bytes)
{
	return bytes <= pool->reserved_bytes ||
	       grow_to(pool, whole(bytes, UNIT)) ||
	       grow_to(pool, whole(bytes, FAKE_GRANULE));
}

bool fake_pool_hold(struct fake_pool *pool, uint64_t bytes)
{
	if (pool->opened || bytes > fake.capacity_bytes ||
	    !reserve(pool, pool->held_bytes + bytes))
		return false;
	pool->held_bytes += bytes;
	pool->refs++;
	return true;
}

void fake_pool_live(struct fake_pool *pool, uint64_t bytes, bool live)
{
	if (!live) {
		pool->live_bytes -= bytes;
		return;
	}
	pool->live_bytes += bytes;
	if (pool->live_high_bytes < pool->live_bytes)
		pool->live_high_bytes = pool->live_bytes;
}

static void put(struct fake_pool *pool)
{
	if (--pool->refs)
		return;
	trim(pool, 0);
	free(pool);
}

void fake_pool_drop(struct fake_pool *pool, uint64_t bytes)
{
	pool->held_bytes -= bytes;
	put(pool);
}

void fake_pool_settle(void)
{
	struct fake_pool *pool;
	uint32_t slot = 0;

	while ((pool = fake_object_next(FAKE_POOL, &slot)) != NULL)
		trim(pool, pool->threshold_bytes);
}

/* ---- which there are -------------------------------------------------------
 */

struct fake_pool *fake_pool_find(CUmemoryPool handle)
{
	return fake_object_find(FAKE_POOL, handle);
}

struct fake_pool *fake_pool_new(int device)
{
	struct fake_pool *pool = fake_object_new(FAKE_POOL, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->device = device;
	pool->refs = 1;
	pool->peers = 1u << device;
	for (int i = 0; i < 3; i++)
		pool->reuse[i] = 1;
	return pool;
}

static struct fake_pool *default_pool(int number)
{
	struct fake_device *device = &fake.devices[number];

	if (!device->default_pool)
		device->default_pool = fake_pool_new(number);
	if (device->default_pool)
		device->default_pool->lasts = true;
	return device->default_pool;
}

struct fake_pool *fake_pool_current(int number)
{
	struct fake_pool *pool = fake.devices[number].pool;

	return pool ? pool : default_pool(number);
}

static CUresult hand_out(CUmemoryPool *pool_out, struct fake_pool *pool)
{
	if (!pool)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*pool_out = fake_handle_of(pool);
	return CUDA_SUCCESS;
}

static CUresult get_default(CUmemoryPool *pool_out, CUdevice device)
{
	if (!pool_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!fake_device_good(device))
		return CUDA_ERROR_INVALID_DEVICE;
	return hand_out(pool_out, default_pool(device));
}

/* Seen: of no device 1, where its neighbour says 101. */
static CUresult get_pool(CUmemoryPool *pool_out, CUdevice device)
{
	if (!pool_out || !fake_device_good(device))
		return CUDA_ERROR_INVALID_VALUE;
	return hand_out(pool_out, fake_pool_current(device));
}

static CUresult set_pool(CUdevice device, CUmemoryPool handle)
{
	struct fake_pool *pool = fake_pool_find(handle);

	if (!fake_device_good(device) || !pool || pool->device != device)
		return CUDA_ERROR_INVALID_VALUE;
	fake.devices[device].pool = pool;
	return CUDA_SUCCESS;
}

/* Memory of the host's belongs to no device. */
static bool is_place(const CUmemLocation *where)
{
	return where->type == (CUmemLocationType)HOST ||
	       (where->type == CU_MEM_LOCATION_TYPE_DEVICE &&
		fake_device_good(where->id));
}

static CUresult create(CUmemoryPool *pool_out, const CUmemPoolProps *about)
{
	struct fake_pool *pool;
	unsigned short use = 0;

	if (!pool_out || !about ||
	    about->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    !is_place(&about->location))
		return CUDA_ERROR_INVALID_VALUE;
	if (about->handleTypes &
	    ~(unsigned)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_NOT_PERMITTED; /* fabric, without IMEX */
	pool = fake_pool_new(about->location.type == CU_MEM_LOCATION_TYPE_DEVICE
				     ? about->location.id
				     : 0);
	if (!pool)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pool->on_host = about->location.type != CU_MEM_LOCATION_TYPE_DEVICE;
	pool->shared = about->handleTypes != 0;
#if CUDA_VERSION >= 12020
	pool->most_bytes = about->maxSize;
	memcpy(&use, &about->maxSize + 1, sizeof(use));
	pool->decompresses = use & FAKE_FOR_DECOMPRESSION;
#endif
	*pool_out = fake_handle_of(pool);
	return CUDA_SUCCESS;
}

/* It goes with the last of its blocks. */
static CUresult destroy(CUmemoryPool handle)
{
	struct fake_pool *pool = fake_pool_find(handle);

	if (!pool || pool->lasts)
		return CUDA_ERROR_INVALID_VALUE;
	if (fake.devices[pool->device].pool == pool)
		fake.devices[pool->device].pool = NULL;
	fake_object_retire(pool);
	put(pool);
	return CUDA_SUCCESS;
}

static CUresult trim_to(CUmemoryPool handle, size_t keep_bytes)
{
	struct fake_pool *pool = fake_pool_find(handle);

	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	trim(pool, keep_bytes);
	return CUDA_SUCCESS;
}

/* ---- the calls -------------------------------------------------------------
 */

CUresult cuMemPoolCreate(CUmemoryPool *pool_out, const CUmemPoolProps *about)
{
	FAKE_CALL(cuMemPoolCreate, create(pool_out, about));
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
	FAKE_CALL(cuMemPoolDestroy, destroy(pool));
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep_bytes)
{
	FAKE_CALL(cuMemPoolTrimTo, trim_to(pool, keep_bytes));
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice device)
{
	FAKE_CALL(cuDeviceGetDefaultMemPool, get_default(pool_out, device));
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool_out, CUdevice device)
{
	FAKE_CALL(cuDeviceGetMemPool, get_pool(pool_out, device));
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
	FAKE_CALL(cuDeviceSetMemPool, set_pool(device, pool));
}
