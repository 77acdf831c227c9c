/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory by cuMemCreate() that is kept as it is mapped: when it is handed out
 * again, and that a program which makes the calls in any other way sees the
 * driver.
 */
#include "pool_cases.h"

enum { NO_MEMORY = 2, INVALID = 1, BYTES = 4 << 20 };

static uint64_t driver_calls(void)
{
	return cu.calls("cuMemCreate") + cu.calls("cuMemRelease") +
	       cu.calls("cuMemAddressReserve") + cu.calls("cuMemAddressFree") +
	       cu.calls("cuMemMap") + cu.calls("cuMemUnmap") +
	       cu.calls("cuMemSetAccess");
}

/* The driver has so many. */
void held(uint64_t handles, uint64_t mappings, uint64_t ranges)
{
	struct fakecuda_held held;

	cu.audit(&held);
	TRUE(held.handles == handles);
	TRUE(held.mappings == mappings);
	TRUE(held.reservations == ranges);
}

void learn_wholes(void)
{
	whole_end(whole_new(BYTES));
	held(0, 0, 0);
}

/* One is kept. */
static struct whole keep(void)
{
	struct whole whole;

	learn_wholes();
	whole = whole_new(BYTES);
	whole_end(whole);
	held(1, 1, 1);
	return whole;
}

void whole_reuse(void)
{
	struct whole a, b, c;
	uint64_t calls;

	keep();
	a = whole_new(BYTES);
	b = whole_new(2 * BYTES);
	calls = driver_calls();
	for (int i = 0; i < 100; i++) {
		whole_end(a);
		whole_end(b);
		c = whole_new(2 * BYTES);
		TRUE(c.block == b.block && c.handle == b.handle);
		c = whole_new(BYTES);
		TRUE(c.block == a.block && c.handle == a.handle);
	}
	TRUE(driver_calls() == calls);
	TRUE(!cu.waits());
}

static uint64_t events(void)
{
	return cu.calls("cuEventRecord") + cu.calls("cuEventQuery");
}

/* How often streams are asked whether they are captured for ten of them. */
static uint64_t asked(void)
{
	uint64_t calls = cu.calls("cuStreamIsCapturing");

	for (int i = 0; i < 10; i++)
		whole_end(whole_new(BYTES));
	return cu.calls("cuStreamIsCapturing") - calls;
}

/* Nothing uses what is unmapped: no event is asked, and of many streams no other
 * than the legacy one, but after a capture has begun. */
void whole_at_once(void)
{
	void *streams[20], *graph;
	uint64_t before;

	for (int i = 0; i < 20; i++)
		streams[i] = stream_new(NON_BLOCKING);
	keep();
	before = events();
	TRUE(asked() == 20);
	OK(cu.cuStreamBeginCapture_v2(streams[7], RELAXED));
	OK(cu.cuStreamEndCapture(streams[7], &graph));
	OK(cu.cuGraphDestroy(graph));
	TRUE(asked() == 40);
	TRUE(asked() == 20);
	TRUE(events() == before);
}

/* Others of another size, kind or alignment. */
void whole_alike(void)
{
	struct prop prop = {1, 1, 1, 0, NULL, {0}};
	struct whole a = keep(), b;
	address handle, range;

	b = whole_new(BYTES / 2);
	TRUE(a.handle != b.handle && a.block != b.block);
	whole_end(b);
	b = whole_new(2 * BYTES);
	TRUE(a.handle != b.handle && a.block != b.block);
	whole_end(b);
	OK(cu.cuMemCreate(&handle, BYTES, &prop, 0));
	TRUE(handle != a.handle);
	OK(cu.cuMemRelease(handle));
	b = whole_new(BYTES);
	TRUE(a.handle == b.handle && a.block == b.block);
	whole_end(b);
	prop.handles = 0;
	OK(cu.cuMemCreate(&handle, BYTES, &prop, 0));
	OK(cu.cuMemAddressReserve(&range, BYTES, 64 * MIB, 0, 0));
	TRUE(range % (64 * MIB) == 0);
	held(3, 2, 3);
}

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
		OK(cu.cuMemAddressReserve(&other, BYTES, 0, 0, 0));
		OK(cu.cuMemMap(other, BYTES, 0, whole->handle, 0));
		OK(cu.cuMemUnmap(other, BYTES));
		OK(cu.cuMemAddressFree(other, BYTES));
		break;
	case 5:
		OK(cu.cuMemSetAccess(whole->block, BYTES, &access, 1));
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
		struct whole whole = whole_new(BYTES);

		expose(how, &whole);
		whole_end(whole);
		held(0, 0, 0);
	}
	whole_end(whole_new(BYTES));
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

	OK(cu.cuMemCreate(&handle, BYTES, &prop, 0));
	if (how == 0) {
		OK(cu.cuMemGetInfo_v2(&free_bytes, &total));
		held(1, 0, 0);
		return;
	}
	if (how == 1) {
		OK(cu.cuMemAddressReserve(&range, 2 * BYTES, 2 * MIB, 0, 0));
		held(1, 0, 1);
		return;
	}
	OK(cu.cuMemAddressReserve(&range, BYTES, 2 * MIB, 0, 0));
	if (how == 2) {
		OK(cu.cuMemCreate(&other, BYTES, &prop, 0));
		held(2, 0, 1);
		OK(cu.cuMemMap(range, BYTES, 0, other, 0));
		held(2, 1, 1);
		return;
	}
	OK(cu.cuMemMap(range, BYTES, 0, handle, 0));
	if (how == 3) {
		TRUE(cu.cuMemsetD8Async(range, 0, 1, NULL) == 0);
		OK(cu.cuMemSetAccess(range, BYTES, &none, 1));
		/* It has none of its own device. */
		TRUE(cu.cuMemsetD8Async(range, 0, 1, NULL) == INVALID);
		held(1, 1, 1);
		return;
	}
	if (how == 4) {
		OK(cu.cuMemUnmap(range, BYTES));
		held(1, 0, 1);
		return;
	}
	OK(cu.cuMemSetAccess(range, BYTES, &access, 1));
	OK(cu.cuMemRelease(handle));
	held(0, 1, 1);
	OK(cu.cuMemUnmap(range, BYTES));
	OK(cu.cuMemAddressFree(range, BYTES));
	held(0, 0, 0);
}

void whole_otherwise(void)
{
	keep();
	begin_otherwise(other[0] - '0');
}

/* The same of one that is taken apart. */
static void end_otherwise(int how, struct whole a)
{
	struct access access = {1, 0, 3};
	address other;

	OK(cu.cuMemUnmap(a.block, BYTES));
	if (how == 0) {
		OK(cu.cuMemMap(a.block, BYTES, 0, a.handle, 0));
		TRUE(cu.cuMemsetD8Async(a.block, 0, 1, NULL) == INVALID);
		OK(cu.cuMemSetAccess(a.block, BYTES, &access, 1));
		OK(cu.cuMemsetD8Async(a.block, 0, 1, NULL));
		held(1, 1, 1);
		return;
	}
	if (how == 1) {
		OK(cu.cuMemAddressFree(a.block, BYTES));
		held(1, 0, 0);
		OK(cu.cuMemRelease(a.handle));
		held(0, 0, 0);
		return;
	}
	if (how == 2) {
		OK(cu.cuMemAddressReserve(&other, BYTES, 0, 0, 0));
		held(1, 0, 2);
		return;
	}
	OK(cu.cuMemRelease(a.handle));
	if (how == 3) {
		TRUE(cu.cuMemMap(a.block, BYTES, 0, a.handle, 0) == INVALID);
		held(0, 0, 1);
	} else {
		alloc(MIB);
		held(0, 0, 1);
		OK(cu.cuMemAddressFree(a.block, BYTES));
		held(0, 0, 0);
	}
}

void whole_apart(void)
{
	learn_wholes();
	end_otherwise(other[0] - '0', whole_new(BYTES));
}

/* Memory that is released while its addresses stay is wanted by others: it is
 * gone, and nothing is kept from then on. */
void whole_sleep(void)
{
	struct whole a = whole_new(BYTES), b = whole_new(BYTES);

	OK(cu.cuMemUnmap(a.block, BYTES));
	OK(cu.cuMemRelease(a.handle));
	held(1, 1, 2);
	OK(cu.cuMemUnmap(b.block, BYTES));
	OK(cu.cuMemRelease(b.handle));
	held(0, 0, 2);
	OK(cu.cuMemAddressFree(a.block, BYTES));
	OK(cu.cuMemAddressFree(b.block, BYTES));
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
	calls = driver_calls();
	OK(cu.cuMemAddressReserve(&range, 8 * BYTES, 0, 0, 0));
	for (int i = 0; i < 8; i++) {
		OK(cu.cuMemCreate(&handles[i], BYTES, &prop, 0));
		OK(cu.cuMemMap(range + i * BYTES, BYTES, 0, handles[i], 0));
		OK(cu.cuMemSetAccess(range + i * BYTES, BYTES, &access, 1));
	}
	for (int i = 0; i < 8; i += 2) {
		OK(cu.cuMemUnmap(range + i * BYTES, BYTES));
		OK(cu.cuMemRelease(handles[i]));
	}
	held(4, 4, 1);
	TRUE(driver_calls() == calls + 1 + 8 * 3 + 4 * 2);
}

void whole_misuse(void)
{
	struct access access = {1, 0, 3};
	struct whole a = keep();

	TRUE(cu.cuMemUnmap(a.block, BYTES) == INVALID);
	TRUE(cu.cuMemRelease(a.handle) == INVALID);
	TRUE(cu.cuMemAddressFree(a.block, BYTES) == INVALID);
	TRUE(cu.cuMemMap(a.block, BYTES, 0, a.handle, 0) == INVALID);
	TRUE(cu.cuMemSetAccess(a.block, BYTES, &access, 1) == INVALID);
	TRUE(cu.cuMemExportToShareableHandle(&a, a.handle, 1, 0) == INVALID);
	TRUE(cu.cuMemRetainAllocationHandle(&a.handle, a.block) == INVALID);
	TRUE(cu.cuMemFree_v2(a.block) == INVALID);
	TRUE(cu.cuMemCreate(NULL, BYTES, NULL, 0) == INVALID);
	held(1, 1, 1);
}

/* While a stream is captured the driver is asked. */
void whole_captures(void)
{
	void *stream = stream_new(NON_BLOCKING), *graph;
	struct whole a = keep(), b;

	OK(cu.cuStreamBeginCapture_v2(stream, RELAXED));
	b = whole_new(BYTES);
	TRUE(b.block != a.block);
	whole_end(b);
	held(1, 1, 1);
	OK(cu.cuStreamEndCapture(stream, &graph));
	OK(cu.cuGraphDestroy(graph));
	TRUE(whole_new(BYTES).block == a.block);
}

/* A call that fails is the program's to see, and nothing is lost of it. */
void whole_faults(void)
{
	static const char *const names[] = {"cuMemCreate",
					    "cuMemAddressReserve", "cuMemMap",
					    "cuMemSetAccess"};
	struct prop prop = {1, 0, 1, 0, NULL, {0}};
	struct access access = {1, 0, 3};

	for (int i = 0; i < 4; i++) {
		struct whole a = {0};
		int failed;

		cu.fault(names[i], 1, false, 999);
		failed = cu.cuMemCreate(&a.handle, BYTES, &prop, 0);
		if (!failed &&
		    !cu.cuMemAddressReserve(&a.block, BYTES, 2 * MIB, 0, 0)) {
			if (!cu.cuMemMap(a.block, BYTES, 0, a.handle, 0)) {
				TRUE(cu.cuMemSetAccess(a.block, BYTES, &access,
						       1) == 999);
				OK(cu.cuMemUnmap(a.block, BYTES));
			}
			OK(cu.cuMemAddressFree(a.block, BYTES));
		}
		if (!failed)
			OK(cu.cuMemRelease(a.handle));
		cu.heal();
		held(0, 0, 0);
	}
	learn_wholes();
	/* Whether a stream is captured is not known. */
	cu.fault("cuStreamIsCapturing", 1, true, 999);
	whole_end(whole_new(BYTES));
	held(0, 0, 0);
	cu.heal();
}

/* With FAKECUDA_MEMORY=128MiB. */
void whole_full(void)
{
	size_t free_bytes, before, total;
	struct whole a;

	learn_wholes();
	OK(cu.cuMemGetInfo_v2(&before, &total));
	a = whole_new(80 * MIB);
	whole_end(a);
	OK(cu.cuMemGetInfo_v2(&free_bytes, &total));
	TRUE(free_bytes == before);
	held(1, 1, 1);
	release(alloc(100 * MIB));
	held(0, 0, 0);
	a = whole_new(100 * MIB);
	whole_end(a);
	a = whole_new(90 * MIB);
	held(1, 1, 1);
}
