/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Cases of pool_cases: memory by cuMemCreate() that is kept as it is mapped,
 * and when it is handed out again. Not programs which make the calls in another
 * way, which are in pool_wholes_otherwise.c.
 */
#include "pool_cases.h"

uint64_t whole_calls(void)
{
	return cu.calls("cuMemCreate") + cu.calls("cuMemRelease") +
	       cu.calls("cuMemAddressReserve") + cu.calls("cuMemAddressFree") +
	       cu.calls("cuMemMap") + cu.calls("cuMemUnmap") +
	       cu.calls("cuMemSetAccess");
}

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
	whole_end(whole_new(WHOLE_BYTES));
	held(0, 0, 0);
}

struct whole keep_whole(void)
{
	struct whole whole;

	learn_wholes();
	whole = whole_new(WHOLE_BYTES);
	whole_end(whole);
	held(1, 1, 1);
	return whole;
}

void whole_reuse(void)
{
	struct whole a, b, c;
	uint64_t calls;

	keep_whole();
	a = whole_new(WHOLE_BYTES);
	b = whole_new(2 * WHOLE_BYTES);
	calls = whole_calls();
	for (int i = 0; i < 100; i++) {
		whole_end(a);
		whole_end(b);
		c = whole_new(2 * WHOLE_BYTES);
		TRUE(c.block == b.block && c.handle == b.handle);
		c = whole_new(WHOLE_BYTES);
		TRUE(c.block == a.block && c.handle == a.handle);
	}
	TRUE(whole_calls() == calls);
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
		whole_end(whole_new(WHOLE_BYTES));
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
	keep_whole();
	before = events();
	TRUE(asked() == 20);
	OK(cu.cuStreamBeginCapture_v2(streams[7], RELAXED));
	OK(cu.cuStreamEndCapture(streams[7], &graph));
	OK(cu.cuGraphDestroy(graph));
	TRUE(asked() == 40);
	TRUE(asked() == 20);
	TRUE(events() == before);
	/* But all of them before an event is recorded. */
	before = cu.calls("cuStreamIsCapturing");
	release(alloc(MIB));
	TRUE(cu.calls("cuStreamIsCapturing") - before > 20);
}

/* Others of another size, kind or alignment. */
void whole_alike(void)
{
	struct prop prop = {1, 1, 1, 0, NULL, {0}};
	struct whole a = keep_whole(), b;
	address handle, range;

	b = whole_new(WHOLE_BYTES / 2);
	TRUE(a.handle != b.handle && a.block != b.block);
	whole_end(b);
	b = whole_new(2 * WHOLE_BYTES);
	TRUE(a.handle != b.handle && a.block != b.block);
	whole_end(b);
	OK(cu.cuMemCreate(&handle, WHOLE_BYTES, &prop, 0));
	TRUE(handle != a.handle);
	OK(cu.cuMemRelease(handle));
	b = whole_new(WHOLE_BYTES);
	TRUE(a.handle == b.handle && a.block == b.block);
	whole_end(b);
	prop.handles = 0;
	OK(cu.cuMemCreate(&handle, WHOLE_BYTES, &prop, 0));
	OK(cu.cuMemAddressReserve(&range, WHOLE_BYTES, 64 * MIB, 0, 0));
	TRUE(range % (64 * MIB) == 0);
	held(3, 2, 3);
}

/* While a stream is captured the driver is asked. */
void whole_captures(void)
{
	void *stream = stream_new(NON_BLOCKING), *graph;
	struct whole a = keep_whole(), b;

	OK(cu.cuStreamBeginCapture_v2(stream, RELAXED));
	b = whole_new(WHOLE_BYTES);
	TRUE(b.block != a.block);
	whole_end(b);
	held(1, 1, 1);
	OK(cu.cuStreamEndCapture(stream, &graph));
	OK(cu.cuGraphDestroy(graph));
	TRUE(whole_new(WHOLE_BYTES).block == a.block);
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
		failed = cu.cuMemCreate(&a.handle, WHOLE_BYTES, &prop, 0);
		if (!failed && !cu.cuMemAddressReserve(&a.block, WHOLE_BYTES,
						       2 * MIB, 0, 0)) {
			if (!cu.cuMemMap(a.block, WHOLE_BYTES, 0, a.handle,
					 0)) {
				TRUE(cu.cuMemSetAccess(a.block, WHOLE_BYTES,
						       &access, 1) == 999);
				OK(cu.cuMemUnmap(a.block, WHOLE_BYTES));
			}
			OK(cu.cuMemAddressFree(a.block, WHOLE_BYTES));
		}
		if (!failed)
			OK(cu.cuMemRelease(a.handle));
		cu.heal();
		held(0, 0, 0);
	}
	learn_wholes();
	/* Whether a stream is captured is not known. */
	cu.fault("cuStreamIsCapturing", 1, true, 999);
	whole_end(whole_new(WHOLE_BYTES));
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
