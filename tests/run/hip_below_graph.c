/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Graphs of the runtime hip_below, whose nodes allocate, free or do nothing. As
 * AMD's source has it: their memory is of the device of the graph, whatever the
 * node says. It is taken with the node by releases before 6.2, and with the
 * launch since; what is freed stays with the device for its next graphs, goes
 * back when it is more than what is in use, or when it is trimmed, and in later
 * releases also when the program waits for the device. A launch that finds too
 * little leaves what it found. One thread at a time, so no lock of its own.
 */
#define _GNU_SOURCE
#include "hip_below_graph.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE ((size_t)2 << 20)

enum { NODES = 256, NODE_NOTHING = 5, NODE_ALLOCATES = 10 };
enum { UPLOAD = 2, NODE_EAGER = 60200000, WAITS_GIVE = 60200000 };

static struct node {
	struct graph *graph;
	void *address; /* NULL: the entry is empty */
	size_t bytes;
	int freed; /* by the graph itself */
	int taken; /* has memory */
	int live;  /* since a launch, until the program frees it */
} nodes[NODES];

static size_t busy[DEVICES], idle[DEVICES];

/* ---- memory ----------------------------------------------------------------
 */

static void drop_idle(int device)
{
	(void)charge(device, -(long)idle[device]);
	idle[device] = 0;
}

size_t reserved(int device)
{
	return busy[device] + idle[device];
}

static int take_for(struct node *node)
{
	int device = node->graph->device;
	size_t more =
		node->bytes > idle[device] ? node->bytes - idle[device] : 0;

	if (charge(device, (long)more) != OK)
		return NO_MEMORY;
	idle[device] += more - node->bytes;
	busy[device] += node->bytes;
	node->taken = 1;
	return OK;
}

static void give_of(struct node *node)
{
	int device = node->graph->device;

	if (!node->taken)
		return;
	if (idle[device] > busy[device])
		drop_idle(device);
	busy[device] -= node->bytes;
	idle[device] += node->bytes;
	node->taken = node->live = 0;
}

int free_node(void *address)
{
	for (int i = 0; address && i < NODES; i++)
		if (nodes[i].address == address && nodes[i].taken) {
			give_of(&nodes[i]);
			return OK;
		}
	return INVALID;
}

void end_graphs(int device)
{
	drop_idle(device);
	(void)charge(device, -(long)busy[device]);
	busy[device] = 0;
	for (int i = 0; i < NODES; i++)
		if (nodes[i].address && nodes[i].graph->device == device)
			nodes[i].taken = nodes[i].live = 0;
}

/* ---- nodes -----------------------------------------------------------------
 */

struct graph *new_graph(int device)
{
	struct graph *graph = calloc(1, sizeof(*graph));

	graph->device = device;
	return graph;
}

int add_node(struct graph *graph, size_t bytes, void **out)
{
	struct node *node = nodes;

	while (node->address)
		node++;
	*out = NULL;
	if (bytes > (size_t)1 << 40)
		return NO_MEMORY;
	node->graph = graph;
	node->bytes = (bytes + PAGE - 1) / PAGE * PAGE;
	if (below_version() < NODE_EAGER && take_for(node) != OK)
		return NO_MEMORY;
	node->address =
		mmap(NULL, node->bytes, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	*out = node->address;
	return OK;
}

int add_free(struct graph *graph, void *address)
{
	for (int i = 0; i < NODES; i++)
		if (nodes[i].address == address && nodes[i].graph == graph &&
		    !nodes[i].freed) {
			nodes[i].freed = 1;
			give_of(&nodes[i]);
			return OK;
		}
	return INVALID;
}

/* ---- the functions ---------------------------------------------------------
 */

int hipGraphCreate(struct graph **out, unsigned flags)
{
	*out = new_graph(current);
	return leave(OK);
}

int hipGraphDestroy(struct graph *graph)
{
	for (int i = 0; i < NODES; i++)
		if (nodes[i].graph == graph && !nodes[i].taken) {
			munmap(nodes[i].address, nodes[i].bytes);
			nodes[i] = (struct node){NULL};
		}
	return leave(OK);
}

int hipGraphAddMemAllocNode(void **out, struct graph *graph, const void *needs,
			    size_t count, struct params *params)
{
	*out = graph;
	return leave(add_node(graph, params->bytes, &params->address));
}

int hipGraphAddMemFreeNode(void **out, struct graph *graph, const void *needs,
			   size_t count, void *address)
{
	*out = graph;
	return leave(add_free(graph, address));
}

int hipGraphAddNode(void **out, struct graph *graph, const void *needs,
		    size_t count, struct any_params *params)
{
	if (params && params->type == NODE_ALLOCATES)
		return hipGraphAddMemAllocNode(out, graph, needs, count,
					       &params->alloc);
	return leave(params && params->type == NODE_NOTHING ? OK : INVALID);
}

/* A graph is launched as it is. */
int hipGraphInstantiateWithFlags(struct graph **out, struct graph *graph,
				 unsigned long long flags)
{
	*out = graph;
	return leave(OK);
}

/* What a launch would need is there, for whoever needs it. */
static int upload(struct graph *graph)
{
	size_t bytes = 0, more;

	for (int i = 0; i < NODES; i++)
		if (nodes[i].graph == graph && !nodes[i].taken)
			bytes += nodes[i].bytes;
	more = bytes > idle[graph->device] ? bytes - idle[graph->device] : 0;
	if (charge(graph->device, (long)more) != OK)
		return NO_MEMORY;
	idle[graph->device] += more;
	return OK;
}

static int launch(struct graph *graph)
{
	int result = OK;

	for (int i = 0; i < NODES; i++)
		if (nodes[i].graph == graph && nodes[i].live)
			return INVALID;
	for (int i = 0; result == OK && i < NODES; i++)
		if (nodes[i].graph == graph && !nodes[i].taken)
			result = take_for(&nodes[i]);
	for (int i = 0; result == OK && i < NODES; i++)
		if (nodes[i].graph == graph && nodes[i].freed)
			give_of(&nodes[i]);
		else if (nodes[i].graph == graph)
			nodes[i].live = 1;
	return result;
}

int hipGraphUpload(struct graph *graph, void *stream)
{
	return leave(upload(graph));
}

int hipGraphInstantiateWithParams(struct graph **out, struct graph *graph,
				  struct upload *params)
{
	*out = graph;
	return leave(params->flags == UPLOAD ? upload(graph) : OK);
}

int hipGraphExecDestroy(struct graph *graph)
{
	return leave(OK);
}

int hipGraphLaunch(struct graph *graph, void *stream)
{
	return leave(launch(graph));
}

int hipGraphLaunch_spt(struct graph *graph, void *stream)
{
	return leave(launch(graph));
}

int hipDeviceGraphMemTrim(int device)
{
	drop_idle(device);
	return leave(OK);
}

int hipDeviceSynchronize(void)
{
	if (below_version() >= WAITS_GIVE)
		drop_idle(current);
	return leave(OK);
}
