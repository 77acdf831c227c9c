/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Cases of pool_cases: programs which make the calls around memory by
 * cuMemCreate() in another way than the one for which it is kept. They see the
 * driver. When it is handed out again is in pool_wholes.c.
 */
#include "pool_cases.h"

enum { INVALID = 1 };

/* What others may know of goes to the driver, and so does what is mapped or
 * seen in another way. */
static void expose(int how, struct whole *whole)
{
	struct access access = {1, 0, 3};
	char value[16] = {0};
	address other;
	size_t bytes;
	int fd;

	switch (how) {
	case 0:
		OK(cu.cuMemRetainAllocationHandle(&other, whole->block + 4096));
		OK(cu.cuMemRelease(other));
		break;
	case 1:
		TRUE(cu.cuMemExportToShareableHandle(&fd, whole->handle, 1, 0));
		break;
	case 2:
		OK(cu.cuMemGetAddressRange_v2(&other, &bytes, whole->block));
		break;
	case 3:
		OK(cu.cuPointerGetAttribute(value, 12, whole->block + 7));
		break;
	case 4:
		OK(cu.cuMemAddressReserve(&other, WHOLE_BYTES, 0, 0, 0));
		OK(cu.cuMemMap(other, WHOLE_BYTES, 0, whole->handle, 0));
		OK(cu.cuMemUnmap(other, WHOLE_BYTES));
		OK(cu.cuMemAddressFree(other, WHOLE_BYTES));
		break;
	case 5:
		OK(cu.cuMemSetAccess(whole->block, WHOLE_BYTES, &access, 1));
		break;
	case 6:
		OK(cu.cuPointerSetAttribute(value, 6, whole->block));
		break;
	}
}

void whole_known(void)
{
	learn_wholes();
	for (int how = 0; how < 7; how++) {
		struct whole whole = whole_new(WHOLE_BYTES);

		expose(how, &whole);
		whole_end(whole);
		held(0, 0, 0);
	}
	whole_end(whole_new(WHOLE_BYTES));
	held(1, 1, 1);
}

/* With one that is kept: a program that begins as if it wanted it again, and
 * goes on otherwise, has what it would have had. */
static void begin_otherwise(int how)
{
	struct prop prop = {1, 0, 1, 0, NULL, {0}};
	struct access access = {1, 0, 3}, none = {1, 1, 3};
	address handle, range, other;
	size_t free_bytes, total;

	OK(cu.cuMemCreate(&handle, WHOLE_BYTES, &prop, 0));
	if (how == 0) {
		OK(cu.cuMemGetInfo_v2(&free_bytes, &total));
		held(1, 0, 0);
		return;
	}
	if (how == 1) {
		OK(cu.cuMemAddressReserve(&range, 2 * WHOLE_BYTES, 2 * MIB, 0,
					  0));
		held(1, 0, 1);
		return;
	}
	OK(cu.cuMemAddressReserve(&range, WHOLE_BYTES, 2 * MIB, 0, 0));
	if (how == 2) {
		OK(cu.cuMemCreate(&other, WHOLE_BYTES, &prop, 0));
		held(2, 0, 1);
		OK(cu.cuMemMap(range, WHOLE_BYTES, 0, other, 0));
		held(2, 1, 1);
		return;
	}
	OK(cu.cuMemMap(range, WHOLE_BYTES, 0, handle, 0));
	if (how == 3) {
		TRUE(cu.cuMemsetD8Async(range, 0, 1, NULL) == 0);
		OK(cu.cuMemSetAccess(range, WHOLE_BYTES, &none, 1));
		/* It has none of its own device. */
		TRUE(cu.cuMemsetD8Async(range, 0, 1, NULL) == INVALID);
		held(1, 1, 1);
		return;
	}
	if (how == 4) {
		OK(cu.cuMemUnmap(range, WHOLE_BYTES));
		held(1, 0, 1);
		return;
	}
	OK(cu.cuMemSetAccess(range, WHOLE_BYTES, &access, 1));
	OK(cu.cuMemRelease(handle));
	held(0, 1, 1);
	OK(cu.cuMemUnmap(range, WHOLE_BYTES));
	OK(cu.cuMemAddressFree(range, WHOLE_BYTES));
	held(0, 0, 0);
}

void whole_otherwise(void)
{
	keep_whole();
	begin_otherwise(other[0] - '0');
}

/* The same of one that is taken apart. */
static void end_otherwise(int how, struct whole a)
{
	struct access access = {1, 0, 3};
	address other;

	OK(cu.cuMemUnmap(a.block, WHOLE_BYTES));
	if (how == 0) {
		OK(cu.cuMemMap(a.block, WHOLE_BYTES, 0, a.handle, 0));
		TRUE(cu.cuMemsetD8Async(a.block, 0, 1, NULL) == INVALID);
		OK(cu.cuMemSetAccess(a.block, WHOLE_BYTES, &access, 1));
		OK(cu.cuMemsetD8Async(a.block, 0, 1, NULL));
		held(1, 1, 1);
		return;
	}
	if (how == 1) {
		OK(cu.cuMemAddressFree(a.block, WHOLE_BYTES));
		held(1, 0, 0);
		OK(cu.cuMemRelease(a.handle));
		held(0, 0, 0);
		return;
	}
	if (how == 2) {
		OK(cu.cuMemAddressReserve(&other, WHOLE_BYTES, 0, 0, 0));
		held(1, 0, 2);
		return;
	}
	OK(cu.cuMemRelease(a.handle));
	if (how == 3) {
		TRUE(cu.cuMemMap(a.block, WHOLE_BYTES, 0, a.handle, 0) ==
		     INVALID);
		held(0, 0, 1);
	} else {
		alloc(MIB);
		held(0, 0, 1);
		OK(cu.cuMemAddressFree(a.block, WHOLE_BYTES));
		held(0, 0, 0);
	}
}

void whole_apart(void)
{
	learn_wholes();
	end_otherwise(other[0] - '0', whole_new(WHOLE_BYTES));
}

/* Memory that is released while its addresses stay is wanted by others: it is
 * gone, and nothing is kept from then on. */
void whole_sleep(void)
{
	struct whole a = whole_new(WHOLE_BYTES), b = whole_new(WHOLE_BYTES);

	OK(cu.cuMemUnmap(a.block, WHOLE_BYTES));
	OK(cu.cuMemRelease(a.handle));
	held(1, 1, 2);
	OK(cu.cuMemUnmap(b.block, WHOLE_BYTES));
	OK(cu.cuMemRelease(b.handle));
	held(0, 0, 2);
	OK(cu.cuMemAddressFree(a.block, WHOLE_BYTES));
	OK(cu.cuMemAddressFree(b.block, WHOLE_BYTES));
	learn_wholes();
	learn_wholes();
}

/* Handles inside of a large range, as of segments that grow. */
void whole_parts(void)
{
	struct prop prop = {1, 0, 1, 0, NULL, {0}};
	struct access access = {1, 0, 3};
	address range, handles[8];
	uint64_t calls;

	learn_wholes();
	calls = whole_calls();
	OK(cu.cuMemAddressReserve(&range, 8 * WHOLE_BYTES, 0, 0, 0));
	for (int i = 0; i < 8; i++) {
		OK(cu.cuMemCreate(&handles[i], WHOLE_BYTES, &prop, 0));
		OK(cu.cuMemMap(range + i * WHOLE_BYTES, WHOLE_BYTES, 0,
			       handles[i], 0));
		OK(cu.cuMemSetAccess(range + i * WHOLE_BYTES, WHOLE_BYTES,
				     &access, 1));
	}
	for (int i = 0; i < 8; i += 2) {
		OK(cu.cuMemUnmap(range + i * WHOLE_BYTES, WHOLE_BYTES));
		OK(cu.cuMemRelease(handles[i]));
	}
	held(4, 4, 1);
	TRUE(whole_calls() == calls + 1 + 8 * 3 + 4 * 2);
}

void whole_misuse(void)
{
	struct access access = {1, 0, 3};
	struct whole a = keep_whole();

	TRUE(cu.cuMemUnmap(a.block, WHOLE_BYTES) == INVALID);
	TRUE(cu.cuMemRelease(a.handle) == INVALID);
	TRUE(cu.cuMemAddressFree(a.block, WHOLE_BYTES) == INVALID);
	TRUE(cu.cuMemMap(a.block, WHOLE_BYTES, 0, a.handle, 0) == INVALID);
	TRUE(cu.cuMemSetAccess(a.block, WHOLE_BYTES, &access, 1) == INVALID);
	TRUE(cu.cuMemExportToShareableHandle(&a, a.handle, 1, 0) == INVALID);
	TRUE(cu.cuMemRetainAllocationHandle(&a.handle, a.block) == INVALID);
	TRUE(cu.cuMemFree_v2(a.block) == INVALID);
	TRUE(cu.cuMemCreate(NULL, WHOLE_BYTES, NULL, 0) == INVALID);
	held(1, 1, 1);
}
