/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Questions of stream-ordered pools.
 */
#include "answers.h"

static CUmemPoolProps device_props(void)
{
	CUmemPoolProps props;

	memset(&props, 0, sizeof(props));
	props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	return props;
}

static void ask_create(void)
{
	CUmemPoolProps props = device_props();
	CUmemoryPool pool = NULL;

	ASK(cuMemPoolCreate(NULL, &props));
	ASK(cuMemPoolCreate(&pool, NULL));
	ASK_FOR(cuMemPoolCreate(&pool, &props), pool);
	ASK(cuMemPoolDestroy(pool));
	props.location.id = 99;
	situation("of device 99");
	ASK(cuMemPoolCreate(&pool, &props));
	props = device_props();
	props.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
	situation("of no type");
	ASK(cuMemPoolCreate(&pool, &props));
	props = device_props();
	props.location.type = CU_MEM_LOCATION_TYPE_INVALID;
	situation("of no place");
	ASK(cuMemPoolCreate(&pool, &props));
	situation("");
}

static void ask_attributes(CUmemoryPool pool)
{
	uint64_t number = 5;
	int value = 5;

	ASK_FOR(cuMemPoolGetAttribute(pool, 1, &value), value);
	ASK_FOR(cuMemPoolGetAttribute(pool, 2, &value), value);
	ASK_FOR(cuMemPoolGetAttribute(pool, 3, &value), value);
	for (int which = 4; which <= 8; which++) {
		char text[48];

		snprintf(text, sizeof(text), "cuMemPoolGetAttribute(%d)",
			 which);
		question(text);
		answer_bytes(cuMemPoolGetAttribute(
				     pool, (CUmemPool_attribute)which, &number),
			     &number);
	}
	ASK(cuMemPoolGetAttribute(pool, 0, &number));
	ASK(cuMemPoolGetAttribute(pool, 99, &number));
	ASK(cuMemPoolGetAttribute(pool, 4, NULL));
	number = 3;
	ASK(cuMemPoolSetAttribute(pool, 4, &number));
	ASK_FOR(cuMemPoolGetAttribute(pool, 4, &number), number);
	ASK(cuMemPoolSetAttribute(pool, 5, &number));
	ASK(cuMemPoolSetAttribute(pool, 6, &number));
	ASK(cuMemPoolSetAttribute(pool, 8, &number));
	number = 0;
	ASK(cuMemPoolSetAttribute(pool, 6, &number));
	ASK(cuMemPoolSetAttribute(pool, 8, &number));
	ASK(cuMemPoolSetAttribute(pool, 4, &number));
	value = 0;
	ASK(cuMemPoolSetAttribute(pool, 2, &value));
	ASK_FOR(cuMemPoolGetAttribute(pool, 2, &value), value);
	value = 7;
	ASK(cuMemPoolSetAttribute(pool, 1, &value));
	ASK_FOR(cuMemPoolGetAttribute(pool, 1, &value), value);
}

static void ask_access(CUmemoryPool pool)
{
	CUmemAccessDesc desc;
	CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
	CUmemLocation where;

	memset(&desc, 0, sizeof(desc));
	desc.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	where = desc.location;
	ASK_FOR(cuMemPoolGetAccess(&flags, pool, &where), flags);
	desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	ASK(cuMemPoolSetAccess(pool, &desc, 1));
	ASK(cuMemPoolSetAccess(pool, &desc, 0));
	situation("no access for its own device");
	desc.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
	ASK(cuMemPoolSetAccess(pool, &desc, 1));
	situation("read only");
	desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
	ASK(cuMemPoolSetAccess(pool, &desc, 1));
	situation("for device 99");
	desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	desc.location.id = 99;
	ASK(cuMemPoolSetAccess(pool, &desc, 1));
	situation("");
}

void ask_pools(void)
{
	CUmemoryPool pool = NULL, own = NULL, current = NULL;
	CUmemPoolProps props = device_props();

	(void)start();
	ask_create();
	ASK(cuDeviceGetDefaultMemPool(NULL, 0));
	ASK(cuDeviceGetDefaultMemPool(&pool, 99));
	ASK(cuDeviceGetMemPool(NULL, 0));
	ASK(cuDeviceGetMemPool(&pool, 99));
	DO(cuDeviceGetDefaultMemPool(&own, 0));
	DO(cuDeviceGetMemPool(&current, 0));
	question("a device's pool is its default one");
	answer_bool(CUDA_SUCCESS, own == current);
	ASK(cuMemPoolDestroy(own));
	ask_attributes(own);
	DO(cuMemPoolCreate(&pool, &props));
	ask_access(pool);
	ASK(cuDeviceSetMemPool(99, pool));
	ASK(cuDeviceSetMemPool(0, pool));
	ASK(cuMemPoolDestroy(pool));
	DO(cuDeviceGetMemPool(&current, 0));
	question("and is it again when the other one is destroyed");
	answer_bool(CUDA_SUCCESS, own == current);
	ASK(cuMemPoolTrimTo(own, 0));
	ASK(cuMemPoolTrimTo(own, SIZE_MAX));
}

/* Whether what is given for 0 bytes is NULL, and may be freed. */
static void ask_nothing(CUstream stream)
{
	CUdeviceptr block = NOWHERE;

	ASK_FOR(cuMemAllocAsync(&block, 0, stream), block);
	question("that is written");
	answer_bool(CUDA_SUCCESS, block != NOWHERE);
	question("and may be freed");
	answer(cuMemFreeAsync(block, stream), NULL);
}

static void ask_order(CUmemoryPool pool, CUstream stream, CUstream other)
{
	CUdeviceptr a = 0, b = 0;

	DO(cuMemAllocFromPoolAsync(&a, 64 * MIB, pool, stream));
	ASK(cuMemFreeAsync(a, stream));
	DO(cuMemAllocFromPoolAsync(&b, 64 * MIB, pool, stream));
	question("the same size on the same stream is the same block");
	answer_bool(CUDA_SUCCESS, a == b);
	ASK(cuMemFreeAsync(b + 512, stream));
	ASK(cuMemFreeAsync(b, other));
	DO(cuCtxSynchronize());
}

void ask_pool_blocks(void)
{
	CUmemPoolProps props = device_props();
	CUstream stream = NULL, other = NULL;
	CUmemoryPool pool = NULL;
	CUdeviceptr block = 0;
	uint64_t bytes = 0;

	(void)start();
	DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	DO(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	DO(cuMemPoolCreate(&pool, &props));
	ASK(cuMemAllocAsync(NULL, 1, stream));
	ask_nothing(stream);
	ASK(cuMemAllocAsync(&block, (size_t)1 << 62, stream));
	ASK(cuMemAllocFromPoolAsync(&block, 1, NULL, stream));
	ASK(cuMemAllocFromPoolAsync(&block, 0, pool, stream));
	ASK(cuMemFreeAsync(0, stream));
	ASK(cuMemFreeAsync(NOWHERE, stream));
	ask_order(pool, stream, other);
	ASK_FOR(cuMemPoolGetAttribute(pool, 5, &bytes), bytes);
	situation("a block of 2 MiB");
	DO(cuMemAllocFromPoolAsync(&block, 2 * MIB, pool, stream));
	ASK_FOR(cuMemPoolGetAttribute(pool, 5, &bytes), bytes);
	question("its pool has 32 MiB");
	answer_bool(CUDA_SUCCESS, bytes == 32 * MIB);
	ASK_FOR(cuMemPoolGetAttribute(pool, 7, &bytes), bytes);
	ASK_FOR(cuMemGetAddressRange(NULL, &bytes, block + 1), bytes);
	situation("freed");
	DO(cuMemFreeAsync(block, stream));
	ASK_FOR(cuMemPoolGetAttribute(pool, 7, &bytes), bytes);
	ASK_FOR(cuMemPoolGetAttribute(pool, 5, &bytes), bytes);
	situation("waited for");
	DO(cuStreamSynchronize(stream));
	ASK_FOR(cuMemPoolGetAttribute(pool, 5, &bytes), bytes);
	situation("freed by cuMemFree");
	DO(cuMemAllocFromPoolAsync(&block, 2 * MIB, pool, stream));
	ASK(cuMemFree(block));
	ASK_FOR(cuMemPoolGetAttribute(pool, 7, &bytes), bytes);
	ASK_FOR(cuMemPoolGetAttribute(pool, 5, &bytes), bytes);
	DO(cuCtxSynchronize());
	situation("freed by cuMemFree and waited for");
	ASK_FOR(cuMemPoolGetAttribute(pool, 7, &bytes), bytes);
	situation("destroyed with a block");
	DO(cuMemAllocFromPoolAsync(&block, 2 * MIB, pool, stream));
	ASK(cuMemPoolDestroy(pool));
	ASK(cuMemsetD8Async(block, 1, 2 * MIB, stream));
	ASK(cuMemFreeAsync(block, stream));
	situation("of cuMemAlloc");
	DO(cuMemAlloc(&block, 2 * MIB));
	ASK(cuMemFreeAsync(block, stream));
}
