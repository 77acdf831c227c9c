/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A program for run_sanitizer.sh that writes where it should not. Its argument
 * says where:
 *
 * - clean: nowhere.
 * - past: behind its block.
 * - kept: behind its block, which is smaller than one that it freed before, so
 *   that a pool could make the block of that one.
 * - freed: to a block that it has freed.
 *
 * It has the runtime that nvcc links. What it prints depends on no address.
 */
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

enum { COUNT = 256, LARGER = COUNT + 4 };

__global__ void write(int *to, int at)
{
	to[at] = at;
}

static void check(const char *what, cudaError_t error)
{
	if (error != cudaSuccess)
		printf("%s: %s\n", what, cudaGetErrorString(error));
}

static int *allocate(int count)
{
	int *block = NULL;

	check("malloc", cudaMalloc(&block, count * sizeof(int)));
	return block;
}

static void write_to(int *block, int at)
{
	write<<<1, 1>>>(block, at);
	check("write", cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "clean";
	int *block;

	if (!strcmp(how, "kept")) {
		block = allocate(LARGER);
		write_to(block, LARGER - 1);
		check("free", cudaFree(block));
	}
	block = allocate(COUNT);
	write_to(block, COUNT - 1);
	if (!strcmp(how, "past") || !strcmp(how, "kept"))
		write_to(block, COUNT);
	check("free", cudaFree(block));
	if (!strcmp(how, "freed"))
		write_to(block, 0);
	printf("%s\n", how);
	return 0;
}
