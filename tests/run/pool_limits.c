/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What is kept and how much of it, and what the driver's functions answer.
 */
#define _GNU_SOURCE
#include "pool_cases.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { NO_MEMORY = 2, INVALID = 1 };

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
	TRUE(cu.cuMemGetAddressRange_v2(&base, &bytes, a) == INVALID);
	TRUE(alloc(MIB) == a);
	stays(a);
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
		bool one = !i, many = !i;
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
	/* Others that cuMemFree() takes are not kept. */
	OK(cu.cuMemAllocManaged(&b, MIB, 1));
	goes(b);
	OK(cu.cuMemAllocAsync(&b, MIB, NULL));
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

/* ---- a full device ---------------------------------------------------------
 */

/* With FAKECUDA_MEMORY=128MiB: what is kept goes back, then it is there. */
void full(void)
{
	struct {
		int type, handles, location, id;
		void *windows;
		unsigned char flags[16];
	} prop = {1, 0, 1, 0, NULL, {0}};
	address a, handle;
	size_t pitch;

	release(alloc(80 * MIB));
	a = alloc(100 * MIB);
	release(a);
	OK(cu.cuMemAllocAsync(&a, 110 * MIB, NULL));
	release(a);
	release(alloc(80 * MIB));
	OK(cu.cuMemAllocPitch_v2(&a, &pitch, 1 << 20, 100, 16));
	release(a);
	release(alloc(80 * MIB));
	OK(cu.cuMemAllocManaged(&a, 100 * MIB, 1));
	release(a);
	release(alloc(80 * MIB));
	OK(cu.cuMemCreate(&handle, 100 * MIB, &prop, 0));
	OK(cu.cuMemRelease(handle));
	TRUE(cu.cuMemAlloc_v2(&a, 200 * MIB) == NO_MEMORY);
	/* One that is in use is waited for, as cuMemFree() would have. */
	cu.stepping(true);
	a = alloc(80 * MIB);
	launch(LEGACY, a);
	release(a);
	alloc(100 * MIB);
	TRUE(!running());
}

/* What is kept is free for the program. */
void free_bytes(void)
{
	size_t before, during, after, total, one;
	address a, b;

	OK(cu.cuMemGetInfo_v2(&before, &total));
	a = alloc(50 * MIB);
	b = alloc(10 * MIB);
	OK(cu.cuMemGetInfo_v2(&during, &total));
	release(a);
	release(b);
	TRUE(!driver_frees());
	OK(cu.cuMemGetInfo_v2(&after, &total));
	TRUE(before == after && during == after - 60 * MIB);
	TRUE(cu.cuMemGetInfo_v2(NULL, &total) ==
	     cu.cuMemGetInfo_v2(&one, NULL));
}

/* ---- how much is kept ------------------------------------------------------
 */

/* No more than the program itself has had, by much. */
void bound(void)
{
	struct fakecuda_held held;

	release(alloc(400 * MIB));
	for (size_t i = 1; i < 40; i++)
		release(alloc(i * 10 * MIB));
	cu.audit(&held);
	TRUE(held.used_bytes <= 400 * MIB * 33 / 32 + 32 * MIB);
	TRUE(held.used_bytes >= 300 * MIB);
}

/* What nobody wanted for long goes back. */
void stale(void)
{
	struct fakecuda_held held;
	address a = alloc(500 * MIB);

	release(a);
	for (int i = 0; i < 4000; i++)
		release(alloc(MIB));
	TRUE(!driver_frees());
	for (int i = 0; i < 200; i++)
		release(alloc(MIB));
	TRUE(driver_frees() == 1);
	cu.audit(&held);
	TRUE(held.used_bytes <= 2 * MIB);
}

/* With FAKECUDA_MEMORY=128MiB: some is left for the driver itself. */
void tight(void)
{
	address a = alloc(100 * MIB), b = alloc(26 * MIB + 512 * 1024);

	release(a);
	TRUE(driver_frees() == 1);
	a = alloc(20 * MIB);
	release(a);
	TRUE(alloc(20 * MIB) == a);
	(void)b;
}

/* Streams without end: nothing is kept that cannot be known to be free. */
void many_streams(void)
{
	void *stream = NULL;
	address a;

	for (int i = 0; i < 1000; i++)
		stream = stream_new(NON_BLOCKING);
	cu.stepping(true);
	a = alloc(MIB);
	launch(stream, a);
	goes(a);
	TRUE(!running());
}

/* Streams of this program are not all seen. */
void unknown_variant(void)
{
	void *library = dlopen(other, RTLD_NOW), *found;
	uint64_t frees = driver_frees();
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
}
