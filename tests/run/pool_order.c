/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * When a block is handed out again, and whose it is: with queued work, streams,
 * contexts and captures.
 */
#include "pool_cases.h"

#include <stdio.h>

/* A freed block comes again, and the driver is not asked. */
void reuse(void)
{
	address a = alloc(3 * MIB), b = alloc(100);

	release(a);
	release(b);
	for (int i = 0; i < 100; i++) {
		TRUE(alloc(3 * MIB) == a);
		TRUE(alloc(100) == b);
		release(b);
		release(a);
	}
	TRUE(!driver_frees());
	TRUE(cu.calls("cuMemAlloc") == 2);
	TRUE(!cu.waits());
}

/* One of a kernel that has not run does not, and nobody waits for it. */
static void busy_in(void *stream)
{
	uint64_t waits = cu.waits();
	address a = alloc(5 * MIB), b;

	launch(stream, a);
	release(a);
	run_but(stream ? stream : LEGACY);
	TRUE(running() == 1);
	b = alloc(5 * MIB);
	TRUE(b != a);
	TRUE(running() == 1);
	TRUE(cu.waits() == waits);
	cu.stepping(false);
	TRUE(!running());
	TRUE(alloc(5 * MIB) == a);
	cu.stepping(true);
	TRUE(cu.waits() == waits);
}

void busy(void)
{
	void *stream;

	cu.stepping(true);
	busy_in(LEGACY);
	busy_in(NULL);
	busy_in(PER_THREAD);
	busy_in(stream_new(0));
	busy_in(stream_new(NON_BLOCKING));
	for (unsigned flags = 0; flags < 2; flags++) {
		OK(cu.cuStreamCreateWithPriority(&stream, flags, -1));
		add_stream(stream);
		busy_in(stream);
	}
}

/* The last of several streams decides. */
void several(void)
{
	void *stream[4];
	address a;

	for (int i = 0; i < 4; i++)
		stream[i] = stream_new(i % 2);
	cu.stepping(true);
	for (int last = 0; last < 4; last++) {
		a = alloc(MIB);
		for (int i = 0; i < 4; i++)
			launch(stream[i], a);
		release(a);
		run_but(stream[last]);
		TRUE(running() == 1);
		TRUE(alloc(MIB) != a);
		cu.stepping(false);
		TRUE(alloc(MIB) == a);
		cu.stepping(true);
	}
}

/* A stream's work outlives it, whether something was freed before its end or
 * not. */
static void destroyed_one(unsigned flags, bool free_before)
{
	void *stream = stream_new(flags);
	address a = alloc(MIB), b = alloc(2 * MIB);

	cu.stepping(true);
	launch(stream, a);
	launch(stream, b);
	if (free_before)
		release(b);
	stream_end(stream);
	release(a);
	if (!free_before)
		release(b);
	run_but(NULL);
	TRUE(running() == 2);
	TRUE(alloc(MIB) != a);
	TRUE(alloc(2 * MIB) != b);
	cu.stepping(false);
	TRUE(alloc(MIB) == a);
	TRUE(alloc(2 * MIB) == b);
}

void destroyed(void)
{
	for (unsigned i = 0; i < 4; i++)
		destroyed_one(i % 2, i / 2);
	/* Each of many leaves nothing behind. */
	for (int i = 0; i < 1000; i++) {
		stream_end(stream_new(i % 2));
		release(alloc(MIB));
	}
	TRUE(!driver_frees());
}

/* Streams of other contexts and devices may copy from and to the block. */
static void reach(void *home, int device)
{
	void *context = context_new(device), *stream, *own;
	address a;

	stream = stream_new(NON_BLOCKING);
	for (int i = 0; i < 2; i++) {
		void *one = i ? stream : LEGACY;

		enter(home);
		a = alloc(MIB);
		enter(context);
		launch(one, a);
		if (!i)
			enter(home);
		/* It need not be the context's thread that frees. */
		release(a);
		enter(context);
		run_but(one);
		TRUE(running() == 1);
		TRUE(alloc(MIB) != a);
		enter(home);
		TRUE(alloc(MIB) != a);
		cu.stepping(false);
		TRUE(alloc(MIB) == a);
		cu.stepping(true);
	}
	/* A block is of its context. */
	release(a);
	run_but(NULL);
	enter(context);
	a = alloc(MIB);
	OK(cu.cuPointerGetAttribute(&own, 1, a));
	TRUE(own == context);
}

void contexts(void)
{
	void *home = current;

	cu.stepping(true);
	reach(home, 0);
	reach(home, 1);
	TRUE(!cu.waits());
}

/* What a context had is never handed out after it, nor in one of its name. */
void context_ends(void)
{
	struct fakecuda_held held;
	void *home = current, *context = context_new(0), *again;
	address a = alloc(4 * MIB);

	release(a);
	OK(cu.cuCtxDestroy_v2(context));
	cu.recycle();
	again = context_new(0);
	TRUE(again == context);
	alloc(4 * MIB);
	cu.audit(&held);
	TRUE(held.allocs == 1);
	OK(cu.cuCtxDestroy_v2(again));
	OK(cu.cuCtxSetCurrent(home));
	release(alloc(6 * MIB));
	/* One that is not destroyed keeps it. */
	TRUE(cu.cuCtxDestroy_v2(home));
	a = alloc(6 * MIB);
	release(a);
	OK(cu.cuDevicePrimaryCtxRetain(&again, 0));
	OK(cu.cuDevicePrimaryCtxRelease_v2(0));
	TRUE(alloc(6 * MIB) == a);
	TRUE(cu.calls("cuMemAlloc") == 3);
	release(a);
	OK(cu.cuDevicePrimaryCtxReset_v2(0));
	cu.recycle();
	OK(cu.cuDevicePrimaryCtxRetain(&again, 0));
	OK(cu.cuCtxSetCurrent(again));
	alloc(6 * MIB);
	cu.audit(&held);
	TRUE(held.allocs == 1);
}

/* While a stream is captured the driver is asked all, and the capture stays
 * good. */
void captures(void)
{
	void *stream = stream_new(NON_BLOCKING), *blocking = stream_new(0);
	void *captured[] = {stream, blocking, PER_THREAD};
	address a = alloc(MIB), b = alloc(MIB);
	void *graph;

	release(a);
	for (int i = 0; i < 3; i++) {
		uint64_t frees = driver_frees();

		OK(cu.cuStreamBeginCapture_v2(captured[i], RELAXED));
		TRUE(alloc(MIB) != a);
		release(b);
		TRUE(driver_frees() == frees + 1);
		OK(cu.cuStreamEndCapture(captured[i], &graph));
		TRUE(alloc(MIB) == a);
		release(a);
		b = alloc(2 * MIB);
		OK(cu.cuGraphDestroy(graph));
	}
}

/* When a graph is captured anew a stream is captured, too. */
void captured_again(void)
{
	void *stream = stream_new(NON_BLOCKING), *graph, *same;
	address a = alloc(MIB), b = alloc(MIB);
	uint64_t frees;

	OK(cu.cuStreamBeginCapture_v2(stream, RELAXED));
	OK(cu.cuStreamEndCapture(stream, &graph));
	release(a);
	frees = driver_frees();
	OK(cu.cuStreamBeginRecaptureToGraph(stream, RELAXED, graph, NULL,
					    NULL));
	TRUE(alloc(MIB) != a);
	release(b);
	TRUE(driver_frees() == frees + 1);
	OK(cu.cuStreamEndCapture(stream, &same));
	TRUE(same == graph);
	TRUE(alloc(MIB) == a);
	OK(cu.cuGraphDestroy(graph));
}

/* When work runs that graphics will run is not known, nor is what it uses. */
void captured_for_graphics(void)
{
	void *stream = stream_new(NON_BLOCKING);
	uint64_t frees = driver_frees();

	release(alloc(MIB));
	TRUE(driver_frees() == frees);
	(void)cu.cuStreamBeginCaptureToCig(stream, NULL);
	release(alloc(MIB));
	TRUE(driver_frees() == frees + 2);
}

/* Prints what the driver says, to be compared with a run without. */
void captures_refused(void)
{
	void *stream = stream_new(NON_BLOCKING), *graph;
	address a = alloc(MIB), b = alloc(MIB);

	release(a);
	for (int mode = 0; mode < 3; mode++) {
		printf("begin %d\n", cu.cuStreamBeginCapture_v2(stream, mode));
		printf("free %d\n", cu.cuMemFree_v2(b));
		printf("alloc %d\n", cu.cuMemAlloc_v2(&b, MIB));
		printf("end %d\n", cu.cuStreamEndCapture(stream, &graph));
	}
	release(b);
}

/* A stream that is captured and destroyed: its earlier work may still run. */
void captured_and_destroyed(void)
{
	void *stream = stream_new(NON_BLOCKING);
	address a = alloc(MIB);

	cu.stepping(true);
	launch(stream, a);
	OK(cu.cuStreamBeginCapture_v2(stream, RELAXED));
	stream_end(stream);
	release(a);
	run_but(NULL);
	TRUE(!running() || alloc(MIB) != a);
}
