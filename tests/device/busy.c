/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a real NVIDIA GPU: nothing of ours waits for a kernel that runs on a
 * stream which is none of ours. A kernel that does nothing for some seconds is
 * started, then pages are taken, moved and given back, and the kernel must
 * still be running. Built and run by tests/device/run.sh. The thread needs a
 * current context for its own launch only; the library does not.
 */
#include "calls.h"
#include <time.h>

static const uint64_t spin_ns = 4000000000u;

/* Runs until so many nanoseconds are over. */
static const char ptx[] = ".version 7.0\n"
			  ".target sm_52\n"
			  ".address_size 64\n"
			  ".visible .entry spin(.param .u64 ns)\n"
			  "{\n"
			  ".reg .u64 %now, %end;\n"
			  ".reg .pred %more;\n"
			  "ld.param.u64 %end, [ns];\n"
			  "mov.u64 %now, %globaltimer;\n"
			  "add.u64 %end, %end, %now;\n"
			  "again:\n"
			  "mov.u64 %now, %globaltimer;\n"
			  "setp.lt.u64 %more, %now, %end;\n"
			  "@%more bra again;\n"
			  "ret;\n"
			  "}\n";

static CUfunction spin;
static CUstream stream;
static CUevent event;

static void launch(uint64_t ns)
{
	void *arguments[] = {&ns};

	CALL(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, arguments,
			    NULL));
	CALL(cuEventRecord(event, stream));
}

static bool running(void)
{
	return cuEventQuery(event) == CUDA_ERROR_NOT_READY;
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

enum { BLOCKS = 2560 };

static gpumem_pool *pool;
static void *block[BLOCKS];

static void fill_pool(void)
{
	for (int i = 0; i < BLOCKS; i++)
		must(gpumem_alloc(pool, 4 * MIB, NULL, &block[i]));
}

/* Every second block is free: no large one fits but by moving pages. */
static void test_move(void)
{
	struct gpumem_stats before = GPUMEM_INIT(struct gpumem_stats);
	struct gpumem_stats after = before;
	void *large;
	double ms;

	fill_pool();
	for (int i = 0; i < BLOCKS; i += 2)
		must(gpumem_free(block[i], NULL));
	must(gpumem_pool_stats(pool, &before));
	launch(spin_ns);
	ms = now_ms();
	must(gpumem_alloc(pool, 4 * GIB, NULL, &large));
	ms = now_ms() - ms;
	ok(running(), "4 GiB are put together while a kernel runs");
	must(gpumem_pool_stats(pool, &after));
	ok(after.moved_bytes - before.moved_bytes >= 3 * GIB,
	   "of pages that were moved");
	diag("%.1f ms, %.2f GiB moved", ms,
	     (double)(after.moved_bytes - before.moved_bytes) / (double)GIB);
	must(gpumem_free(large, NULL));
	for (int i = 1; i < BLOCKS; i += 2)
		must(gpumem_free(block[i], NULL));
	CALL(cuEventSynchronize(event));
}

static void test_trim(void)
{
	uint64_t released;
	double ms;

	fill_pool();
	for (int i = 0; i < BLOCKS; i++)
		must(gpumem_free(block[i], NULL));
	launch(spin_ns);
	ms = now_ms();
	must(gpumem_pool_trim(pool, 0, &released));
	ms = now_ms() - ms;
	ok(running(), "a trim is over while a kernel runs");
	ok(released >= 10 * GIB, "and has given back what was cached");
	diag("%.1f ms, %.2f GiB given back", ms,
	     (double)released / (double)GIB);
	CALL(cuEventSynchronize(event));
}

static void test_grow(void)
{
	double ms;

	launch(spin_ns);
	ms = now_ms();
	fill_pool();
	ms = now_ms() - ms;
	ok(running(), "a pool grows by 10 GiB while a kernel runs");
	diag("%.1f ms", ms);
	for (int i = 0; i < BLOCKS; i++)
		must(gpumem_free(block[i], NULL));
	ok(running(), "and takes it back");
	CALL(cuEventSynchronize(event));
}

int main(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_device *device;

	(void)start_cuda();
	spin = load_kernel(ptx, "spin");
	CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CALL(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	must(gpumem_device_open("cuda:0", &device));
	config.name = "busy";
	must(gpumem_pool_create(device, &config, &pool));
	test_grow();
	test_move();
	test_trim();
	must(gpumem_pool_destroy(pool, false));
	must(gpumem_device_close(device));
	done_testing();
}
