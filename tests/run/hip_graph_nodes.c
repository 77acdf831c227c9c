/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Graphs of AMD's runtime that allocate in a program under gpumem-run, for
 * tests/tool_run_hip_graphs.sh: its arguments say which case, and of which
 * runtime.
 */
#include "hip_graph.h"

#include <pthread.h>

enum { THREADS = 6, ROUNDS = 200 };

/* 64 MiB, and 32 MiB at the end; of 3 sizes 2 are gone. */
static void nodes(void)
{
	struct graph graph = graph_of(64 * MIB);
	struct any_params any = {NODE_ALLOCATES, {0}, params_of(32 * MIB, 0)};
	void *made, *exec, *node;

	OK(hip.hipGraphUpload(graph.exec, stream)); /* 64 MiB */
	OK(hip.hipGraphLaunch(graph.exec, stream));
	FAILS(hip.hipGraphLaunch(graph.exec, stream), INVALID);
	OK(hip.hipFreeAsync(graph.block, stream));
	OK(hip.hipGraphLaunch(graph.exec, stream));
	OK(hip.hipDeviceGraphMemTrim(0)); /* all of it is in use */
	release(graph.block);
	OK(hip.hipDeviceGraphMemTrim(0));		/* none */
	OK(hip.hipGraphLaunch_spt(graph.exec, stream)); /* 64 MiB */
	end(graph);
	release(graph.block); /* which outlived its graph */
	TRUE(held() == 64 * MIB);
	OK(hip.hipDeviceGraphMemTrim(0)); /* none */
	OK(hip.hipGraphCreate(&made, 0));
	OK(hip.hipGraphAddNode(&node, made, NULL, 0, &any));
	OK(hip.hipGraphAddMemFreeNode(&node, made, NULL, 0, any.alloc.address));
	OK(hip.hipGraphInstantiateWithFlags(&exec, made, 0));
	OK(hip.hipGraphUpload(exec, stream)); /* 32 MiB */
	OK(hip.hipGraphLaunch(exec, stream));
	OK(hip.hipGraphLaunch(exec, stream));
	TRUE(held() == 32 * MIB);
}

/* Each call that takes memory, by itself: 32 MiB each time. */
static void uploads(void)
{
	struct any_params any = {NODE_ALLOCATES, {0}, params_of(32 * MIB, 0)};
	struct upload upload = {NULL, WITH_UPLOAD, 0, stream};
	void *made, *exec, *node;

	OK(hip.hipGraphCreate(&made, 0));
	OK(hip.hipGraphAddNode(&node, made, NULL, 0, &any));
	OK(hip.hipGraphAddMemFreeNode(&node, made, NULL, 0, any.alloc.address));
	OK(hip.hipGraphInstantiateWithParams(&exec, made, &upload));
	OK(hip.hipDeviceGraphMemTrim(0));
	OK(hip.hipGraphUpload(exec, stream));
	OK(hip.hipDeviceGraphMemTrim(0));
	OK(hip.hipGraphLaunch_spt(exec, stream));
	OK(hip.hipDeviceGraphMemTrim(0));
	OK(hip.hipGraphLaunch(exec, stream));
	TRUE(held() == 32 * MIB);
}

/* Some runtimes take memory with the node, and so 64 MiB here, others none. */
static void idle(void)
{
	(void)graph_of(64 * MIB);
	TRUE(held() == (is_own && version < 60200000 ? 64 * MIB : 0));
}

/* 4096 bytes of a stream-ordered pool, twice, and 32 MiB of a graph. */
static void captures(void)
{
	struct graph graph = captured();
	void *block;

	OK(hip.hipMallocAsync(&block, 4096, stream));
	OK(hip.hipFreeAsync(block, stream));
	OK(hip.hipGraphLaunch(graph.exec, stream));
	OK(hip.hipFreeAsync(graph.block, stream));
	OK(hip.hipGraphLaunch(graph.exec, stream));
	release(graph.block);
	FAILS(hip.hipFree(graph.block), INVALID);
	OK(hip.hipMallocAsync(&block, 4096, stream));
	release(block);
	end(graph);
}

/* Releases that do not say what graphs have, or capture no allocation: 8 MiB of
 * a stream-ordered pool. */
static void old(void)
{
	void *block, *graph;

	OK(hip.hipStreamBeginCapture(stream, RELAXED));
	OK(hip.hipMallocAsync(&block, 8 * MIB, stream));
	OK(hip.hipFreeAsync(block, stream));
	OK(hip.hipStreamEndCapture(stream, &graph));
	OK(hip.hipGraphDestroy(graph));
}

/* Where a node was is other memory: 2 MiB and 4 MiB, twice, all freed. */
static void again(void)
{
	struct graph graph = graph_of(16 * MIB);
	void *block;

	end(graph);
	block = alloc(2 * MIB);
	TRUE(block == graph.block);
	release(block);
	for (int i = 0; i < 2; i++) {
		graph = graph_of(16 * MIB);
		end(graph);
		OK(hip.hipMallocAsync(&block, 4 * MIB, stream));
		TRUE(block == graph.block);
		OK(i ? hip.hipFree(block) : hip.hipFreeAsync(block, stream));
	}
}

/* 32 MiB of device 1 and 64 of device 0; then, of a stream of device 1 while
 * device 0 is the current one, 64 MiB more of device 1. hip_below has them on
 * the device that made the graph, whatever the node says. */
static void devices(void)
{
	struct params params = params_of(32 * MIB, is_own ? 0 : 1);
	void *other, *graph, *exec, *node, *block;

	OK(hip.hipSetDevice(1));
	OK(hip.hipStreamCreateWithFlags(&other, NON_BLOCKING));
	OK(hip.hipGraphCreate(&graph, 0));
	OK(hip.hipSetDevice(0));
	OK(hip.hipGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
	OK(hip.hipGraphInstantiateWithFlags(&exec, graph, 0));
	OK(hip.hipGraphLaunch(exec, stream));
	OK(hip.hipGraphLaunch(graph_of(64 * MIB).exec, stream));
	OK(hip.hipStreamBeginCapture(other, RELAXED));
	OK(hip.hipMallocAsync(&block, 64 * MIB, other));
	OK(hip.hipStreamEndCapture(other, &graph));
	OK(hip.hipGraphInstantiateWithFlags(&exec, graph, 0));
	OK(hip.hipGraphLaunch(exec, other));
	TRUE(held() == 160 * MIB);
}

/* A free gives back what was free already: 96 MiB, then 32. */
static void gives_back(void)
{
	struct graph large = graph_of(64 * MIB), small = graph_of(32 * MIB);

	OK(hip.hipGraphLaunch(large.exec, stream));
	OK(hip.hipGraphLaunch(small.exec, stream));
	release(large.block);
	release(small.block);
	TRUE(held() == 32 * MIB);
}

/* What the runtime ends with a device is gone: 64 MiB, then none. */
static void reset(void)
{
	OK(hip.hipGraphLaunch(graph_of(64 * MIB).exec, stream));
	OK(hip.hipDeviceReset());
	TRUE(held() == 0);
}

/* Nothing is asked of the runtime for a program without nodes. */
static void none(void)
{
	struct any_params nothing = {NODE_NOTHING, {0}, params_of(1, 0)};
	void *graph, *exec, *node;

	OK(hip.hipStreamBeginCapture(stream, RELAXED));
	OK(hip.hipStreamEndCapture(stream, &graph));
	OK(hip.hipGraphAddNode(&node, graph, NULL, 0, &nothing));
	OK(hip.hipGraphInstantiateWithFlags(&exec, graph, 0));
	OK(hip.hipGraphUpload(exec, stream));
	OK(hip.hipGraphLaunch(exec, stream));
	OK(hip.hipDeviceGraphMemTrim(0));
	OK(hip.hipMallocAsync(&node, 1, stream));
	OK(hip.hipFreeAsync(node, stream));
	TRUE(asked() == 0);
}

/* A runtime that does not answer is asked once, which the last error does not
 * tell. */
static void deaf(void)
{
	struct graph graph = captured();

	OK(hip.hipGraphLaunch(graph.exec, stream));
	release(graph.block);
	release(alloc(1));
	OK(hip.hipGraphLaunch(graph_of(64 * MIB).exec, stream));
	TRUE(asked() <= 1);
}

/* Another thread trims while the runtime is about to say 64 MiB: none counts.
 */
static void overtaken(void)
{
	struct graph graph = graph_of(64 * MIB);

	OK(hip.hipGraphLaunch(graph.exec, stream));
	release(graph.block);
	TRUE(held() == 0);
}

static void *run_one(void *argument)
{
	struct graph *graph = argument;

	for (int i = 0; i < ROUNDS; i++) {
		OK(hip.hipGraphLaunch(graph->exec, stream));
		OK(hip.hipFree(graph->block));
		OK(hip.hipDeviceGraphMemTrim(0));
	}
	OK(hip.hipGraphLaunch(graph->exec, stream));
	return NULL;
}

/* The last answer counts, whoever asked: 32 MiB of each. */
static void threads(void)
{
	struct graph graphs[THREADS];
	pthread_t ids[THREADS];

	for (int i = 0; i < THREADS; i++)
		graphs[i] = graph_of(32 * MIB);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, run_one, &graphs[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	TRUE(held() == 32 * MIB * THREADS);
}

int main(int argc, char **argv)
{
	static const struct graph_case cases[] = {{"nodes", nodes},
						  {"uploads", uploads},
						  {"idle", idle},
						  {"captures", captures},
						  {"old", old},
						  {"again", again},
						  {"devices", devices},
						  {"reset", reset},
						  {"none", none},
						  {"deaf", deaf},
						  {"overtaken", overtaken},
						  {"gives_back", gives_back},
						  {"threads", threads},
						  {NULL, NULL}};

	return graph_main(argc, argv, cases);
}
