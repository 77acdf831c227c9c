/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How long stream-ordered allocations take whose sizes change at each step: on
 * four streams two blocks of 64 KiB to 256 MiB and one of 4 bytes, beside 2 GiB
 * that stay, as pool_programs.py has them. Links NVIDIA's driver and nothing of
 * gpumem:
 *
 *	cc -I/usr/local/cuda/include tests/device/pool_sizes.c -lcuda
 *	./a.out; gpumem-run --adopt ./a.out [DOUBLINGS [MIB]]
 *
 * Prints ms of an epoch of 40 steps, the median of 15 after the first.
 */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STREAMS = 4, OWN = 16, STEPS = 40, EPOCHS = 16 };

static CUstream streams[STREAMS];
static double ms_of_allocs;

static void must(CUresult result, const char *call)
{
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "%s: %d\n", call, (int)result);
	exit(1);
}

#define CALL(call) must(call, #call)

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static CUdeviceptr take(size_t bytes, CUstream stream)
{
	double begin = now_ms();
	CUdeviceptr block = 0;

	CALL(cuMemAllocAsync(&block, bytes, stream));
	ms_of_allocs += now_ms() - begin;
	return block;
}

static void step(int at, int doublings)
{
	CUdeviceptr sums[STREAMS];

	for (int i = 0; i < STREAMS; i++) {
		size_t bytes = ((size_t)65536 << (at * 5 + i * 3) % doublings) +
			       1024 * (size_t)at;
		CUdeviceptr one = take(bytes, streams[i]), two;

		CALL(cuMemsetD8Async(one, 1, bytes, streams[i]));
		two = take(bytes, streams[i]);
		CALL(cuMemsetD8Async(two, 2, bytes, streams[i]));
		sums[i] = take(4, streams[i]);
		CALL(cuMemFreeAsync(one, streams[i]));
		CALL(cuMemFreeAsync(two, streams[i]));
	}
	CALL(cuCtxSynchronize());
	for (int i = 0; i < STREAMS; i++)
		CALL(cuMemFreeAsync(sums[i], streams[i]));
}

static void start(size_t own_bytes)
{
	cuuint64_t most = UINT64_MAX; /* as frameworks set it */
	CUmemoryPool pool;
	CUcontext context;

	CALL(cuInit(0));
	CALL(cuDevicePrimaryCtxRetain(&context, 0));
	CALL(cuCtxSetCurrent(context));
	CALL(cuDeviceGetDefaultMemPool(&pool, 0));
	CALL(cuMemPoolSetAttribute(
		pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &most));
	for (int i = 0; i < STREAMS; i++)
		CALL(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < OWN; i++)
		(void)take(own_bytes / OWN, streams[0]);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double values[EPOCHS])
{
	qsort(values + 1, EPOCHS - 1, sizeof(*values), by_size);
	return values[EPOCHS / 2];
}

int main(int argc, char **argv)
{
	int doublings = argc > 1 ? atoi(argv[1]) : 13;
	size_t mib = argc > 2 ? strtoul(argv[2], NULL, 10) : 2048;
	double all[EPOCHS], allocs[EPOCHS];
	size_t unused, total;

	start(mib << 20);
	for (int epoch = 0; epoch < EPOCHS; epoch++) {
		double begin = now_ms();

		ms_of_allocs = 0;
		for (int at = 0; at < STEPS; at++)
			step(at, doublings);
		all[epoch] = now_ms() - begin;
		allocs[epoch] = ms_of_allocs;
	}
	CALL(cuMemGetInfo(&unused, &total));
	printf("an epoch %.2f ms, of which cuMemAllocAsync() has %.2f; %zu MiB "
	       "in use\n",
	       median(all), median(allocs), (total - unused) >> 20);
	return 0;
}
