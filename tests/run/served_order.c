/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which block a stream gets, and when: work stands still until it is stepped,
 * and finds out whether earlier work on its memory was forgotten.
 */
#include "served_cases.h"

/* Blocks are gpumem's, and what a stream has freed it gets again at once. */
void serves(void)
{
	void *stream = stream_new(), *pool;
	address block = take(4 * MIB, stream), again;

	give(block, stream);
	again = take(4 * MIB, stream);
	TRUE(again == block);
	give(again, stream);
	block = take(1000, NULL);
	give(block, NULL);
	OK(cu.cuDeviceGetMemPool(&pool, 0));
	OK(cu.cuMemAllocFromPoolAsync(&block, 3 * MIB, pool, stream));
	give(block, stream);
	TRUE(passed_on() == 0);
	OK(cu.cuMemAllocAsync(&block, 0, stream));
	TRUE(!block);
	TRUE(cu.cuMemAllocAsync(NULL, 1, stream) == INVALID_VALUE);
	TRUE(cu.cuMemFreeAsync(again, stream) == INVALID_VALUE);
	OK(cu.cuMemFreeAsync(0, stream));
}

void waits_for_the_stream(void)
{
	void *first = stream_new(), *second = stream_new();
	address block = take(4 * MIB, first), other;

	cu.stepping(true);
	work(first, block, 4 * MIB);
	give(block, first);
	other = take(4 * MIB, second);
	work(second, other, 4 * MIB);
	TRUE(undone() == 2);
	cu.step(second, 8);
	give(other, second);
	OK(cu.cuCtxSynchronize());
	TRUE(undone() == 0);
}

void another_stream_frees(void)
{
	void *first = stream_new(), *second = stream_new();
	address block = take(4 * MIB, first), other;

	cu.stepping(true);
	work(second, block, 4 * MIB);
	give(block, second);
	other = take(4 * MIB, first);
	work(first, other, 4 * MIB);
	cu.step(first, 8);
	give(other, first);
	OK(cu.cuCtxSynchronize());
	TRUE(undone() == 0);
	TRUE(passed_on() == 0);
}

/* Each thread's has the same number; a block that is freed on it waits for an
 * event of that thread's. */
void streams_of_threads(void)
{
	address block = 0, other;
	uint64_t events;

	cu.stepping(true);
	OK(cu.cuMemAllocAsync_ptsz(&block, 4 * MIB, NULL));
	work(PER_THREAD, block, 4 * MIB);
	events = cu.calls("cuEventRecord");
	OK(cu.cuMemFreeAsync_ptsz(block, NULL));
	TRUE(cu.calls("cuEventRecord") > events);
	other = take(4 * MIB, PER_THREAD);
	work(PER_THREAD, other, 4 * MIB);
	events = cu.calls("cuEventRecord");
	give(other, PER_THREAD);
	TRUE(cu.calls("cuEventRecord") > events);
	OK(cu.cuCtxSynchronize());
	TRUE(undone() == 0);
	TRUE(passed_on() == 0);
}

void stream_ends(void)
{
	void *first = stream_new(), *second;
	address block = take(4 * MIB, first), late = take(MIB, first), other;

	cu.stepping(true);
	work(first, block, 4 * MIB);
	give(block, first);
	OK(cu.cuStreamDestroy_v2(first));
	TRUE(cu.cuMemFreeAsync(late, first) != 0);
	second = stream_new();
	give(late, second);
	other = take(4 * MIB, second);
	work(second, other, 4 * MIB);
	cu.step(second, 8);
	give(other, second);
	OK(cu.cuCtxSynchronize());
	TRUE(undone() == 0);
}

/* By cuMemFree(), which waits. */
void freed_at_once(void)
{
	void *stream = stream_new();
	address block = take(4 * MIB, stream);

	cu.stepping(true);
	work(stream, block, 4 * MIB);
	release(block);
	TRUE(undone() == 0);
	TRUE(cu.cuMemFree_v2(block) == INVALID_VALUE);
	TRUE(cu.cuMemFree_v2(block + 512) == INVALID_VALUE);
	TRUE(cu.cuMemFreeAsync(block, stream) == INVALID_VALUE);
	TRUE(take(4 * MIB, stream) == block);
}

/* cuMemAlloc()'s go by cuMemFreeAsync(), too. */
void others_blocks(void)
{
	void *stream = stream_new();
	address served = take(MIB, stream), block = alloc(4 * MIB);

	OK(cu.cuMemFreeAsync(block, stream));
	TRUE(cu.calls("cuMemFreeAsync") == 1);
	give(served, stream);
	TRUE(cu.calls("cuMemFreeAsync") == 1);
}

/* What is captured is a node, and a block that is none cannot be freed there.
 */
void captured(void)
{
	void *stream = stream_new(), *graph;
	address block = take(MIB, stream), node = 0;

	OK(cu.cuStreamBeginCapture_v2(stream, RELAXED));
	OK(cu.cuMemAllocAsync(&node, MIB, stream));
	TRUE(cu.calls("cuMemAllocAsync") == 1);
	OK(cu.cuMemFreeAsync(node, stream));
	TRUE(cu.cuMemFreeAsync(block, stream) == INVALID_VALUE);
	OK(cu.cuMemAllocAsync(&node, MIB, PER_THREAD));
	OK(cu.cuMemFreeAsync(node, PER_THREAD));
	OK(cu.cuStreamEndCapture(stream, &graph));
	OK(cu.cuGraphDestroy(graph));
	give(block, stream);
	TRUE(passed_on() == 1);
}

/* Streams of a context that the program made are the driver's to serve; a
 * block may be freed on one. */
void another_context(void)
{
	void *own = stream_new(), *other, *stream;
	address block = take(4 * MIB, own), theirs;

	OK(cu.cuCtxCreate_v2(&other, 0, 0));
	stream = stream_new();
	theirs = take(MIB, stream);
	TRUE(passed_on() == 1);
	cu.stepping(true);
	work(stream, block, 4 * MIB);
	give(block, stream);
	TRUE(undone() == 0);
	give(theirs, stream);
	OK(cu.cuCtxSetCurrent(NULL));
	TRUE(cu.cuMemFreeAsync(block, NULL) != 0);
	OK(cu.cuCtxSetCurrent(context));
	TRUE(take(4 * MIB, own) == block);
	OK(cu.cuCtxSetCurrent(NULL));
	OK(cu.cuMemFreeAsync(block, own));
}
