/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the program driver does with memory of NVIDIA's driver, kind by kind.
 * Its figures are in tests/tool_run.sh.
 */
#include "driver.h"

address alloc(size_t bytes)
{
	address block = 0;

	CALL(cuMemAlloc_v2, (address *, size_t), (&block, bytes));
	return block;
}

void release(address block)
{
	CALL(cuMemFree_v2, (address), (block));
}

static void use_memory(void)
{
	address a = alloc(1 << 20), b = alloc(3 << 20), c = 0;
	size_t pitch;

	release(a);
	CALL(cuMemAllocPitch_v2,
	     (address *, size_t *, size_t, size_t, unsigned),
	     (&c, &pitch, 100, 8, 4));
	release(b);
	release(c);
	release(0);
	CALL(cuMemFree_v2, (address), (12345));
	CALL(cuMemAlloc_v2, (address *, size_t), (&a, (size_t)1 << 50));
}

static void use_host(void)
{
	static char own[8192] __attribute__((aligned(4096)));
	address managed = 0;
	void *a = NULL, *b = NULL;

	CALL(cuMemAllocHost_v2, (void **, size_t), (&a, 1000));
	CALL(cuMemHostAlloc, (void **, size_t, unsigned), (&b, 2000, 0));
	CALL(cuMemHostRegister_v2, (void *, size_t, unsigned), (own, 8192, 0));
	CALL(cuMemAllocManaged, (address *, size_t, unsigned),
	     (&managed, 5000, 1));
	CALL(cuMemFreeHost, (void *), (a));
	CALL(cuMemHostUnregister, (void *), (own));
	CALL(cuMemFreeHost, (void *), (b));
	release(managed);
}

static void use_async(void)
{
	address a = 0, b = 0;

	CALL(cuMemAllocAsync, (address *, size_t, void *), (&a, 4096, NULL));
	CALL(cuMemAllocAsync, (address *, size_t, void *), (&b, 8192, NULL));
	CALL(cuMemFreeAsync, (address, void *), (a, NULL));
	release(b);
}

/* Released while it is mapped, as llama.cpp does. */
address map_handle(size_t bytes)
{
	struct {
		int type, handles, location, id;
		void *windows;
		unsigned char flags[16];
	} prop = {1, 0, 1, 0, NULL, {0}};
	address handle = 0, range = 0;

	CALL(cuMemCreate, (address *, size_t, const void *, unsigned long long),
	     (&handle, bytes, &prop, 0));
	CALL(cuMemAddressReserve,
	     (address *, size_t, size_t, address, unsigned long long),
	     (&range, bytes, 0, 0, 0));
	CALL(cuMemMap, (address, size_t, size_t, address, unsigned long long),
	     (range, bytes, 0, handle, 0));
	CALL(cuMemRelease, (address), (handle));
	return range;
}

static void use_virtual(void)
{
	const size_t bytes = 2 << 20;

	CALL(cuMemUnmap, (address, size_t), (map_handle(bytes), bytes));
}

/* 1000, 2000 and 3000 bytes at once. */
static void use_arrays(void)
{
	const struct {
		size_t width, height;
		unsigned format, channels;
	} flat = {1000, 0, 1, 1};
	struct {
		size_t width, height, depth;
		unsigned format, channels, flags;
	} about = {100, 20, 0, 1, 1, 0};
	void *a = NULL, *b = NULL, *c = NULL;

	CALL(cuArrayCreate_v2, (void **, const void *), (&a, &flat));
	CALL(cuArray3DCreate_v2, (void **, const void *), (&b, &about));
	about.height = 30;
	CALL(cuMipmappedArrayCreate, (void **, const void *, unsigned),
	     (&c, &about, 1));
	CALL(cuArrayDestroy, (void *), (a));
	CALL(cuArrayDestroy, (void *), (b));
	CALL(cuMipmappedArrayDestroy, (void *), (c));
}

void use_all(void)
{
	use_memory();
	use_host();
	use_async();
	use_virtual();
	use_arrays();
}
