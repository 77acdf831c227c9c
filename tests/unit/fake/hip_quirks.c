/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * HIP over the double of NVIDIA's driver, each of the three libraries: what
 * ROCm's releases do wrong about virtual memory.
 */
#include "hip.h"

static void test_stuck(void)
{
	char *range = new_range(2), *other = new_range(1);
	hipMemGenericAllocationHandle_t handle = new_handle(1);

	ok(quirky.quirk("stuck", true), "stuck");
	(void)map(range, handle);
	(void)unmap(range, 1);
	(void)hip.hipMemRelease(handle);
	is_uint(free_bytes(), TOTAL - GRANULE, "released, and not free");
	drop_range(other, 1);
	is_uint(free_bytes(), TOTAL - GRANULE, "another range is no help");
	handle = new_handle(1);
	is_int(map(range, handle), 0, "its range can be used again");
	(void)hip.hipMemRelease(handle);
	(void)unmap(range, 1);
	is_uint(free_bytes(), TOTAL - 2 * GRANULE, "the other way round");
	handle = new_handle(1);
	(void)hip.hipMemRelease(handle);
	is_uint(free_bytes(), TOTAL - 2 * GRANULE, "never mapped: free");
	handle = new_handle(1);
	(void)map(range, handle);
	(void)unmap(range, 1);
	drop_range(range, 2);
	is_uint(free_bytes(), TOTAL - GRANULE, "what was stuck is free");
	(void)hip.hipMemRelease(handle);
	is_uint(free_bytes(), TOTAL, "and so is what came later");
	(void)quirky.quirk("stuck", false);
}

static void test_joint(void)
{
	char *range = new_range(2);
	hipMemGenericAllocationHandle_t one = new_handle(1);
	hipMemGenericAllocationHandle_t two = new_handle(1);

	(void)map(range, one);
	(void)map(range + GRANULE, two);
	(void)hip.hipMemRelease(one);
	(void)hip.hipMemRelease(two);
	ok(quirky.quirk("joint_access", true), "joint_access");
	is_int(allow(range, 2), 1, "not both at once: 1");
	is_int(allow(range, 1), 0, "one");
	is_int(allow(range + GRANULE, 1), 0, "and the other");
	(void)quirky.quirk("joint_access", false);
	ok(quirky.quirk("joint_unmap", true), "joint_unmap");
	is_int(unmap(range, 2), 0, "both at once");
	is_uint(free_bytes(), TOTAL - GRANULE, "only the first was taken");
	is_int(unmap(range + GRANULE, 1), 0, "the other alone");
	is_uint(free_bytes(), TOTAL, "goes");
	(void)quirky.quirk("joint_unmap", false);
	drop_range(range, 2);
}

static void test_no_access(void)
{
	char *range = new_range(1);
	hipMemGenericAllocationHandle_t handle = new_handle(1);

	(void)map(range, handle);
	ok(quirky.quirk("no_access", true), "no_access");
	is_int(allow(range, 1), 1, "never: 1");
	(void)quirky.quirk("no_access", false);
	is_int(allow(range, 1), 0, "but now");
	(void)unmap(range, 1);
	(void)hip.hipMemRelease(handle);
	drop_range(range, 1);
}

static int first_byte(const char *range)
{
	char byte = 0;

	(void)hip.hipStreamSynchronize(NULL);
	(void)hip.hipMemcpyDtoH(&byte, (void *)(uintptr_t)range, 1);
	return byte;
}

/* What one place has had is what the next that is mapped there shows. */
static void test_foreign(void)
{
	hipMemGenericAllocationHandle_t first = new_handle(1),
					second = new_handle(1);
	char *range = new_range(1);

	ok(quirky.quirk("foreign", true), "foreign");
	(void)map(range, first);
	(void)allow(range, 1);
	(void)hip.hipMemsetAsync(range, 1, 64, NULL);
	(void)unmap(range, 1);
	(void)map(range, second);
	(void)allow(range, 1);
	is_int(first_byte(range), 1, "the first one's memory");
	(void)unmap(range, 1);
	(void)hip.hipMemRelease(first);
	(void)map(range, second);
	(void)allow(range, 1);
	(void)hip.hipMemsetAsync(range, 2, 64, NULL);
	(void)quirky.quirk("foreign", false);
	(void)unmap(range, 1);
	(void)map(range, second);
	(void)allow(range, 1);
	is_int(first_byte(range), 2, "its own, when that has gone");
	(void)unmap(range, 1);
	(void)hip.hipMemRelease(second);
	drop_range(range, 1);
}

/* Each leaves a granule behind. */
static void test_lost(uint64_t *lost_bytes)
{
	char *range = new_range(1);
	hipMemGenericAllocationHandle_t handle = new_handle(1);

	ok(quirky.quirk("release_mapped", true), "release_mapped");
	(void)map(range, handle);
	(void)unmap(range, 1);
	(void)hip.hipMemRelease(handle);
	is_uint(free_bytes(), TOTAL - *lost_bytes, "unmapped first: free");
	handle = new_handle(1);
	(void)map(range, handle);
	(void)hip.hipMemRelease(handle);
	(void)unmap(range, 1);
	*lost_bytes += GRANULE;
	is_uint(free_bytes(), TOTAL - *lost_bytes, "released first: lost");
	(void)quirky.quirk("release_mapped", false);
	ok(quirky.quirk("never", true), "never");
	handle = new_handle(1);
	(void)hip.hipMemRelease(handle);
	is_uint(free_bytes(), TOTAL - *lost_bytes, "not mapped: free");
	handle = new_handle(1);
	(void)map(range, handle);
	(void)unmap(range, 1);
	(void)hip.hipMemRelease(handle);
	drop_range(range, 1);
	*lost_bytes += GRANULE;
	is_uint(free_bytes(), TOTAL - *lost_bytes, "mapped: lost");
	(void)quirky.quirk("never", false);
}

/* What the other processes of the machine have: a context of CUDA's own. */
static void test_optimistic(void)
{
	CUcontext context;
	CUdeviceptr theirs;
	void *block = NULL;
	hipMemGenericAllocationHandle_t handle = new_handle(1);

	(void)cu.cuCtxCreate_v2(&context, 0, 0);
	theirs = new_block(4 * MIB);
	is_uint(free_bytes(), TOTAL - GRANULE - 4 * MIB, "all that is taken");
	ok(quirky.quirk("optimistic", true), "optimistic");
	is_uint(free_bytes(), TOTAL - GRANULE, "what this library took");
	(void)hip.hipMalloc(&block, 4 * MIB);
	is_uint(free_bytes(), TOTAL - GRANULE - 4 * MIB, "blocks too");
	(void)hip.hipFree(block);
	(void)hip.hipMemRelease(handle);
	is_uint(free_bytes(), TOTAL, "and gave back");
	(void)quirky.quirk("optimistic", false);
	(void)cu.cuMemFree_v2(theirs);
	(void)cu.cuCtxDestroy_v2(context);
}

int main(void)
{
	uint64_t lost_bytes = 0;

	setenv("FAKECUDA_MEMORY", "64MiB", 1);
	setenv("FAKEHIP_VM", "1", 1); /* in .5, too */
	fake_load();
	for (int which = 5; which <= 7; which++) {
		hip_load(which);
		test_stuck();
		test_joint();
		test_no_access();
		test_optimistic();
		test_foreign();
		is_uint(held().handles + held().mappings + held().reservations,
			0, "all are gone");
	}
	for (int which = 5; which <= 7; which++) {
		hip_load(which);
		test_lost(&lost_bytes);
	}
	return done_testing();
}
