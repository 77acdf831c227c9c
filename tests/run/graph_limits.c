/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Graphs that find too little memory, of the device or under --limit, for
 * tests/tool_run_graphs.sh: its argument says which case.
 */
#include "graph.h"

#define LIMIT (64 * MIB)

/* Of 96 MiB that the device has, what is kept goes back. */
static void full(void)
{
	struct upload upload = {WITH_UPLOAD, stream, NULL, 0};
	struct graph graph = graph_of(64 * MIB, 0);

	release(alloc(48 * MIB));
	OK(g.cuGraphUpload(graph.exec, stream));
	OK(g.cuDeviceGraphMemTrim(0));
	release(alloc(48 * MIB));
	OK(g.cuGraphLaunch(graph.exec, stream));
	OK(cu.cuMemFree_v2(graph.block));
	OK(g.cuDeviceGraphMemTrim(0));
	OK(g.cuGraphExecDestroy(graph.exec));
	release(alloc(48 * MIB));
	OK(g.cuGraphInstantiateWithParams(&graph.exec, graph.graph, &upload));
}

/* Nothing is kept; a launch that fails leaves 32 MiB. */
static void fails(void)
{
	struct graph graph = graph_of(64 * MIB, 0);

	(void)alloc(48 * MIB);
	TRUE(g.cuGraphLaunch(graph.exec, stream) == NO_MEMORY);
	TRUE(held() == 80 * MIB);
}

/* 3 are refused. */
static void limited(void)
{
	struct graph graph = captured(), other = graph_of(40 * MIB, 0);
	address block, node;
	size_t left, total;

	OK(g.cuGraphLaunch(graph.exec, stream));
	TRUE(cu.cuMemAlloc_v2(&block, LIMIT / 2 + 1) == NO_MEMORY);
	OK(cu.cuMemAllocAsync(&block, LIMIT / 2, stream));
	OK(cu.cuMemGetInfo_v2(&left, &total));
	TRUE(left == 0 && total == LIMIT);
	OK(cu.cuStreamBeginCapture_v2(stream, RELAXED));
	OK(cu.cuMemAllocAsync(&node, 2 * LIMIT, stream)); /* is no memory */
	OK(cu.cuStreamEndCapture(stream, &other.graph));
	OK(cu.cuMemFree_v2(graph.block));
	OK(g.cuDeviceGraphMemTrim(0));
	OK(cu.cuMemFreeAsync(block, stream));
	release(alloc(LIMIT)); /* what is kept goes back behind the launch */
	OK(g.cuGraphLaunch(other.exec, stream));
	TRUE(held() == LIMIT);
	TRUE(cu.cuMemAlloc_v2(&block, 1) == NO_MEMORY);
	OK(cu.cuMemFree_v2(other.block));
	OK(g.cuDeviceGraphMemTrim(0));
	block = alloc(LIMIT);
	OK(g.cuGraphLaunch(graph.exec, stream)); /* which nobody can refuse */
	TRUE(held() > LIMIT);
	release(block);
	TRUE(held() <= LIMIT);
	OK(cu.cuMemGetInfo_v2(&left, &total));
	TRUE(left == LIMIT / 2);
	TRUE(cu.cuMemAlloc_v2(&block, LIMIT / 2 + 1) == NO_MEMORY);
}

int main(int argc, char **argv)
{
	static const struct graph_case cases[] = {{"full", full},
						  {"fails", fails},
						  {"limited", limited},
						  {NULL, NULL}};

	return graph_main(argc, argv, cases);
}
