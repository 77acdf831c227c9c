/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Cases of the program limit: what calls of one thread meet, each function that
 * allocates, those that fail, what is kept, and a second device. Not threads,
 * which are in limit_threads.c.
 */
#include "limit.h"

#include <dlfcn.h>

/* Each function that allocates, at the limit and one byte above it. */
void kinds(void)
{
	struct prop prop = {1, 0, 1, 0, NULL, {0}};
	address a, b, c, d, nothing = 1;
	size_t pitch;

	see(LIMIT);
	TRUE(cu.cuMemAlloc_v2(&a, LIMIT + 1) == NO_MEMORY);
	TRUE(cu.cuMemAlloc_v2(&a, SIZE_MAX) == NO_MEMORY);
	TRUE(cu.cuMemAlloc_v2(NULL, LIMIT + 1) == INVALID);
	TRUE(given() == 0);
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
	TRUE(cu.cuMemAlloc_v2(&b, 1) == NO_MEMORY);
	TRUE(cu.cuMemAllocManaged(&b, 1, 1) == NO_MEMORY);
	TRUE(cu.cuMemAllocAsync(&b, 1, NULL) == NO_MEMORY);
	TRUE(cu.cuMemAllocPitch_v2(&b, &pitch, 1, 1, 4) == NO_MEMORY);
	TRUE(cu.cuMemCreate(&b, 2 * MIB, &prop, 0) == NO_MEMORY);
	see(0);
	OK(cu.cuMemFree_v2(a));
	see(LIMIT);
	OK(cu.cuMemAllocManaged(&a, 16 * MIB, 1));
	OK(cu.cuMemAllocAsync(&b, 16 * MIB, NULL));
	OK(cu.cuMemAllocPitch_v2(&c, &pitch, 1000, 16384, 4));
	OK(cu.cuMemCreate(&d, 16 * MIB, &prop, 0));
	see(0);
	TRUE(cu.cuMemAllocPitch_v2(&a, &pitch, SIZE_MAX, 2, 4) == NO_MEMORY);
	/* Of 0 bytes there is no block. */
	OK(cu.cuMemAllocAsync(&nothing, 0, NULL));
	TRUE(!nothing);
	OK(cu.cuMemFreeAsync(nothing, NULL));
	OK(cu.cuMemFree_v2(a));
	OK(cu.cuMemFreeAsync(b, NULL));
	OK(cu.cuMemFree_v2(c));
	OK(cu.cuMemRelease(d));
	see(LIMIT);
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
}

/* A program's own pool of stream-ordered memory, which may end before what is
 * of it. */
void pools(void)
{
	struct {
		int type, handles, location, id;
		void *windows;
		unsigned char rest[64];
	} prop = {1, 0, 1, 0, NULL, {0}};
	address a, b;
	void *pool;

	OK(cu.cuMemPoolCreate(&pool, &prop));
	OK(cu.cuMemAllocFromPoolAsync(&a, LIMIT - MIB, pool, NULL));
	TRUE(cu.cuMemAllocFromPoolAsync(&b, 2 * MIB, pool, NULL) == NO_MEMORY);
	TRUE(cu.cuMemAllocAsync(&b, 2 * MIB, NULL) == NO_MEMORY);
	see(MIB);
	OK(cu.cuMemPoolDestroy(pool));
	see(MIB);
	OK(cu.cuMemFreeAsync(a, NULL));
	OK(cu.cuStreamSynchronize(NULL));
	see(LIMIT);
	TRUE(given() == 0);
}

/* What the driver refuses, or frees at another time, is not counted for ever.
 */
void failures(void)
{
	void *other;
	address a;

	for (int i = 0; i < 100; i++) {
		TRUE(cu.fault("cuMemAlloc", 1, false, INVALID));
		TRUE(cu.cuMemAlloc_v2(&a, LIMIT) == INVALID);
		cu.heal();
	}
	TRUE(cu.cuMemAlloc_v2(&a, 0) == INVALID);
	TRUE(cu.cuMemFree_v2(12345) == INVALID);
	see(LIMIT);
	OK(cu.cuCtxCreate_v2(&other, 0, 0));
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
	OK(cu.cuCtxDestroy_v2(other));
	OK(cu.cuCtxSetCurrent(context));
	see(LIMIT);
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
	TRUE(cu.fault("cuMemFree", 1, true, INVALID));
	(void)cu.cuCtxSetCurrent(context);
	OK(cu.cuIpcGetMemHandle((char[64]){0}, a)); /* and so it is not kept */
	TRUE(cu.cuMemFree_v2(a) == INVALID);
	TRUE(cu.cuMemAlloc_v2(&a, 1) == NO_MEMORY);
	cu.heal();
}

/* What is kept goes before a call is refused; no more than it has to. */
void kept(void)
{
	address blocks[8], large;
	struct whole whole;

	for (int i = 0; i < 8; i++)
		blocks[i] = alloc(8 * MIB);
	for (int i = 0; i < 8; i++)
		release(blocks[i]);
	see(LIMIT);
	TRUE(given() > 0);
	large = alloc(48 * MIB);
	see(16 * MIB);
	TRUE(given() == LIMIT);
	release(large);
	OK(cu.cuMemAllocManaged(&large, LIMIT, 1));
	TRUE(given() == LIMIT);
	OK(cu.cuMemFree_v2(large));
	for (int i = 0; i < 20; i++) {
		whole = whole_new(32 * MIB);
		see(32 * MIB);
		whole_end(whole);
		see(LIMIT);
	}
	OK(cu.cuMemAlloc_v2(&large, LIMIT));
	TRUE(given() == LIMIT);
	see(0);
}

/* A handle is there until it is released as often as the program got it. */
void retained(void)
{
	struct whole whole = whole_new(32 * MIB);
	address other;

	OK(cu.cuMemRetainAllocationHandle(&other, whole.block));
	OK(cu.cuMemRelease(other));
	see(32 * MIB);
	OK(cu.cuMemRetainAllocationHandle(&other, whole.block));
	OK(cu.cuMemRelease(whole.handle));
	OK(cu.cuMemUnmap(whole.block, whole.bytes));
	see(32 * MIB);
	TRUE(given() == 32 * MIB);
	OK(cu.cuMemRelease(other));
	see(LIMIT);
	OK(cu.cuMemAddressFree(whole.block, whole.bytes));
	TRUE(given() == 0);
}

/* A device has a limit of its own. */
void devices(void)
{
	size_t bytes = 0;
	address a;
	void *second;
	int (*total)(size_t *, int);

	*(void **)&total =
		dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuDeviceTotalMem_v2");
	OK(total(&bytes, 1));
	TRUE(bytes == LIMIT);
	TRUE(total(&bytes, 99) != 0);
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
	OK(cu.cuDevicePrimaryCtxRetain(&second, 1));
	OK(cu.cuCtxSetCurrent(second));
	see(LIMIT);
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
	TRUE(cu.cuMemAlloc_v2(&a, 1) == NO_MEMORY);
}
