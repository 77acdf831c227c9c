/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The double of NVIDIA's driver: memory, virtual memory and pinned memory.
 */
#include "cuda.h"

#include <signal.h>
#include <sys/wait.h>

static const CUmemAllocationProp plain = {
	.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
};
static const CUmemAccessDesc access_desc = {
	.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
	.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
};

static uint64_t free_bytes(void)
{
	size_t bytes = 0, total;

	(void)cu.cuMemGetInfo_v2(&bytes, &total);
	return bytes;
}

/* Whether a read there kills. */
static bool faults(CUdeviceptr address)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		_exit(*(volatile char *)memory_at(address) & 0);
	}
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
}

static void test_alloc(void)
{
	CUdeviceptr small[2], large, address;
	uint64_t all = free_bytes();

	is_int(cu.cuMemAlloc_v2(&address, 0), 1, "nothing: 1");
	is_int(cu.cuMemAlloc_v2(&address, 1ull << 40), 2, "too much: 2");
	small[0] = new_block(1);
	is_uint(all - free_bytes(), GRANULE, "one byte takes a block of 2 MiB");
	small[1] = new_block(MIB);
	is_uint(all - free_bytes(), GRANULE, "that small ones share");
	large = new_block(3 * MIB);
	is_uint(all - free_bytes(), 3 * GRANULE, "large ones take whole ones");
	ok(!((small[0] | small[1] | large) % 512), "aligned to 512 bytes");
	ok(small[0] % 4096 || small[1] % 4096, "and to no more");
	is_int(cu.cuMemFree_v2(0), 0, "free nothing");
	is_int(cu.cuMemFree_v2(large + 512), 1, "inside a block: 1");
	is_int(cu.cuMemFree_v2(12345), 1, "anywhere: 1");
	memset(memory_at(large), 7, 3 * MIB);
	is_int(cu.cuMemFree_v2(large), 0, "free");
	ok(faults(large), "then it faults");
	is_int(cu.cuMemFree_v2(large), 1, "twice: 1");
	(void)cu.cuMemFree_v2(small[0]);
	(void)cu.cuMemFree_v2(small[1]);
	is_uint(free_bytes(), all, "all came back");
	is_int(cu.cuMemAllocManaged(&address, 64, 0), 1, "managed needs flags");
	is_int(cu.cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_GLOBAL), 0,
	       "managed");
	is_int(cu.cuMemFree_v2(address), 0, "goes the same way");
}

static CUmemGenericAllocationHandle new_handle(size_t bytes)
{
	CUmemGenericAllocationHandle handle = 0;

	if (cu.cuMemCreate(&handle, bytes, &plain, 0))
		bail("cuMemCreate");
	return handle;
}

static void test_create(void)
{
	CUmemAllocationProp prop = plain;
	CUmemGenericAllocationHandle handle;
	CUdeviceptr address;
	size_t bytes = 0;

	is_int(cu.cuMemCreate(&handle, 4096, &plain, 0), 1, "no granule: 1");
	is_int(cu.cuMemCreate(&handle, 0, &plain, 0), 1, "nothing: 1");
	is_int(cu.cuMemCreate(&handle, GRANULE, &plain, 1), 1, "no flags: 1");
	is_int(cu.cuMemCreate(&handle, 1ull << 40, &plain, 0), 2, "much: 2");
	prop.type = 0;
	is_int(cu.cuMemCreate(&handle, GRANULE, &prop, 0), 1, "no type: 1");
	prop = plain;
	prop.location.id = 7;
	is_int(cu.cuMemCreate(&handle, GRANULE, &prop, 0), 101, "no device");
	is_int(cu.cuMemGetAllocationGranularity(&bytes, &plain, 0), 0, "ask");
	is_uint(bytes, GRANULE, "granularity");
	is_int(cu.cuMemRelease(12345), 1, "release of no handle: 1");
	is_int(cu.cuMemAddressReserve(&address, 4096, 0, 0, 0), 1, "reserve");
	is_int(cu.cuMemAddressReserve(&address, GRANULE, 3, 0, 0), 1, "align");
	is_int(cu.cuMemAddressReserve(&address, GRANULE, 64 * MIB, 0, 0), 0,
	       "a wide alignment");
	ok(!(address % (64 * MIB)), "is obeyed");
	is_int(cu.cuMemAddressFree(address, GRANULE), 0, "free");
	is_int(cu.cuMemAddressFree(address, GRANULE), 1, "twice: 1");
}

static CUresult map(CUdeviceptr address, CUmemGenericAllocationHandle handle,
		    size_t granules)
{
	return cu.cuMemMap(address, granules * GRANULE, 0, handle, 0);
}

static void test_map(CUdeviceptr base)
{
	CUmemGenericAllocationHandle one = new_handle(GRANULE);
	CUmemGenericAllocationHandle two = new_handle(2 * GRANULE);

	is_int(cu.cuMemMap(base, GRANULE, GRANULE, two, 0), 801, "offset: 801");
	is_int(map(base, two, 1), 801, "half of a handle: 801");
	is_int(map(base, one, 2), 801, "more than a handle: 801");
	is_int(cu.cuMemMap(base, GRANULE, 0, one, 1), 1, "no flags: 1");
	is_int(map(base + 4096, one, 1), 1, "between granules: 1");
	is_int(map(base + 8 * GRANULE, one, 1), 1, "outside: 1");
	is_int(map(base, 99, 1), 1, "no handle: 1");
	is_int(map(base, two, 2), 0, "map");
	is_int(map(base + GRANULE, one, 1), 1, "over a mapping: 1");
	is_int(map(base + 2 * GRANULE, one, 1), 0, "beside it");
	ok(faults(base), "there is no access yet");
	is_int(cu.cuMemsetD8Async(base, 1, 64, NULL), 1, "for the device: 1");
	is_int(cu.cuMemSetAccess(base, GRANULE, &access_desc, 1), 1,
	       "access to a part of a mapping: 1");
	is_int(cu.cuMemSetAccess(base, 4 * GRANULE, &access_desc, 1), 1,
	       "to a hole: 1");
	is_int(cu.cuMemSetAccess(base, 3 * GRANULE, &access_desc, 1), 0,
	       "to two mappings");
	is_int(cu.cuMemsetD8Async(base, 5, 3 * GRANULE, NULL), 0, "fill both");
	is_int(*(char *)memory_at(base + 3 * GRANULE - 1), 5, "to the end");
	is_int(cu.cuMemAddressFree(base, 8 * GRANULE), 1, "mapped: 1");
	is_int(cu.cuMemUnmap(base, GRANULE), 1, "part of a mapping: 1");
	is_int(cu.cuMemUnmap(base + GRANULE, 2 * GRANULE), 1,
	       "from the middle of one on: 1");
	is_int(cu.cuMemUnmap(base, 4 * GRANULE), 1, "with a hole: 1");
	is_int(cu.cuMemUnmap(base + 5 * GRANULE, GRANULE), 0, "a hole");
	is_int(cu.cuMemUnmap(base + 8 * GRANULE, GRANULE), 1, "outside: 1");
	is_int(cu.cuMemUnmap(base, 3 * GRANULE), 0, "two whole ones");
	ok(faults(base), "then it faults");
	is_int(map(base, two, 2), 0, "map again");
	is_int(cu.cuMemsetD8Async(base, 1, 64, NULL), 1, "no access again");
	(void)cu.cuMemSetAccess(base, 2 * GRANULE, &access_desc, 1);
	is_int(*(char *)memory_at(base), 5, "the data is still there");
	is_int(cu.cuMemUnmap(base, 2 * GRANULE), 0, "unmap");
	(void)cu.cuMemRelease(one);
	(void)cu.cuMemRelease(two);
}

/* What may be read may be copied from, and no more. */
static void test_read_only(CUdeviceptr base)
{
	CUmemGenericAllocationHandle handle = new_handle(GRANULE);
	CUmemAccessDesc desc = access_desc;
	char out = 0;

	is_int(map(base, handle, 1), 0, "map");
	(void)cu.cuMemSetAccess(base, GRANULE, &access_desc, 1);
	(void)cu.cuMemsetD8Async(base, 5, 64, NULL);
	desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
	is_int(cu.cuMemSetAccess(base, GRANULE, &desc, 1), 0, "to read");
	is_int(cu.cuMemcpyAsync((CUdeviceptr)(uintptr_t)&out, base, 1, NULL), 0,
	       "a copy from it");
	is_int(out, 5, "reads");
	is_int(cu.cuMemcpyAsync(base, (CUdeviceptr)(uintptr_t)&out, 1, NULL), 1,
	       "one to it: 1");
	is_int(cu.cuMemsetD8Async(base, 1, 64, NULL), 1, "a fill: 1");
	desc.location.id = 99;
	is_int(cu.cuMemSetAccess(base, GRANULE, &desc, 1), 1, "no device: 1");
	is_int(cu.cuMemUnmap(base, GRANULE), 0, "unmap");
	(void)cu.cuMemRelease(handle);
}

static void test_lifetime(CUdeviceptr base)
{
	uint64_t all = free_bytes();
	CUmemGenericAllocationHandle handle = new_handle(GRANULE);

	is_uint(all - free_bytes(), GRANULE, "a handle takes memory");
	(void)map(base, handle, 1);
	is_int(map(base + GRANULE, handle, 1), 0, "at a second address");
	(void)cu.cuMemSetAccess(base, 2 * GRANULE, &access_desc, 1);
	*(char *)memory_at(base) = 42;
	is_int(*(char *)memory_at(base + GRANULE), 42, "both are one");
	is_int(cu.cuMemRelease(handle), 0, "release while mapped");
	is_int(cu.cuMemRelease(handle), 1, "twice: 1");
	is_int(map(base + 2 * GRANULE, handle, 1), 1, "it is no handle now");
	is_uint(held().handles, 0, "none held");
	is_uint(all - free_bytes(), GRANULE, "but its memory is");
	is_int(cu.cuMemUnmap(base, GRANULE), 0, "unmap one");
	is_int(*(char *)memory_at(base + GRANULE), 42, "the other stays");
	is_uint(all - free_bytes(), GRANULE, "and the memory");
	is_int(cu.cuMemUnmap(base + GRANULE, GRANULE), 0, "unmap the other");
	is_uint(free_bytes(), all, "the memory is back");
}

static void test_pointers(CUdeviceptr base)
{
	CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
				       CU_POINTER_ATTRIBUTE_RANGE_SIZE};
	CUdeviceptr block = new_block(1000);
	unsigned type = 9;
	uint64_t range = 9;
	void *data[] = {&type, &range};

	is_int(cu.cuPointerGetAttributes(2, which, data, block + 9), 0, "ask");
	is_uint(type, CU_MEMORYTYPE_DEVICE, "device memory");
	is_uint(range, 1000, "of that size");
	is_int(cu.cuPointerGetAttributes(2, which, data, 12345), 0, "unknown");
	is_uint(type + range, 0, "zeros");
	is_int(cu.cuPointerGetAttribute(&type, which[0], 12345), 1, "or 1");
	is_int(cu.cuPointerGetAttribute(&type, which[0], base), 1,
	       "an address without memory: 1");
	(void)cu.cuMemFree_v2(block);
}

static void test_pinned(void)
{
	static char page[8192];
	void *memory;
	unsigned type;

	is_int(cu.cuMemHostAlloc(&memory, 100, 1), 0, "pinned memory");
	memset(memory, 1, 100);
	is_int(cu.cuPointerGetAttribute(&type, 2, (uintptr_t)memory), 0, "is");
	is_uint(type, CU_MEMORYTYPE_HOST, "host memory");
	is_int(cu.cuMemFreeHost(page), 1, "free what is not: 1");
	is_int(cu.cuMemFreeHost(memory), 0, "free");
	is_int(cu.cuMemFreeHost(memory), 1, "twice: 1");
	is_int(cu.cuMemFreeHost(NULL), 0, "nothing");
	is_int(cu.cuMemHostRegister_v2(page, 4096, 1), 0, "register");
	is_int(cu.cuMemHostRegister_v2(page + 1, 1, 1), 712, "again: 712");
	is_int(cu.cuMemHostUnregister(page + 1), 1, "in the middle: 1");
	is_int(cu.cuMemHostUnregister(page), 0, "unregister");
	is_int(cu.cuMemHostUnregister(page), 713, "twice: 713");
}

int main(void)
{
	CUdeviceptr base;

	fake_start();
	test_alloc();
	test_create();
	if (cu.cuMemAddressReserve(&base, 8 * GRANULE, 0, 0, 0))
		bail("cuMemAddressReserve");
	test_map(base);
	test_read_only(base);
	test_lifetime(base);
	test_pointers(base);
	test_pinned();
	is_int(cu.cuMemAddressFree(base, 8 * GRANULE), 0, "all unmapped");
	is_uint(held().mappings + held().reservations + held().allocs +
			held().pinned,
		0, "nothing is held");
	return done_testing();
}
