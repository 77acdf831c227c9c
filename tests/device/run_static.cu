/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A program with the runtime that nvcc links into it, for run_programs.sh: each
 * kind of memory, and one block of each is left.
 */
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(int *to, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		to[i] = i;
}

static void check(const char *what, cudaError_t error)
{
	if (error != cudaSuccess)
		printf("%s: %s\n", what, cudaGetErrorString(error));
}

int main()
{
	enum { COUNT = 1 << 20 };
	int *plain, *left, *async, *managed, *pinned, last = 0;

	check("malloc", cudaMalloc(&plain, COUNT * sizeof(int)));
	check("malloc", cudaMalloc(&left, COUNT * sizeof(int)));
	check("async", cudaMallocAsync(&async, COUNT * sizeof(int), 0));
	check("managed", cudaMallocManaged(&managed, COUNT * sizeof(int)));
	check("pinned", cudaMallocHost(&pinned, COUNT * sizeof(int)));
	for (int *to : {plain, async, managed}) {
		fill<<<COUNT / 256, 256>>>(to, COUNT);
		check("copy", cudaMemcpy(pinned, to, COUNT * sizeof(int),
					 cudaMemcpyDefault));
		last += pinned[COUNT - 1];
	}
	check("free", cudaFree(plain));
	check("free", cudaFreeAsync(async, 0));
	check("free", cudaFree(managed));
	check("free", cudaFreeHost(pinned));
	printf("%d %s\n", last, cudaGetErrorString(cudaDeviceSynchronize()));
	return 0;
}
