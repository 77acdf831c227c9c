/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a real NVIDIA GPU: streams of green contexts, which have a part of the
 * device's processors to themselves (driver 12.4 or later). A pool serves them
 * like any other: their blocks pass to other streams once their work is over,
 * and not before. Built and run by tests/device/run.sh.
 */
#include "calls.h"

enum { BYTES = 64 << 20 };

static gpumem_device *device;
static gpumem_pool *pool;
static CUgreenCtx green;

static CUstream green_stream(CUdevice number)
{
	unsigned groups = 1;
	CUdevResource all, part;
	CUdevResourceDesc description;
	CUstream stream;

	CALL(cuDeviceGetDevResource(number, &all, CU_DEV_RESOURCE_TYPE_SM));
	CALL(cuDevSmResourceSplitByCount(&part, &groups, &all, NULL, 0, 8));
	CALL(cuDevResourceGenerateDesc(&description, &part, 1));
	CALL(cuGreenCtxCreate(&green, description, number,
			      CU_GREEN_CTX_DEFAULT_STREAM));
	CALL(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
	return stream;
}

static unsigned char first_byte(const void *block)
{
	unsigned char byte = 0;

	CALL(cuMemcpyDtoH(&byte, (CUdeviceptr)(uintptr_t)block, 1));
	return byte;
}

static void test_blocks(CUstream stream)
{
	void *block, *other;

	must(gpumem_alloc(pool, BYTES, stream, &block));
	must(gpumem_fill(device, block, 0x11, BYTES, stream));
	must(gpumem_use_on(block, NULL));
	must(gpumem_stream_sync(device, stream));
	is_int(first_byte(block), 0x11, "a block of a green context's stream");
	must(gpumem_free(block, stream));
	must(gpumem_alloc(pool, BYTES, NULL, &other));
	must(gpumem_fill(device, other, 0x22, BYTES, NULL));
	must(gpumem_stream_sync(device, NULL));
	is_int(first_byte(other), 0x22, "and one of the default stream");
	must(gpumem_free(other, stream));
	must(gpumem_stream_sync(device, stream));
	must(gpumem_stream_sync(device, NULL));
	must(gpumem_pool_trim(pool, 0, NULL));
	must(gpumem_pool_check(pool));
}

static void test_end(CUstream stream)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);

	must(gpumem_pool_drop_stream(pool, stream));
	CALL(cuStreamDestroy(stream));
	CALL(cuGreenCtxDestroy(green));
	must(gpumem_pool_trim(pool, 0, NULL));
	must(gpumem_pool_stats(pool, &stats));
	is_uint(stats.reserved.current, 0, "all memory goes back");
}

int main(void)
{
	CUdevice number = start_cuda();
	CUstream stream;
	int version;

	CALL(cuDriverGetVersion(&version));
	if (version < 12040)
		skip_all("the driver is too old for green contexts");
	must(gpumem_device_open("cuda:0", &device));
	must(gpumem_pool_create(device, NULL, &pool));
	stream = green_stream(number);
	test_blocks(stream);
	test_end(stream);
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_device_close(device));
	done_testing();
}
