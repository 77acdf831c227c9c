/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Arrays of a program under gpumem-run, for tests/tool_run.sh,
 * tests/tool_run_limit.sh and tests/tool_run_record.sh: its argument says which
 * case. Over the double of NVIDIA's driver.
 */
#include "cases.h"
#include "pool.h"

#include <pthread.h>
#include <stdio.h>

enum {
	UINT8 = 1,
	HALF = 0x10,
	FLOAT = 0x20,
	NV12 = 0xb0,
	LAYERED = 1,
	CUBEMAP = 4,
	SPARSE = 0x40,
	DEFERRED = 0x80,
	INVALID = 1,
	NO_MEMORY = 2,
	INVALID_HANDLE = 400
};

#define LIMIT (64 * MIB)

/* As cuda.h has them. */
struct flat {
	size_t width, height;
	unsigned format, channels;
};
struct about {
	size_t width, height, depth;
	unsigned format, channels, flags;
};

static void *context;

static void *flat(size_t width, size_t height, unsigned format,
		  unsigned channels)
{
	const struct flat about = {width, height, format, channels};
	void *array;

	OK(cu.cuArrayCreate_v2(&array, &about));
	return array;
}

static void *array(struct about about)
{
	void *made;

	OK(cu.cuArray3DCreate_v2(&made, &about));
	return made;
}

static void *mipmapped(struct about about, unsigned levels)
{
	void *made;

	OK(cu.cuMipmappedArrayCreate(&made, &about, levels));
	return made;
}

/* 831058 bytes at once, of 7. */
static void sizes(void)
{
	void *arrays[] = {
		flat(1000, 0, UINT8, 1),		       /* 1000 */
		flat(256, 128, FLOAT, 4),		       /* 524288 */
		array((struct about){64, 32, 16, HALF, 2, 0}), /* 131072 */
		array((struct about){64, 64, 6, UINT8, 4,
				     LAYERED})}; /* 98304 */
	void *mipmaps[] = {
		/* 74924, for there are no more than 7 levels */
		mipmapped((struct about){64, 32, 8, FLOAT, 1, 0}, 100),
		/* 64 * (16 + 4 + 1) == 1344: layers are as many at each level
		 */
		mipmapped((struct about){4, 4, 64, UINT8, 1, LAYERED}, 9),
		/* 6 * 21 == 126: so are the sides of a cube */
		mipmapped((struct about){4, 4, 6, UINT8, 1, CUBEMAP}, 9)};

	TRUE(cu.cuArrayDestroy(mipmaps[0]) == INVALID_HANDLE);
	for (int i = 0; i < 4; i++)
		OK(cu.cuArrayDestroy(arrays[i]));
	for (int i = 0; i < 3; i++)
		OK(cu.cuMipmappedArrayDestroy(mipmaps[i]));
}

/* 2 fail, 1 ends with its context, 4 have no memory, and 2 are live. */
static void ends(void)
{
	const struct flat huge = {(size_t)1 << 40, 4, FLOAT, 4},
			  empty = {0, 1, FLOAT, 1};
	void *other, *none;

	TRUE(cu.cuArrayCreate_v2(&none, &huge) == NO_MEMORY);
	TRUE(cu.cuArrayCreate_v2(&none, &empty) == INVALID);
	TRUE(cu.cuArrayCreate_v2(&none, NULL) == INVALID);
	OK(cu.cuCtxCreate_v2(&other, 0, 0));
	(void)flat(3000, 1, UINT8, 1);
	OK(cu.cuCtxDestroy_v2(other));
	OK(cu.cuCtxSetCurrent(context));
	for (int i = 0; i < 4; i++)
		OK(cu.cuArrayDestroy(
			array((struct about){64, 64, 1, i / 2 ? NV12 : UINT8, 1,
					     i % 2 ? DEFERRED : SPARSE})));
	(void)flat(1024, 1, UINT8, 1);
	(void)flat(1024, 1, UINT8, 1);
}

/* Nothing is known of the size of this format. */
static void unknown(void)
{
	OK(cu.cuArrayDestroy(flat(1024, 1, NV12, 3)));
}

static bool refuses(size_t width)
{
	const struct flat about = {width, 0, UINT8, 1};
	const struct about same = {width, 0, 0, UINT8, 1, 0};
	void *none;

	return cu.cuArrayCreate_v2(&none, &about) == NO_MEMORY &&
	       cu.cuArray3DCreate_v2(&none, &same) == NO_MEMORY &&
	       cu.cuMipmappedArrayCreate(&none, &same, 1) == NO_MEMORY;
}

/* 12 are refused. */
static void limited(void)
{
	const struct about huge = {SIZE_MAX, SIZE_MAX, 4, FLOAT, 4, 0};
	void *all, *none;
	address block;
	size_t left, total;

	TRUE(refuses(LIMIT + 1)); /* 3 */
	TRUE(cu.cuArray3DCreate_v2(&none, &huge) == NO_MEMORY);
	TRUE(cu.cuArrayCreate_v2(NULL, &huge) == INVALID);
	all = flat(4096, 1024, FLOAT, 4);
	TRUE(refuses(1)); /* 3 */
	TRUE(cu.cuMemAlloc_v2(&block, 1) == NO_MEMORY);
	OK(cu.cuMemGetInfo_v2(&left, &total));
	TRUE(left == 0 && total == LIMIT);
	OK(cu.cuArrayDestroy(all));
	release(alloc(LIMIT)); /* what is kept goes back */
	all = mipmapped((struct about){4096, 1024, 0, FLOAT, 4, 0}, 1);
	TRUE(refuses(1)); /* 3 */
	OK(cu.cuMipmappedArrayDestroy(all));
	OK(cu.cuMemAlloc_v2(&block, LIMIT - 5));
	(void)flat(5, 0, UINT8, 1);
	TRUE(cu.cuMemAlloc_v2(&block, 1) == NO_MEMORY);
}

/* Of 64 MiB that the device has: what is kept goes back. */
static void full(void)
{
	release(alloc(48 * MIB));
	OK(cu.cuArrayDestroy(flat(4096, 768, FLOAT, 4)));
	release(alloc(48 * MIB));
	OK(cu.cuMipmappedArrayDestroy(
		mipmapped((struct about){4096, 768, 0, FLOAT, 4, 0}, 1)));
}

/* What is being given back is there until the driver has it: arrays, and
 * handles, of which two fit at once. */
static void *churn(void *number)
{
	const struct prop prop = {1, 0, 1, 0, NULL, {0}};
	const struct flat half = {2048, 1024, FLOAT, 4};
	struct fakecuda_held held;
	address handle;
	void *made;

	OK(cu.cuCtxSetCurrent(context));
	for (int i = 0; i < 100; i++) {
		bool array = (i + (uintptr_t)number) % 2;
		int code = array ? cu.cuArrayCreate_v2(&made, &half)
				 : cu.cuMemCreate(&handle, LIMIT / 2, &prop, 0);

		cu.audit(&held);
		TRUE(held.used_bytes <= LIMIT);
		if (code == 0)
			OK(array ? cu.cuArrayDestroy(made)
				 : cu.cuMemRelease(handle));
	}
	return NULL;
}

static void threads(void)
{
	pthread_t threads[8];

	for (uintptr_t i = 0; i < 8; i++)
		TRUE(!pthread_create(&threads[i], NULL, churn, (void *)i));
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	static const struct run_case cases[] = {
		{"sizes", sizes},     {"ends", ends}, {"unknown", unknown},
		{"limited", limited}, {"full", full}, {"threads", threads}};

	context = begin();
	if (!RUN_CASE(cases, argv[1]))
		return 2;
	printf("done\n");
	return 0;
}
