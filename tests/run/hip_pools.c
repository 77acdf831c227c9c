/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pools of stream-ordered memory: the device's, and one of the program's own,
 * which it trims and destroys. What it prints is the same whoever else follows
 * the calls. The argument is how many MiB its pool has to refuse; 0: none.
 */
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static void must(hipError_t error, int line)
{
	if (error == hipSuccess)
		return;
	printf("line %d: %d\n", line, error);
	exit(1);
}

#define OK(call) must(call, __LINE__)

static hipMemPool_t new_pool(void)
{
	hipMemPoolProps props;
	hipMemPool_t pool;

	memset(&props, 0, sizeof(props));
	props.allocType = hipMemAllocationTypePinned;
	props.location.type = hipMemLocationTypeDevice;
	OK(hipMemPoolCreate(&pool, &props));
	return pool;
}

static size_t attribute(hipMemPool_t pool, hipMemPoolAttr which)
{
	uint64_t bytes = 0;

	OK(hipMemPoolGetAttribute(pool, which, &bytes));
	return bytes / MIB;
}

static void use_default(hipStream_t stream)
{
	hipMemPool_t pool, current;
	void *block;

	OK(hipDeviceGetDefaultMemPool(&pool, 0));
	OK(hipDeviceGetMemPool(&current, 0));
	printf("the device's: %d\n", pool == current);
	OK(hipMallocAsync(&block, 4 * MIB, stream));
	printf("used: %zu\n", attribute(pool, hipMemPoolAttrUsedMemCurrent));
	OK(hipFreeAsync(block, stream));
	OK(hipStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
	size_t refused = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	uint64_t threshold = UINT64_MAX;
	hipStream_t stream;
	hipMemPool_t pool;
	void *one, *two;

	OK(hipStreamCreate(&stream));
	use_default(stream);
	pool = new_pool();
	OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold,
				  &threshold));
	OK(hipMallocFromPoolAsync(&one, 8 * MIB, pool, stream));
	OK(hipDeviceSetMemPool(0, pool));
	OK(hipMallocAsync(&two, 16 * MIB, stream));
	printf("used: %zu\n", attribute(pool, hipMemPoolAttrUsedMemCurrent));
	if (refused) {
		void *more = NULL;

		printf("refused: %d\n",
		       hipMallocFromPoolAsync(&more, refused * MIB, pool,
					      stream));
	}
	OK(hipFreeAsync(one, stream));
	OK(hipStreamSynchronize(stream));
	OK(hipFree(two));
	printf("kept: %d\n",
	       attribute(pool, hipMemPoolAttrReservedMemCurrent) > 0);
	OK(hipMemPoolTrimTo(pool, 0));
	printf("trimmed: %zu\n",
	       attribute(pool, hipMemPoolAttrReservedMemCurrent));
	OK(hipMemPoolDestroy(pool));
	printf("no pool: %d\n",
	       hipMallocFromPoolAsync(&one, MIB, NULL, stream));
	OK(hipStreamDestroy(stream));
	return 0;
}
