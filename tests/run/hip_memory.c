/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the program hip does with memory of one device, kind by kind. Its
 * figures are in tests/tool_run_hip.sh. Not devices, processes, nor NVIDIA's
 * driver beside it, which are in hip.c.
 */
#include "hip.h"

#include <stdio.h>

struct pitched {
	void *address;
	size_t pitch, width, height;
};

struct extent {
	size_t width, height, depth;
};

void *alloc(size_t bytes)
{
	void *block = NULL;

	CALL(hipMalloc, (void **, size_t), (&block, bytes));
	return block;
}

void release(void *block)
{
	CALL(hipFree, (void *), (block));
}

/* 5000 bytes, and rows of a multiple of 256: 2048 + 1024 + 1536. */
static void make_rows(void *blocks_out[4])
{
	struct pitched rows = {NULL};
	size_t pitch;

	CALL(hipExtMallocWithFlags, (void **, size_t, unsigned),
	     (&blocks_out[0], 5000, 1));
	CALL(hipMallocPitch, (void **, size_t *, size_t, size_t),
	     (&blocks_out[1], &pitch, 100, 8));
	CALL(hipMemAllocPitch, (void **, size_t *, size_t, size_t, unsigned),
	     (&blocks_out[2], &pitch, 300, 2, 4));
	CALL(hipMalloc3D, (struct pitched *, struct extent),
	     (&rows, (struct extent){100, 3, 2}));
	blocks_out[3] = rows.address;
}

void use_rows(void)
{
	void *blocks[4];

	make_rows(blocks);
}

void use_memory(void)
{
	void *a = alloc(1 << 20), *b = alloc(3 << 20), *rows[4];

	release(a);
	release(b);
	make_rows(rows);
	for (int i = 0; i < 4; i++)
		release(rows[i]);
	release(NULL);
	CALL(hipFree, (void *), ((void *)12345));
	CALL(hipMalloc, (void **, size_t), (&a, (size_t)1 << 50));
	CALL(hipMalloc, (void **, size_t), (&a, 0));
	CALL(hipMalloc, (void **, size_t), (NULL, 100));
}

void use_host(void)
{
	static char own[8192] __attribute__((aligned(4096)));
	void *a, *b, *c, *d, *e, *managed;

	CALL(hipHostMalloc, (void **, size_t, unsigned), (&a, 1000, 0));
	CALL(hipHostAlloc, (void **, size_t, unsigned), (&b, 2000, 0));
	CALL(hipExtHostAlloc, (void **, size_t, unsigned), (&c, 4000, 0));
	CALL(hipMallocHost, (void **, size_t), (&d, 8000));
	CALL(hipMemAllocHost, (void **, size_t), (&e, 16000));
	CALL(hipHostRegister, (void *, size_t, unsigned), (own, 8192, 0));
	CALL(hipMallocManaged, (void **, size_t, unsigned),
	     (&managed, 5000, 1));
	CALL(hipHostFree, (void *), (a));
	CALL(hipFreeHost, (void *), (b));
	CALL(hipHostFree, (void *), (c));
	CALL(hipHostFree, (void *), (d));
	CALL(hipFree, (void *), (e));
	CALL(hipHostUnregister, (void *), (own));
	release(managed);
}

void use_async(void)
{
	void *a = NULL, *b = NULL;

	CALL(hipMallocAsync, (void **, size_t, void *), (&a, 4096, NULL));
	CALL(hipMallocFromPoolAsync, (void **, size_t, void *, void *),
	     (&b, 8192, NULL, NULL));
	CALL(hipFreeAsync, (void *, void *), (a, NULL));
	release(b);
}

/* Numbers for streams: 0 and 1 are the legacy one, 2 is each thread's. */
void use_streams(void)
{
	void *blocks[4],
		*streams[4] = {(void *)2, NULL, (void *)4096, (void *)1};

	for (size_t i = 0; i < 4; i++)
		CALL(hipMallocAsync, (void **, size_t, void *),
		     (&blocks[i], (i + 1) * 4096, streams[i]));
	for (size_t i = 0; i < 3; i++)
		CALL(hipFreeAsync, (void *, void *),
		     (blocks[i], streams[i + 1]));
	release(blocks[3]);
}

/* A handle that is released while it is mapped, and asked for once more: the
 * last release is its end. */
void use_virtual(void)
{
	int prop[8] = {1, 0, 1, 0};
	void *handle = NULL, *again = NULL, *range = NULL;
	size_t bytes = 2 << 20;

	CALL(hipMemCreate, (void **, size_t, const int *, unsigned long long),
	     (&handle, bytes, prop, 0));
	CALL(hipMemAddressReserve,
	     (void **, size_t, size_t, void *, unsigned long long),
	     (&range, bytes, 0, NULL, 0));
	CALL(hipMemMap, (void *, size_t, size_t, void *, unsigned long long),
	     (range, bytes, 0, handle, 0));
	CALL(hipMemRetainAllocationHandle, (void **, void *), (&again, range));
	CALL(hipMemRelease, (void *), (handle));
	CALL(hipMemUnmap, (void *, size_t), (range, bytes));
	/* It is there as long as this is not: a sum that shows it. */
	release(alloc(1 << 20));
	CALL(hipMemRelease, (void *), (again));
	CALL(hipMemAddressFree, (void *, size_t), (range, bytes));
}

/* What AMD's runtime over NVIDIA's driver has, too. */
void use_plain(void)
{
	void *a = alloc(1 << 20), *b = alloc(3 << 20), *host = NULL;
	void *managed = NULL;
	size_t free_bytes = 0, total_bytes = 0;

	CALL(hipHostMalloc, (void **, size_t, unsigned), (&host, 1000, 0));
	CALL(hipMallocManaged, (void **, size_t, unsigned),
	     (&managed, 5000, 1));
	CALL(hipMalloc, (void **, size_t), (&a, (size_t)1 << 50));
	CALL(hipMemGetInfo, (size_t *, size_t *), (&free_bytes, &total_bytes));
	printf("%zu of %zu\n", free_bytes >> 20, total_bytes >> 20);
	release(b);
	release(managed);
	CALL(hipHostFree, (void *), (host));
}
