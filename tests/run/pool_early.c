/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory by cuMemCreate() that leaves the order in which it would be kept: the
 * driver hears of it with that call, and nothing of it stays behind.
 */
#include "pool_cases.h"

#include <stdio.h>
#include <unistd.h>

enum { INVALID = 1, BYTES = 4 << 20, OTHER_BYTES = 6 << 20 };

/* Released before it is unmapped, as llama.cpp does. */
void whole_early(void)
{
	struct whole a;

	learn_wholes();
	a = whole_new(BYTES);
	OK(cu.cuMemRelease(a.handle));
	held(0, 1, 1);
	OK(cu.cuMemUnmap(a.block, BYTES));
	held(0, 0, 1);
	OK(cu.cuMemAddressFree(a.block, BYTES));
	held(0, 0, 0);
	/* Which is no reason to keep nothing of the others. */
	whole_end(whole_new(BYTES));
	held(1, 1, 1);
}

/* For a device that there is not: the driver's answer, and no figure of it. */
void whole_nowhere(void)
{
	static const int ids[] = {-1, 2, 64, 1 << 20, -2147483647 - 1};
	struct prop prop = {1, 0, 1, 0, NULL, {0}};
	address handle = 0;

	learn_wholes();
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		prop.id = ids[i];
		TRUE(cu.cuMemCreate(&handle, BYTES, &prop, 0));
		TRUE(!handle);
	}
	TRUE(cu.cuMemCreate(&handle, BYTES, NULL, 0) == INVALID);
	held(0, 0, 0);
	whole_end(whole_new(BYTES));
	held(1, 1, 1);
}

/* A handle and a range of another size, and not mapped yet. */
static struct whole apart(void)
{
	struct prop prop = {1, 0, 1, 0, NULL, {0}};
	struct whole whole = {.bytes = OTHER_BYTES};

	OK(cu.cuMemAddressReserve(&whole.block, OTHER_BYTES, 0, 0, 0));
	OK(cu.cuMemCreate(&whole.handle, OTHER_BYTES, &prop, 0));
	return whole;
}

static void map_other(struct whole whole)
{
	OK(cu.cuMemMap(whole.block, OTHER_BYTES, 0, whole.handle, 0));
}

/* cuMemMap() of another one before this one's next call: of one that is begun
 * again with each call made so far, and of one that is taken apart. */
void whole_elsewhere(void)
{
	struct prop prop = {1, 0, 1, 0, NULL, {0}};
	int calls = other[0] - '0';
	struct whole a, b;

	learn_wholes();
	b = apart();
	a = whole_new(BYTES);
	if (calls < 3) {
		whole_end(a);
		OK(cu.cuMemCreate(&a.handle, BYTES, &prop, 0));
		if (calls > 0)
			OK(cu.cuMemAddressReserve(&a.block, BYTES, 2 * MIB, 0,
						  0));
		if (calls > 1)
			OK(cu.cuMemMap(a.block, BYTES, 0, a.handle, 0));
		held(2, 1, 2);
		map_other(b);
		held(2, 1 + (calls > 1), 1 + (calls > 0));
		/* Mapped, and no device has access yet. */
		if (calls > 1)
			TRUE(cu.cuMemsetD8Async(a.block, 0, 1, NULL) ==
			     INVALID);
	} else {
		OK(cu.cuMemUnmap(a.block, BYTES));
		if (calls > 3)
			OK(cu.cuMemRelease(a.handle));
		held(2, 1, 2);
		map_other(b);
		held(1 + (calls == 3), 1, 2);
	}
}

/* ---- what stays behind ------------------------------------------------------
 */

/* Of this process, all that it has mapped and may write. */
static long data_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	TRUE(file);
	TRUE(fscanf(file, "%*d %*d %*d %*d %*d %ld", &pages) == 1);
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

static void end_early(struct whole a)
{
	OK(cu.cuMemRelease(a.handle));
	OK(cu.cuMemUnmap(a.block, a.bytes));
	OK(cu.cuMemAddressFree(a.block, a.bytes));
}

static void end_seen(struct whole a)
{
	address base;
	size_t bytes;

	OK(cu.cuMemGetAddressRange_v2(&base, &bytes, a.block));
	TRUE(base == a.block && bytes == a.bytes);
	whole_end(a);
}

static void end_early_and_seen(struct whole a)
{
	address base;
	size_t bytes;

	OK(cu.cuMemRelease(a.handle));
	OK(cu.cuMemGetAddressRange_v2(&base, &bytes, a.block));
	OK(cu.cuMemUnmap(a.block, a.bytes));
	OK(cu.cuMemAddressFree(a.block, a.bytes));
}

/* A whole is two entries of a table, which would grow by those that stay. Each
 * has another size here, and so another address, as well as another handle. */
void whole_forgotten(void)
{
	static void (*const ends[])(struct whole) = {end_early, end_seen,
						     end_early_and_seen};
	enum { TIMES = 2000, FIRST = 100 };

	learn_wholes();
	for (int i = 0; i < 3; i++) {
		long before = 0;

		for (int n = 0; n < TIMES; n++) {
			ends[i](whole_new(BYTES + n * 2 * MIB));
			if (n == FIRST)
				before = data_bytes();
		}
		held(0, 0, 0);
		TRUE(data_bytes() - before < (long)(TIMES * 64));
	}
}
