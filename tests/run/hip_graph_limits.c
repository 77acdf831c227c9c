/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Graphs of AMD's runtime that find too little memory, of the device or under
 * `--limit=64MiB`, and what the runtime says of the last error, for
 * tests/tool_run_hip_graphs.sh: its arguments say which case, and of which
 * runtime.
 */
#include "hip_graph.h"

#define LIMIT (64 * MIB)

static void see(size_t free_bytes)
{
	size_t left, total;

	OK(hip.hipMemGetInfo(&left, &total));
	TRUE(left == free_bytes && total == LIMIT);
}

static void refused(size_t bytes)
{
	void *block;

	FAILS(hip.hipMalloc(&block, bytes), NO_MEMORY);
}

/* A launch that fails leaves what it found, 32 MiB or 512. */
static struct graph fail_once(void)
{
	size_t first = is_own ? 512 * MIB : 32 * MIB;
	struct params params = params_of(first, 0);
	struct graph graph;
	uint64_t before;
	void *node;

	OK(hip.hipGraphCreate(&graph.graph, 0));
	OK(hip.hipGraphAddMemAllocNode(&node, graph.graph, NULL, 0, &params));
	params = params_of(32 * MIB, 0);
	OK(hip.hipGraphAddMemAllocNode(&node, graph.graph, NULL, 0, &params));
	OK(hip.hipGraphInstantiateWithFlags(&graph.exec, graph.graph, 0));
	(void)alloc(is_own ? 500 * MIB : 48 * MIB);
	before = held();
	FAILS(hip.hipGraphLaunch(graph.exec, stream), NO_MEMORY);
	TRUE(held() == before + first);
	return graph;
}

/* It is known before the next allocation, */
static void fails(void)
{
	(void)fail_once();
	release(alloc(1));
}

/* and before the next launch, which does not change it. */
static void fails_twice(void)
{
	struct graph graph = fail_once();

	FAILS(hip.hipGraphLaunch(graph.exec, stream), NO_MEMORY);
}

/* 5 are refused. */
static void limited(void)
{
	struct graph graph = captured(), other = graph_of(64 * MIB), large;
	void *block, *node;

	OK(hip.hipGraphLaunch(graph.exec, stream)); /* 32 MiB */
	refused(LIMIT / 2 + 1);
	OK(hip.hipMallocAsync(&block, LIMIT / 2, stream));
	see(0);
	FAILS(hip.hipMallocAsync(&node, 1, stream), NO_MEMORY);
	OK(hip.hipStreamBeginCapture(stream, RELAXED));
	OK(hip.hipMallocAsync(&node, 2 * LIMIT, stream)); /* is no memory */
	OK(hip.hipStreamEndCapture(stream, &large.graph));
	release(graph.block);
	OK(hip.hipDeviceGraphMemTrim(0));
	OK(hip.hipFreeAsync(block, stream));
	release(alloc(LIMIT));
	OK(hip.hipGraphLaunch(other.exec, stream));
	TRUE(held() == LIMIT);
	refused(1);
	release(other.block);
	OK(hip.hipDeviceGraphMemTrim(0));
	block = alloc(LIMIT);
	OK(hip.hipGraphLaunch(graph.exec, stream)); /* which nobody refuses */
	TRUE(held() > LIMIT);
	see(0);
	refused(1);
	release(block);
	see(LIMIT / 2);
	refused(LIMIT / 2 + 1);
}

/* What the runtime gives back when the program waits is there at once. */
static void waits(void)
{
	struct graph graph = graph_of(LIMIT);

	OK(hip.hipGraphLaunch(graph.exec, stream));
	refused(1);
	release(graph.block);
	refused(1);
	OK(hip.hipDeviceSynchronize());
	TRUE(held() == 0);
	release(alloc(LIMIT));
	OK(hip.hipGraphLaunch(graph.exec, stream));
	release(graph.block);
	OK(hip.hipDeviceSynchronize());
	see(LIMIT);
}

static void releases_that_capture_none(void)
{
	void *block, *graph;

	OK(hip.hipStreamBeginCapture(stream, RELAXED));
	FAILS(hip.hipMallocAsync(&block, LIMIT + 1, stream), NO_MEMORY);
	OK(hip.hipMallocAsync(&block, LIMIT, stream));
	OK(hip.hipFreeAsync(block, stream));
	OK(hip.hipStreamEndCapture(stream, &graph));
}

/* An error that the program has not read yet. */
static void fail(void)
{
	TRUE(hip.hipFree((void *)12345) == INVALID);
}

/* How it ends when a call that succeeds came behind it. */
static int after_success(void)
{
	return version < 70000000 ? 0 : INVALID;
}

static void errors(void)
{
	struct graph graph = graph_of(32 * MIB);
	void *block, *made, *node;

	fail();
	TRUE(hip.hipGraphLaunch(graph.exec, stream) == 0);
	TRUE(hip.hipGetLastError() == after_success());
	fail();
	TRUE(hip.hipFree(graph.block) == 0);
	TRUE(hip.hipGetLastError() == after_success());
	OK(hip.hipStreamBeginCapture(stream, RELAXED));
	OK(hip.hipMallocAsync(&block, 8 * MIB, stream));
	fail();
	TRUE(hip.hipFreeAsync(block, stream) == 0); /* leaves it as it is */
	TRUE(hip.hipGetLastError() == INVALID);
	/* In another stream than the one that is captured. */
	for (uintptr_t other = 0; other < 3; other++) {
		OK(hip.hipMallocAsync(&node, 1, (void *)other));
		OK(hip.hipFreeAsync(node, (void *)other));
	}
	if (version >= 70000000) {
		fail();
		TRUE(hip.hipMallocAsync(&block, MIB, stream) == 0);
		TRUE(hip.hipGetLastError() == INVALID);
	}
	FAILS(hip.hipMallocAsync(NULL, MIB, NULL), INVALID);
	OK(hip.hipStreamEndCapture(stream, &made));
	FAILS(hip.hipFree((void *)12345), INVALID);
}

int main(int argc, char **argv)
{
	static const struct graph_case cases[] = {
		{"fails", fails},
		{"fails_twice", fails_twice},
		{"limited", limited},
		{"waits", waits},
		{"old", releases_that_capture_none},
		{"errors", errors},
		{NULL, NULL}};

	return graph_main(argc, argv, cases);
}
