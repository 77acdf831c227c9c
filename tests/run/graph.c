/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See graph.h.
 */
#include "graph.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct graph_driver g;
void *stream;

static void find(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

#define FIND(name, parameters)                                                 \
	*(void **)&g.name = dlsym(library, #name);                             \
	TRUE(g.name);
	GRAPHS(FIND)
#undef FIND
	OK(cu.cuStreamCreate(&stream, 1));
}

struct params params_of(size_t bytes, int device)
{
	return (struct params){.pool = {1, 0, 1, device, NULL, {0}},
			       .bytes = bytes};
}

struct graph graph_of(size_t bytes, int device)
{
	struct params params = params_of(bytes, device);
	struct graph made;
	void *node;

	OK(g.cuGraphCreate(&made.graph, 0));
	OK(g.cuGraphAddMemAllocNode(&node, made.graph, NULL, 0, &params));
	OK(g.cuGraphInstantiateWithFlags(&made.exec, made.graph, 0));
	made.block = params.block;
	return made;
}

void end(struct graph graph)
{
	OK(g.cuGraphExecDestroy(graph.exec));
	OK(g.cuGraphDestroy(graph.graph));
}

uint64_t held(void)
{
	struct fakecuda_held now;

	cu.audit(&now);
	return now.used_bytes;
}

struct graph captured(void)
{
	struct graph made;
	address freed;

	OK(cu.cuStreamBeginCapture_v2(stream, RELAXED));
	OK(cu.cuMemAllocAsync(&freed, 8 * MIB, stream));
	OK(g.cuMemAllocAsync_ptsz(&made.block, 24 * MIB, stream));
	OK(cu.cuMemFreeAsync(freed, stream));
	OK(cu.cuStreamEndCapture(stream, &made.graph));
	OK(g.cuGraphInstantiateWithFlags(&made.exec, made.graph, 0));
	return made;
}

int graph_main(int argc, char **argv, const struct graph_case *cases)
{
	(void)begin();
	find();
	for (; argc > 1 && cases->name; cases++)
		if (!strcmp(cases->name, argv[1])) {
			cases->run();
			printf("done\n");
			return 0;
		}
	return 2;
}
