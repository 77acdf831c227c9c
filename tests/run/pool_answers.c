/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Cases of pool_cases: what NVIDIA's driver answers of memory that is kept, to
 * right calls, wrong ones and those that fail. Not how much is kept, which is
 * in pool_limits.c.
 */
#define _GNU_SOURCE
#include "pool_cases.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { INVALID = 1, NOT_FOUND = 500, NOT_SUPPORTED = 801 };

/* ---- what others know ------------------------------------------------------
 */

void known(void)
{
	char handle[64], value[16] = {0};
	int harmless[] = {1, 2, 3, 8, 9}, telling[] = {2, 12};
	void *values[5] = {handle, handle + 8, handle + 16, handle + 24,
			   handle + 32};
	address a = alloc(MIB), base;
	size_t bytes;

	OK(cu.cuIpcGetMemHandle(handle, a));
	goes(a);
	a = alloc(MIB);
	OK(cu.cuMemGetAddressRange_v2(&base, &bytes, a + 4096));
	TRUE(base == a && bytes == MIB);
	goes(a);
	a = alloc(MIB);
	OK(cu.cuMemGetAddressRange_v2(NULL, NULL, a));
	stays(a);
	a = alloc(MIB);
	(void)cu.cuPointerGetAttribute(value, 7, a);
	goes(a);
	a = alloc(MIB);
	OK(cu.cuPointerGetAttribute(value, 11, a + 7));
	goes(a);
	a = alloc(MIB);
	OK(cu.cuPointerSetAttribute(value, 6, a));
	goes(a);
	a = alloc(MIB);
	OK(cu.cuPointerGetAttributes(2, telling, values, a));
	goes(a);
	a = alloc(MIB);
	for (int i = 0; i < 5; i++)
		OK(cu.cuPointerGetAttribute(value, harmless[i], a));
	OK(cu.cuPointerGetAttributes(5, harmless, values, a));
	stays(a);
	/* Of a freed one nobody learns anything. */
	TRUE(cu.cuIpcGetMemHandle(handle, a) == INVALID);
	TRUE(cu.cuMemGetAddressRange_v2(&base, &bytes, a) == NOT_FOUND);
	TRUE(cu.cuMemGetAddressRange_v2(&base, NULL, a) == NOT_FOUND);
	OK(cu.cuMemGetAddressRange_v2(NULL, NULL, a));
	TRUE(alloc(MIB) == a);
	stays(a);
}

/* Whether devices then have it is the driver's to say: those of the double have
 * not. */
void known_to_devices(void)
{
	address a = alloc(MIB);

	TRUE(cu.cuMulticastBindAddr(1, 2, a, MIB, 3) == NOT_SUPPORTED);
	goes(a);
	TRUE(cu.cuMulticastBindAddr(1, 2, a, MIB, 3) == NOT_SUPPORTED);
	a = alloc(MIB);
	TRUE(cu.cuMulticastBindAddr_v2(1, 0, 2, a, MIB, 3) == NOT_SUPPORTED);
	goes(a);
	a = alloc(MIB);
	TRUE(cu.cuLogicalEndpointBindAddr(1, 0, 2, a, MIB, 3) == NOT_SUPPORTED);
	goes(a);
	a = alloc(MIB);
	stays(a);
	TRUE(cu.cuMulticastBindAddr(1, 2, a, MIB, 3) == INVALID);
	TRUE(cu.cuMulticastBindAddr_v2(1, 0, 2, a, MIB, 3) == INVALID);
	TRUE(cu.cuLogicalEndpointBindAddr(1, 0, 2, a, MIB, 3) == INVALID);
}

/* What is managed is said to be, and nothing else. */
void managed(void)
{
	address blocks[2] = {alloc(MIB)};
	int is_managed = 8;

	release(blocks[0]);
	TRUE(alloc(MIB) == blocks[0]);
	OK(cu.cuMemAllocManaged(&blocks[1], MIB, 1));
	for (int i = 0; i < 2; i++) {
		int one = !i, many = !i; /* the driver writes all of them */
		void *values[] = {&many};

		OK(cu.cuPointerGetAttribute(&one, is_managed, blocks[i]));
		OK(cu.cuPointerGetAttributes(1, &is_managed, values,
					     blocks[i]));
		TRUE(one == i && many == i);
	}
}

/* A block that is larger than the request passes for one of its size. */
void sizes(void)
{
	size_t bytes, pitch;
	address a = alloc(8 * MIB), b = alloc(64 * MIB), base;

	release(a);
	release(b);
	TRUE(alloc(8 * MIB - 100000) == a);
	OK(cu.cuMemGetAddressRange_v2(NULL, &bytes, a));
	TRUE(bytes == 8 * MIB - 100000);
	TRUE(alloc(61 * MIB) == b);
	OK(cu.cuPointerGetAttribute(&bytes, 12, b));
	TRUE(bytes == 61 * MIB);
	a = alloc(64 * MIB);
	release(a);
	TRUE(alloc(58 * MIB) != a); /* too much would be lost */
	TRUE(alloc(64 * MIB + 1) != a);
	/* The smallest that fits. */
	a = alloc(100 * MIB);
	b = alloc(98 * MIB);
	release(a);
	release(b);
	TRUE(alloc(97 * MIB) == b);
	release(b);
	TRUE(alloc(97 * MIB) == b);
	TRUE(alloc(100 * MIB) == a);
	release(b);
	release(a);
	TRUE(alloc(97 * MIB) == b);
	/* Small ones share pages, in which a large one has no place. */
	a = alloc(MIB + 1);
	release(a);
	TRUE(alloc(MIB) != a);
	OK(cu.cuMemAllocPitch_v2(&base, &pitch, 1000, 1000, 4));
	goes(base);
}

/* ---- wrong calls -----------------------------------------------------------
 */

void misuse(void)
{
	address a = alloc(2 * MIB), b = 0;

	OK(cu.cuMemFree_v2(0));
	TRUE(cu.cuMemFree_v2(a + 512) == INVALID);
	TRUE(cu.cuMemFree_v2(12345) == INVALID);
	release(a);
	TRUE(cu.cuMemFree_v2(a) == INVALID);
	TRUE(cu.cuMemFreeAsync(a, NULL) == INVALID);
	TRUE(cu.cuMemAlloc_v2(NULL, 2 * MIB) == INVALID);
	TRUE(cu.cuMemAlloc_v2(&b, 0) == INVALID);
	TRUE(alloc(2 * MIB) == a);
	/* Managed memory is not kept. */
	OK(cu.cuMemAllocManaged(&b, MIB, 1));
	goes(b);
}

/* Prints what a program sees, to be compared with a run without. */
void lost(void)
{
	address a = alloc(MIB), b = alloc(MIB);

	release(a);
	cu.lose(0, 700);
	printf("alloc %d\n", cu.cuMemAlloc_v2(&a, MIB));
	printf("free %d\n", cu.cuMemFree_v2(b));
}

/* A driver that fails where it never does: then it does all itself. */
void faults(void)
{
	static const char *const calls[] = {
		"cuCtxGetCurrent",  "cuCtxGetDevice", "cuEventCreate",
		"cuEventRecord",    "cuEventQuery",   "cuStreamIsCapturing",
		"cuCtxPushCurrent", "cuStreamGetCtx"};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		void *home, *context = context_new(0), *stream;
		address a, b;

		OK(cu.cuDevicePrimaryCtxRetain(&home, 0));
		stream = stream_new(NON_BLOCKING);
		a = alloc(MIB);
		b = alloc(2 * MIB);
		release(b);
		cu.stepping(true);
		launch(stream, a);
		TRUE(cu.fault(calls[i], 1, true, 999));
		release(a);
		a = alloc(MIB);
		launch(stream, a);
		release(a);
		(void)cu.cuStreamDestroy_v2(stream_new(NON_BLOCKING));
		alloc(MIB);
		alloc(2 * MIB);
		cu.heal();
		cu.stepping(false);
		OK(cu.cuCtxDestroy_v2(context));
		OK(cu.cuCtxSetCurrent(home));
	}
}

/* Streams of this program are not all seen. */
void unknown_variant(void)
{
	void *library = dlopen(other, RTLD_NOW), *found;
	uint64_t frees = driver_frees();
	address block;
	Dl_info info;

	release(alloc(MIB));
	TRUE(driver_frees() == frees);
	TRUE(library);
	found = dlsym(library, "cuStreamCreate");
	/* That library's own, for it was asked. */
	TRUE(found && dladdr(found, &info) && !strcmp(info.dli_fname, other));
	/* What was kept goes too. */
	release(alloc(MIB));
	TRUE(driver_frees() == frees + 2);
	/* And nothing is served. */
	OK(cu.cuMemAllocAsync(&block, MIB, NULL));
	OK(cu.cuMemFreeAsync(block, NULL));
	TRUE(cu.calls("cuMemAllocAsync") == 1);
}
