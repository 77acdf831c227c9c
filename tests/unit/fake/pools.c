/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The double of NVIDIA's driver: pools of stream-ordered memory, which keep
 * what is freed until the program waits or trims, and hand it out in the order
 * of its stream only.
 */
#include "cuda.h"

static CUstream one, two;
static CUmemoryPool pool;

static uint64_t number(CUmemPool_attribute which)
{
	uint64_t value = 1;

	is_int(cu.cuMemPoolGetAttribute(pool, which, &value), 0, "a number");
	return value;
}

static CUdeviceptr block_on(CUstream stream, size_t bytes)
{
	CUdeviceptr address = 0;

	is_int(cu.cuMemAllocFromPoolAsync(&address, bytes, pool, stream), 0,
	       "a block");
	return address;
}

static void test_order(void)
{
	CUdeviceptr a = block_on(one, MIB), b;

	(void)control.stepping(true);
	(void)cu.cuMemsetD8Async(a, 1, MIB, one);
	is_int(cu.cuMemFreeAsync(a, one), 0, "a free that is queued");
	is_int(cu.cuMemFreeAsync(a, one), 1, "another one of it");
	is_uint(number(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0, "it is not used");
	b = block_on(two, MIB);
	ok(b != a, "another stream gets other memory meanwhile");
	is_uint(block_on(one, MIB), a, "its own gets it");
	is_uint(control.step(one, 9), 2, "the free is over");
	is_int(cu.cuMemsetD8Async(a, 2, MIB, one), 0,
	       "and was not that of the new block");
	(void)control.stepping(false);
	is_int(cu.cuMemFreeAsync(a, one), 0, "which is freed");
	is_int(cu.cuMemsetD8Async(a, 2, MIB, one), 1, "and gone");
	is_int(cu.cuMemFree_v2(b), 0, "cuMemFree takes them too");
}

static void test_kept(void)
{
	uint64_t threshold = 40 * MIB, before;
	CUdeviceptr a;

	is_int(cu.cuCtxSynchronize(), 0, "the program waits");
	before = held().used_bytes;
	is_int(cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
					&threshold),
	       0, "a threshold");
	a = block_on(one, 100 * MIB);
	is_uint(held().used_bytes, before + 128 * MIB, "memory is taken");
	(void)cu.cuMemFreeAsync(a, one);
	is_uint(number(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 128 * MIB,
		"and kept");
	(void)cu.cuStreamSynchronize(one);
	is_uint(number(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 64 * MIB,
		"until the program waits, but for the threshold");
	is_uint(held().used_bytes, before + 64 * MIB, "that is, there");
	is_int(cu.cuMemPoolTrimTo(pool, 3 * MIB), 0, "a trim");
	is_uint(number(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 32 * MIB,
		"leaves whole units of 32 MiB");
	is_int(cu.cuMemPoolTrimTo(pool, 0), 0, "another one");
	is_uint(held().used_bytes, before, "leaves nothing");
	is_uint(number(CU_MEMPOOL_ATTR_USED_MEM_HIGH), 100 * MIB, "the peak");
}

static void test_destroyed(void)
{
	uint64_t before = held().used_bytes;
	CUdeviceptr a = block_on(one, 4 * MIB), b;
	CUmemoryPool current;

	is_int(cu.cuDeviceSetMemPool(0, pool), 0, "it is the device's");
	is_int(cu.cuMemAllocAsync(&b, 2 * MIB, one), 0, "a block");
	is_uint(number(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 6 * MIB, "is of it");
	is_int(cu.cuMemPoolDestroy(pool), 0, "destroyed with blocks");
	is_uint(held().used_bytes, before + 32 * MIB, "which live on");
	is_int(cu.cuMemFreeAsync(a, one), 0, "until they are freed");
	is_int(cu.cuMemFreeAsync(b, one), 0, "both");
	is_uint(held().used_bytes, before, "and it is gone");
	is_int(cu.cuMemPoolDestroy(pool), 1, "only once");
	is_int(cu.cuDeviceGetMemPool(&current, 0), 0, "the device has");
	is_int(cu.cuDeviceGetDefaultMemPool(&pool, 0), 0, "its own");
	ok(current == pool, "again");
	is_int(cu.cuMemPoolDestroy(pool), 1, "which stays");
}

/* A device that has no unit left has granules. */
static void test_full(void)
{
	CUdeviceptr a, b, small;

	is_int(cu.cuMemAlloc_v2(&small, 2 * MIB), 0, "no whole units are left");
	a = block_on(one, 180 * MIB);
	is_uint(held().used_bytes, 194 * MIB, "one is free, and 30 MiB");
	b = block_on(one, 70 * MIB);
	is_uint(held().used_bytes, 252 * MIB, "which are taken so");
	is_int(cu.cuMemAllocAsync(&b, 48 * MIB, one), 2, "no memory");
	is_int(cu.cuMemFreeAsync(a, one), 0, "freed");
	is_int(cu.cuMemAllocAsync(&b, 100 * MIB, one), 0,
	       "what is kept is for other sizes too");
	is_uint(held().used_bytes, 252 * MIB, "and nothing more is taken");
	is_int(cu.cuMemFreeAsync(b, two), 0, "on another stream");
	is_int(cu.cuCtxSynchronize(), 0, "waited for");
	is_uint(held().used_bytes, 98 * MIB, "all is back");
	is_int(cu.cuMemFree_v2(small), 0, "that too");
}

/* Nothing is no error, but no block either. */
static void test_nothing(void)
{
	CUdeviceptr block = 5;
	uint64_t before = held().allocs;

	is_int(cu.cuMemAllocAsync(&block, 0, one), 0, "0 bytes");
	is_uint(block, 0, "are at NULL");
	block = 5;
	is_int(cu.cuMemAllocFromPoolAsync(&block, 0, pool, one), 0,
	       "of a pool");
	is_uint(block, 0, "too");
	is_int(cu.cuMemFreeAsync(block, one), 0, "which may be freed");
	is_uint(held().allocs, before, "and no block");
	is_int(cu.cuMemAllocManaged(&block, MIB, CU_MEM_ATTACH_GLOBAL), 0,
	       "managed memory");
	is_int(cu.cuMemFreeAsync(block, one), 801, "is of no pool");
	is_int(cu.cuMemFree_v2(block), 0, "freed");
}

int main(void)
{
	CUmemPoolProps about = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
	};

	alarm(120);
	setenv("FAKECUDA_MEMORY", "256MiB", 1);
	(void)fake_start();
	one = new_stream(1);
	two = new_stream(1);
	is_int(cu.cuMemPoolCreate(&pool, &about), 0, "a pool");
	test_nothing();
	test_order();
	test_kept();
	test_destroyed();
	test_full();
	return done_testing();
}
