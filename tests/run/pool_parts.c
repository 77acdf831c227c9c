/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Cases of pool_cases under --adopt in a program of PyTorch's: which parts of
 * larger allocations the program gets, and when again. Not what the driver's
 * functions answer of them, which is in pool_parts_answers.c.
 */
#include "pool_cases.h"

enum { COUNT = 4, PART = 5 << 20 }; /* so many fill a segment */

static bool apart(address one, size_t one_bytes, address other,
		  size_t other_bytes)
{
	return one + one_bytes <= other || other + other_bytes <= one;
}

/* All of a segment, one behind the other. */
void parts_new(address *parts)
{
	for (int i = 0; i < COUNT; i++) {
		parts[i] = alloc(PART);
		TRUE(parts[i] == parts[0] + (address)i * PART);
	}
}

/* ---- cutting and joining ----------------------------------------------------
 */

/* Small ones share a page of the driver's: none is another's, and all are at
 * multiples of 512 bytes. */
void parts_small(void)
{
	static const size_t sizes[] = {1, 511, 512, 513, 5000, 70000, MIB};
	address parts[7];

	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 7; i++) {
			parts[i] = alloc(sizes[i]);
			TRUE(parts[i] % 512 == 0);
			TRUE(parts[i] >> 21 == parts[0] >> 21 || round);
			for (int j = 0; j < i; j++)
				TRUE(apart(parts[i], sizes[i], parts[j],
					   sizes[j]));
		}
		for (int i = 0; i < 7; i++)
			release(parts[(i * 3 + round) % 7]);
	}
	TRUE(cu.calls("cuMemAlloc") == 1);
	TRUE(!driver_frees());
}

/* In whatever order they are freed, four neighbours become one again. */
void parts_join(void)
{
	address parts[COUNT];

	for (int order = 0; order < 256; order++) {
		parts_new(parts);
		for (int i = 0, turns = order; i < COUNT; i++, turns /= COUNT) {
			int one = turns % COUNT;

			while (!parts[one])
				one = (one + 1) % COUNT;
			release(parts[one]);
			parts[one] = 0;
		}
		release(alloc((size_t)COUNT * PART));
	}
	TRUE(cu.calls("cuMemAlloc") == 1);
	TRUE(!driver_frees());
}

/* The smallest that fits, and what is left of it is there for others. */
void parts_best(void)
{
	address large = alloc(40 * MIB), small = alloc(16 * MIB), a, b;

	release(large);
	release(small);
	a = alloc(13 * MIB);
	TRUE(a == small);
	b = alloc(3 * MIB);
	TRUE(b == small + 13 * MIB);
	TRUE(alloc(39 * MIB) == large);
	TRUE(cu.calls("cuMemAlloc") == 2);
	alloc(MIB + 1); /* too little is left */
	TRUE(cu.calls("cuMemAlloc") == 3);
	release(a);
	TRUE(alloc(13 * MIB) == a);
	/* Also of nearly the same size. */
	large = alloc(70 * MIB);
	small = alloc(66 * MIB);
	release(large);
	release(small);
	TRUE(alloc(65 * MIB) == small);
}

/* ---- when -------------------------------------------------------------------
 */

/* What was freed is not handed out, in part or with others, before a kernel of
 * before the free is over. */
static void busy_in(void *stream)
{
	uint64_t waits = cu.waits();
	address parts[COUNT], again;

	parts_new(parts);
	launch(stream, parts[1]);
	release(parts[1]);
	run_but(stream ? stream : LEGACY);
	TRUE(running() == 1);
	again = alloc(MIB + 4096);
	TRUE(apart(again, MIB + 4096, parts[1], PART));
	TRUE(running() == 1 && cu.waits() == waits);
	cu.stepping(false);
	release(again);
	TRUE(alloc(PART) == parts[1]);
	cu.stepping(true);
	for (int i = 0; i < COUNT; i++)
		release(parts[i]);
	cu.stepping(false);
	cu.stepping(true);
}

void parts_busy(void)
{
	cu.stepping(true);
	busy_in(LEGACY);
	busy_in(NULL);
	busy_in(PER_THREAD);
	busy_in(stream_new(0));
	busy_in(stream_new(NON_BLOCKING));
}

/* What the driver has just allocated is found beside many that are free and not
 * over. */
void parts_many(void)
{
	enum { MANY = 200 };
	address parts[MANY];

	for (int i = 0; i < MANY; i++)
		parts[i] = alloc(MIB);
	TRUE(cu.calls("cuMemAlloc") == MANY / 2);
	cu.stepping(true);
	launch(LEGACY, parts[0]);
	for (int i = 0; i < MANY; i++)
		release(parts[i]);
	alloc(MIB);
	alloc(MIB);
	TRUE(cu.calls("cuMemAlloc") == MANY / 2 + 1);
	cu.stepping(false);
}

/* Two that were freed one after the other are one, and it is over when both
 * are. */
static void join_in(int first, int second)
{
	address parts[COUNT], again;

	parts_new(parts);
	release(parts[first]);
	cu.stepping(false);
	cu.stepping(true);
	launch(LEGACY, parts[second]);
	release(parts[second]);
	TRUE(running() == 1);
	again = alloc(2 * PART);
	TRUE(apart(again, 2 * PART, parts[second], PART));
	release(again);
	again = alloc(PART);
	TRUE(apart(again, PART, parts[second], PART));
	TRUE(running() == 1);
	release(again);
	cu.stepping(false);
	again = alloc(2 * PART);
	release(again);
	for (int i = 0; i < COUNT; i++)
		if (i != first && i != second)
			release(parts[i]);
	TRUE(again == parts[first < second ? first : second]);
	cu.stepping(true);
}

void parts_later(void)
{
	cu.stepping(true);
	join_in(1, 2);
	join_in(2, 1);
	join_in(0, 1);
	join_in(3, 2);
}

/* The last of two streams decides. */
void parts_streams(void)
{
	void *streams[2] = {stream_new(NON_BLOCKING), stream_new(0)};
	address parts[COUNT], again;

	parts_new(parts);
	cu.stepping(true);
	for (int last = 0; last < 2; last++) {
		launch(streams[0], parts[2]);
		launch(streams[1], parts[2]);
		release(parts[2]);
		run_but(streams[last]);
		TRUE(running() == 1);
		again = alloc(PART);
		TRUE(apart(again, PART, parts[2], PART));
		cu.stepping(false);
		release(again);
		TRUE(alloc(PART) == parts[2]);
		cu.stepping(true);
	}
}

/* ---- whose ------------------------------------------------------------------
 */

/* A part is of the context and the device of its segment. */
void parts_contexts(void)
{
	void *home = current, *owner;
	address parts[COUNT], other;
	int device;

	parts_new(parts);
	release(parts[1]);
	for (device = 0; device < 2; device++) {
		int is = -1;

		context_new(device);
		other = alloc(PART);
		OK(cu.cuPointerGetAttribute(&owner, 1, other));
		TRUE(owner == current);
		OK(cu.cuPointerGetAttribute(&is, 9, other));
		TRUE(is == device);
	}
	TRUE(cu.calls("cuMemAlloc") == 3);
	/* It need not be the context's thread that frees. */
	release(parts[2]);
	enter(home);
	TRUE(alloc(2 * PART) == parts[1]);
}

/* What a context had is gone with it, live or free. */
void parts_context_ends(void)
{
	struct fakecuda_held held;
	void *home = current, *context, *again;
	address parts[COUNT], live = alloc(64 * MIB);
	size_t before, after, total;

	OK(cu.cuMemGetInfo_v2(&before, &total));
	context = context_new(0);
	parts_new(parts);
	release(parts[1]);
	OK(cu.cuCtxDestroy_v2(context));
	cu.recycle();
	again = context_new(0);
	TRUE(again == context);
	TRUE(cu.cuMemFree_v2(parts[0]) == 1);
	alloc(PART);
	cu.audit(&held);
	TRUE(held.allocs == 2 && held.used_bytes == COUNT * PART + 64 * MIB);
	OK(cu.cuCtxDestroy_v2(again));
	OK(cu.cuCtxSetCurrent(home));
	OK(cu.cuMemGetInfo_v2(&after, &total));
	TRUE(before == after);
	stays(live);
	/* One that is not destroyed keeps them. */
	parts_new(parts);
	TRUE(cu.cuCtxDestroy_v2(home));
	release(parts[3]);
	TRUE(alloc(PART) == parts[3]);
}

/* ---- captures ---------------------------------------------------------------
 */

/* While one goes on nothing is handed out, and what is freed waits for the next
 * free behind it. */
void parts_captured(void)
{
	void *stream = stream_new(NON_BLOCKING), *graph;
	address parts[COUNT], other;
	uint64_t calls;

	parts_new(parts);
	release(parts[0]);
	calls = cu.calls("cuMemAlloc");
	OK(cu.cuStreamBeginCapture_v2(stream, RELAXED));
	other = alloc(PART);
	TRUE(other != parts[0] && cu.calls("cuMemAlloc") == calls + 1);
	launch(LEGACY, parts[2]);
	release(parts[2]);
	goes(other);
	OK(cu.cuStreamEndCapture(stream, &graph));
	OK(cu.cuGraphDestroy(graph));
	TRUE(alloc(PART) == parts[0]);
	other = alloc(PART);
	TRUE(apart(other, PART, parts[2], PART));
	/* Its epoch begins now. */
	cu.stepping(true);
	launch(LEGACY, other);
	release(other);
	TRUE(apart(alloc(2 * PART), 2 * PART, parts[2], PART));
	cu.stepping(false);
	TRUE(alloc(PART) == parts[2]);
}
