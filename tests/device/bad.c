/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a real NVIDIA GPU: everything that a program can do wrong gets a status
 * and a sentence, changes nothing, and leaves the process alive; the last of it
 * is a kernel that writes where nothing is, after which the driver does no work
 * for this process any more. Built and run by tests/device/run.sh.
 */
#include "calls.h"

/* Writes to an address where nothing can be. */
static const char ptx[] = ".version 7.0\n"
			  ".target sm_52\n"
			  ".address_size 64\n"
			  ".visible .entry spoil()\n"
			  "{\n"
			  ".reg .u64 %at;\n"
			  ".reg .u32 %one;\n"
			  "mov.u64 %at, 64;\n"
			  "mov.u32 %one, 1;\n"
			  "st.global.u32 [%at], %one;\n"
			  "ret;\n"
			  "}\n";

static gpumem_device *device;
static gpumem_pool *pool;

static void refused(gpumem_status status, gpumem_status wanted,
		    const char *what)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	gpumem_last_error(&error);
	is_str(gpumem_status_name(status), gpumem_status_name(wanted), "%s",
	       what);
	ok(status == GPUMEM_OK || (error.status == status && *error.text),
	   "and a sentence: %s", error.text);
}

#define REFUSED(wanted, call) refused(call, GPUMEM_##wanted, #call)

static uint64_t reserved(void)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);

	must(gpumem_pool_stats(pool, &stats));
	return stats.reserved.current;
}

static void test_devices(void)
{
	gpumem_device *none;

	REFUSED(NO_DEVICE, gpumem_device_open("cuda:99", &none));
	REFUSED(NOT_FOUND, gpumem_device_open("kuda:0", &none));
}

static void test_sizes(void)
{
	uint64_t before = reserved();
	void *ptr;

	REFUSED(NO_MEMORY, gpumem_alloc(pool, (size_t)1 << 63, NULL, &ptr));
	REFUSED(NO_MEMORY, gpumem_alloc(pool, SIZE_MAX, NULL, &ptr));
	REFUSED(NO_MEMORY, gpumem_alloc(pool, 4096 * GIB, NULL, &ptr));
	is_uint(reserved(), before, "nothing was taken for it");
}

static void test_pointers(void)
{
	char mine[16];
	void *block, *inside;
	CUdeviceptr raw;

	must(gpumem_alloc(pool, 3 * MIB, NULL, &block));
	inside = (char *)block + 256;
	CALL(cuMemAlloc(&raw, MIB));
	REFUSED(BAD_POINTER, gpumem_free(inside, NULL));
	REFUSED(BAD_POINTER, gpumem_free(mine, NULL));
	REFUSED(BAD_POINTER, gpumem_free((void *)(uintptr_t)raw, NULL));
	REFUSED(BAD_POINTER, gpumem_use_on((void *)(uintptr_t)raw, NULL));
	must(gpumem_free(block, NULL));
	REFUSED(BAD_POINTER, gpumem_free(block, NULL));
	REFUSED(BAD_POINTER, gpumem_use_on(block, NULL));
	CALL(cuMemFree(raw));
	must(gpumem_pool_check(pool));
}

static void test_other_device(void)
{
	gpumem_device *second;
	gpumem_stream stream;
	void *block;
	int count;

	CALL(cuDeviceGetCount(&count));
	if (count < 2) {
		skip("the machine has one device, no stream of another", 1);
		return;
	}
	must(gpumem_device_open("cuda:1", &second));
	must(gpumem_stream_create(second, &stream));
	must(gpumem_alloc(pool, MIB, NULL, &block));
	REFUSED(INVALID, gpumem_fill(device, block, 1, MIB, stream));
	REFUSED(INVALID, gpumem_stream_sync(device, stream));
	must(gpumem_free(block, NULL));
	must(gpumem_stream_destroy(second, stream));
	must(gpumem_device_close(second));
}

static void lose_the_device(void)
{
	CUfunction spoil = load_kernel(ptx, "spoil");

	CALL(cuLaunchKernel(spoil, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	is_int((int)cuCtxSynchronize(), (int)CUDA_ERROR_ILLEGAL_ADDRESS,
	       "a kernel has spoiled the context");
}

static void test_loss(void)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	uint64_t released;
	void *block, *large;

	must(gpumem_alloc(pool, 3 * MIB, NULL, &block));
	lose_the_device();
	REFUSED(LOST, gpumem_alloc(pool, 20 * GIB, NULL, &large));
	REFUSED(LOST, gpumem_device_memory(device, &memory));
	REFUSED(LOST, gpumem_fill(device, block, 1, MIB, NULL));
	REFUSED(OK, gpumem_free(block, NULL));
	REFUSED(BAD_POINTER, gpumem_free(block, NULL));
	REFUSED(LOST, gpumem_pool_trim(pool, 0, &released));
	REFUSED(OK, gpumem_pool_destroy(pool, 0));
	REFUSED(OK, gpumem_device_close(device));
	ok(true, "the process is alive");
}

int main(void)
{
	(void)start_cuda();
	must(gpumem_device_open("cuda:0", &device));
	must(gpumem_pool_create(device, NULL, &pool));
	test_devices();
	test_sizes();
	test_pointers();
	test_other_device();
	test_loss();
	done_testing();
}
