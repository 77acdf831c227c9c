#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# cudaGetDevice(), a question about the calling thread alone, is answered for one
# thread at a time: what it takes grows with the threads that ask, from 65 ns to
# microseconds. And a thread that has no context yet pays microseconds for each
# question until it has one, whether it asks alone or not. The driver's
# cuCtxGetDevice() does neither. Nothing of gpumem is used here; no test and no build
# runs this.
#
# PyTorch asks at each allocation and in each of its guards, so threads that only
# allocate wait for each other there, whatever their allocator does.
#
# Behaviour seen, 2026-11-30, NVIDIA H200, driver 580.159, 32 cores, nvidia-cuda-runtime
# 13.0.96; nanoseconds of a call, of the slowest thread, medians of five:
#
#     threads                            1      2      4      8
#     cudaGetDevice                     72    238    511   1052
#     the same, without a context     1740   3057   6250  13592
#     cuCtxGetDevice                    19     20     21     21
#
# Exit 0: as written above, by ratios; 1: it differs, and this file and current.hpp of
# bindings/python/src/subclass should be looked at again; 2: it could not be had; 77:
# there is no GPU, or there are less than eight cores. Needs pip and cc; it downloads
# 3 MB to a temporary folder that it removes.
set -u

if ! nvidia-smi -L 2>/dev/null | grep -q GPU || [ "$(nproc)" -lt 8 ]; then
	echo "skipped: it needs an NVIDIA GPU, its driver and eight cores"
	exit 77
fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM
cd "$scratch" || exit 2

cat >ask.c <<'END'
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 16, CALLS = 20000, TURNS = 5 };

static int (*driver_device)(int *);
static int context, of_driver;
static atomic_int waiting;
static double ns[MOST];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *ask(void *number)
{
	double begin;
	int device;

	if (context)
		cudaFree(NULL);
	atomic_fetch_sub(&waiting, 1);
	while (atomic_load(&waiting))
		;
	begin = now();
	for (int i = 0; i < CALLS; i++)
		if (of_driver)
			driver_device(&device);
		else
			cudaGetDevice(&device);
	ns[(size_t)number] = (now() - begin) / CALLS;
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(int threads)
{
	pthread_t thread[MOST];
	double turn[TURNS];

	for (int i = 0; i < TURNS; i++) {
		atomic_store(&waiting, threads);
		for (long k = 0; k < threads; k++)
			pthread_create(&thread[k], NULL, ask, (void *)k);
		for (int k = 0; k < threads; k++)
			pthread_join(thread[k], NULL);
		qsort(ns, (size_t)threads, sizeof(*ns), by_size);
		turn[i] = ns[threads - 1];
	}
	qsort(turn, TURNS, sizeof(*turn), by_size);
	return turn[TURNS / 2];
}

static void row(const char *what, double found[2])
{
	const int threads[] = {1, 2, 4, 8};

	printf("%-34s", what);
	for (int i = 0; i < 4; i++) {
		double each = median(threads[i]);

		if (i == 0 || i == 3)
			found[i == 3] = each;
		printf(" %6.0f", each);
	}
	printf("\n");
}

int main(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	double runtime[2], without[2], direct[2];

	driver_device = (int (*)(int *))dlsym(driver, "cuCtxGetDevice");
	if (cudaFree(NULL) || !driver_device)
		return 2;
	context = 1;
	row("cudaGetDevice", runtime);
	context = 0;
	row("cudaGetDevice, without a context", without);
	context = of_driver = 1;
	row("cuCtxGetDevice", direct);
	return !(runtime[1] > 4 * runtime[0] && without[0] > 8 * runtime[0] &&
		 direct[1] < 3 * direct[0] && direct[0] < runtime[0]);
}
END

python3 -m pip install -q --no-deps --target runtime \
	nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88 || exit 2
library=$(find "$scratch/runtime" -name 'libcudart.so.*' | head -n 1)
# shellcheck disable=SC2046
cc -O2 -pthread $(find "$scratch/runtime" -name include -type d |
	sed 's/^/-isystem /') ask.c -o ask "$library" -ldl \
	-Wl,-rpath,"$(dirname "$library")" || exit 2
echo "nanoseconds of 1, 2, 4 and 8 threads"
./ask
status=$?
[ $status -le 1 ] || exit 2
exit $status
