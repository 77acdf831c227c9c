/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Graphs that allocate in a program under gpumem-run, for
 * tests/tool_run_graphs.sh and tests/tool_run_record.sh: its argument says
 * which case. Over the double of NVIDIA's driver.
 */
#include "graph.h"

/* 64 MiB at the peak and 32 MiB at the end; of 4 sizes 3 are gone. */
static void nodes(void)
{
	struct graph graph = graph_of(40 * MIB, 0);
	struct any_params any = {NODE_ALLOCATES, {0}, params_of(10 * MIB, 0)};
	void *made, *exec, *node;

	TRUE(held() == 0);
	OK(g.cuGraphUpload(graph.exec, stream)); /* 64 MiB */
	OK(g.cuGraphLaunch(graph.exec, stream));
	TRUE(g.cuGraphLaunch(graph.exec, stream) == INVALID);
	OK(cu.cuMemFreeAsync(graph.block, stream));
	OK(g.cuGraphLaunch(graph.exec, stream));
	OK(g.cuDeviceGraphMemTrim(0)); /* all of it is in use */
	OK(cu.cuMemFree_v2(graph.block));
	OK(g.cuDeviceGraphMemTrim(0));		      /* none */
	OK(g.cuGraphLaunch_ptsz(graph.exec, stream)); /* 64 MiB */
	end(graph);
	OK(cu.cuMemFree_v2(graph.block)); /* which outlived its graph */
	TRUE(held() == 64 * MIB);
	OK(g.cuDeviceGraphMemTrim(0)); /* none */
	OK(g.cuGraphCreate(&made, 0));
	OK(g.cuGraphAddNode(&node, made, NULL, 0, &any));
	OK(g.cuGraphAddMemFreeNode(&node, made, NULL, 0, any.alloc.block));
	OK(g.cuGraphInstantiateWithFlags(&exec, made, 0));
	OK(g.cuGraphUpload_ptsz(exec, stream)); /* 32 MiB */
	OK(g.cuGraphLaunch(exec, stream));
	OK(g.cuGraphLaunch(exec, stream));
	TRUE(held() == 32 * MIB);
}

/* Of the third function for nodes: 32 MiB. */
static void third(void)
{
	struct any_params any = {NODE_ALLOCATES, {0}, params_of(10 * MIB, 0)};
	void *made, *exec, *node;

	OK(g.cuGraphCreate(&made, 0));
	OK(g.cuGraphAddNode_v3(&node, made, NULL, NULL, 0, &any));
	OK(g.cuGraphInstantiateWithFlags(&exec, made, 0));
	OK(g.cuGraphLaunch(exec, stream));
}

/* Of the second function for nodes, and without a launch: 32 MiB, four times.
 */
static void uploads(void)
{
	struct any_params any = {NODE_ALLOCATES, {0}, params_of(10 * MIB, 0)};
	struct upload upload = {WITH_UPLOAD, stream, NULL, 0};
	void *made, *exec, *node;

	OK(g.cuGraphCreate(&made, 0));
	OK(g.cuGraphAddNode_v2(&node, made, NULL, NULL, 0, &any));
	OK(g.cuGraphInstantiateWithParams(&exec, made, &upload));
	OK(g.cuDeviceGraphMemTrim(0));
	OK(g.cuGraphExecDestroy(exec));
	OK(g.cuGraphInstantiateWithParams_ptsz(&exec, made, &upload));
	OK(g.cuDeviceGraphMemTrim(0));
	OK(g.cuGraphUpload(exec, stream));
	OK(g.cuDeviceGraphMemTrim(0));
	OK(g.cuGraphUpload_ptsz(exec, stream));
	OK(g.cuGraphExecDestroy(exec));
}

/* 4096 bytes of a stream-ordered pool, twice, and 32 MiB of a graph. */
static void captures(void)
{
	struct graph graph = captured();
	address block;

	TRUE(held() == 0);
	OK(cu.cuMemAllocAsync(&block, 4096, stream));
	OK(cu.cuMemFreeAsync(block, stream));
	OK(g.cuGraphLaunch(graph.exec, stream));
	OK(g.cuMemFreeAsync_ptsz(graph.block, stream));
	OK(g.cuGraphLaunch(graph.exec, stream));
	OK(cu.cuMemFree_v2(graph.block));
	TRUE(cu.cuMemFree_v2(graph.block) == INVALID);
	OK(cu.cuMemAllocAsync(&block, 4096, stream));
	OK(cu.cuMemFree_v2(block));
	end(graph);
}

/* Where a node was is other memory: 2 MiB, 4 MiB and 4 MiB, all freed. */
static void again(void)
{
	struct graph graph = graph_of(16 * MIB, 0);
	address block;

	end(graph);
	block = alloc(2 * MIB);
	TRUE(block == graph.block);
	release(block);
	graph = graph_of(16 * MIB, 0);
	end(graph);
	OK(cu.cuMemAllocAsync(&block, 4 * MIB, stream));
	TRUE(block == graph.block);
	OK(cu.cuMemFreeAsync(block, stream));
	graph = graph_of(16 * MIB, 0);
	end(graph);
	OK(cu.cuMemAllocAsync(&block, 4 * MIB, stream));
	TRUE(block == graph.block);
	OK(cu.cuMemFree_v2(block));
}

/* The same of memory that is kept, which is freed once. */
static void twice(void)
{
	struct graph graph = graph_of(16 * MIB, 0);
	address block;

	end(graph);
	block = alloc(2 * MIB);
	TRUE(block == graph.block);
	release(block);
	TRUE(cu.cuMemFree_v2(block) == INVALID);
	TRUE(cu.cuMemFreeAsync(block, stream) == INVALID);
}

/* It belongs to the device, and not to the context that launched it. */
static void contexts(void)
{
	struct graph graph;
	void *context;

	OK(cu.cuCtxCreate_v2(&context, 0, 0));
	OK(cu.cuStreamCreate(&stream, 1));
	graph = graph_of(16 * MIB, 0);
	OK(g.cuGraphLaunch(graph.exec, stream));
	OK(cu.cuCtxDestroy_v2(context));
	TRUE(held() == 32 * MIB);
}

/* 32 MiB of device 1 and then 64 of device 0, by a context of device 0. */
static void devices(void)
{
	OK(g.cuGraphLaunch(graph_of(16 * MIB, 1).exec, stream));
	OK(g.cuGraphLaunch(graph_of(40 * MIB, 0).exec, stream));
}

/* Nothing is asked of the driver for a program without nodes. */
static void none(void)
{
	struct params params = params_of((size_t)1 << 50, 0);
	struct any_params nothing = {NODE_NOTHING, {0}, params_of(1, 0)};
	void *graph, *exec, *node;

	OK(cu.cuStreamBeginCapture_v2(stream, RELAXED));
	OK(cu.cuStreamEndCapture(stream, &graph));
	OK(g.cuGraphAddNode(&node, graph, NULL, 0, &nothing));
	OK(g.cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &nothing));
	TRUE(g.cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params) ==
	     NO_MEMORY);
	OK(g.cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(g.cuGraphUpload(exec, stream));
	OK(g.cuGraphLaunch(exec, stream));
	OK(g.cuDeviceGraphMemTrim(0));
	OK(g.cuGraphExecDestroy(exec));
	TRUE(cu.calls("cuDeviceGetGraphMemAttribute") == 0);
	release(alloc(1));
}

/* What cuGetProcAddress() answers is what dlsym() does. */
static void resolved(void)
{
	void *found;

#define SAME(base, name, version, flags)                                       \
	OK(g.cuGetProcAddress_v2(#base, &found, version, flags, NULL));        \
	TRUE(found == (void *)g.name);
	SAME(cuGraphLaunch, cuGraphLaunch, 12000, 0)
	SAME(cuGraphLaunch, cuGraphLaunch_ptsz, 12000, 2)
	SAME(cuGraphUpload, cuGraphUpload, 12000, 0)
	SAME(cuGraphUpload, cuGraphUpload_ptsz, 12000, 2)
	SAME(cuGraphAddNode, cuGraphAddNode, 12020, 0)
	SAME(cuGraphAddNode, cuGraphAddNode_v2, 13000, 0)
	SAME(cuGraphAddNode, cuGraphAddNode_v3, 13040, 0)
	SAME(cuGraphAddMemAllocNode, cuGraphAddMemAllocNode, 12000, 0)
	SAME(cuDeviceGraphMemTrim, cuDeviceGraphMemTrim, 12000, 0)
	nodes();
}

int main(int argc, char **argv)
{
	static const struct graph_case cases[] = {
		{"nodes", nodes},	{"uploads", uploads},
		{"third", third},	{"captures", captures},
		{"again", again},	{"twice", twice},
		{"contexts", contexts}, {"devices", devices},
		{"none", none},		{"resolved", resolved},
		{NULL, NULL}};

	return graph_main(argc, argv, cases);
}
