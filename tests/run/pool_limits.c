/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Cases of pool_cases: how much is kept, and that a full device has it back.
 * Not what the driver's functions answer, which is in pool_answers.c.
 */
#include "pool_cases.h"

enum { NO_MEMORY = 2 };

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
	/* A program may ask for one of the two numbers. */
	OK(cu.cuMemGetInfo_v2(&one, NULL));
	TRUE(one == after);
	OK(cu.cuMemGetInfo_v2(NULL, &one));
	TRUE(one == total);
	OK(cu.cuMemGetInfo_v2(NULL, NULL));
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
