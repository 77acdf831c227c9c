/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Graphs and their nodes, which allocate, free or do nothing: no graph does
 * anything else here. The address of a node stays the same,
 * and is a reservation that nobody reads. Seen: a node takes no memory, nor
 * does a graph that is instantiated; memory of a graph that ran may be freed
 * when the graph is gone.
 */
#include "cuda_graph.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { NODE_NOTHING = 5, NODE_ALLOCATES = 10 };

static struct fake_node *nodes; /* all */

struct fake_node *fake_node_new(int device, uint64_t bytes)
{
	struct fake_node *node = calloc(1, sizeof(*node));
	void *map = mmap(NULL, bytes + FAKE_GRANULE, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (!node || map == MAP_FAILED) {
		free(node);
		return NULL;
	}
	node->map = map;
	node->address = ((uintptr_t)map + FAKE_GRANULE - 1) &
			~(uint64_t)(FAKE_GRANULE - 1);
	node->bytes = bytes;
	node->device = device;
	node->next = nodes;
	nodes = node;
	return node;
}

struct fake_node *fake_node_next(const struct fake_node *node,
				 const void *owner)
{
	struct fake_node *next = node ? node->next : nodes;

	while (next && next->owner != owner)
		next = next->next;
	return next;
}

static void drop_node(struct fake_node *node)
{
	struct fake_node **link = &nodes;

	while (*link != node)
		link = &(*link)->next;
	*link = node->next;
	munmap(node->map, node->bytes + FAKE_GRANULE);
	fake.vacant = node->address;
	free(node);
}

struct fake_node *fake_node_at(uint64_t address, const void *owner)
{
	struct fake_node *node = fake_node_next(NULL, owner);

	while (node && node->address != address)
		node = fake_node_next(node, owner);
	return node;
}

void fake_nodes_disown(const void *owner)
{
	struct fake_node *node;

	while ((node = fake_node_next(NULL, owner)) != NULL) {
		node->owner = NULL;
		if (!node->live)
			drop_node(node);
	}
}

bool fake_node_free(uint64_t address)
{
	struct fake_node *node = nodes;

	while (node && (node->address != address || !node->live))
		node = node->next;
	if (!node)
		return false;
	node->live = false;
	if (!node->owner)
		drop_node(node);
	return true;
}

uint64_t fake_nodes_live(int device)
{
	uint64_t bytes = 0;

	for (const struct fake_node *node = nodes; node; node = node->next)
		if (node->live && node->device == device)
			bytes += node->bytes;
	return bytes;
}

/* ---- graphs ----------------------------------------------------------------
 */

struct fake_graph *fake_graph_new(const void *owner)
{
	struct fake_graph *graph = fake_object_new(FAKE_GRAPH, sizeof(*graph));
	struct fake_node *node;

	if (!graph)
		return NULL;
	graph->refs = 1;
	while (owner && (node = fake_node_next(NULL, owner)) != NULL)
		node->owner = graph;
	return graph;
}

void fake_graph_put(struct fake_graph *graph)
{
	if (--graph->refs)
		return;
	fake_nodes_disown(graph);
	free(graph);
}

static CUresult create(CUgraph *graph_out, unsigned flags)
{
	struct fake_graph *graph;

	if (!graph_out || flags)
		return CUDA_ERROR_INVALID_VALUE;
	graph = fake_graph_new(NULL);
	if (!graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*graph_out = fake_handle_of(graph);
	return CUDA_SUCCESS;
}

static CUresult destroy(CUgraph handle)
{
	struct fake_graph *graph = fake_object_find(FAKE_GRAPH, handle);

	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	fake_object_retire(graph);
	fake_graph_put(graph);
	return CUDA_SUCCESS;
}

/* Seen: more than the device has is refused here, less that is not free is not.
 */
static CUresult add(CUgraphNode *node_out, CUgraph handle,
		    CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	struct fake_graph *graph = fake_object_find(FAKE_GRAPH, handle);
	struct fake_node *node;

	if (!graph || !node_out || !params || !params->bytesize)
		return CUDA_ERROR_INVALID_VALUE;
	if (params->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    !fake_device_good(params->poolProps.location.id))
		return CUDA_ERROR_INVALID_VALUE;
	if (params->bytesize > fake.capacity_bytes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node = fake_node_new(params->poolProps.location.id, params->bytesize);
	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->owner = graph;
	params->dptr = node->address;
	*node_out = (CUgraphNode)node;
	return CUDA_SUCCESS;
}

static CUresult add_any(CUgraphNode *node_out, CUgraph handle,
			CUgraphNodeParams *params)
{
	if (params && (int)params->type == NODE_ALLOCATES)
		return add(node_out, handle, (void *)&params->alloc);
	if (!params || (int)params->type != NODE_NOTHING)
		return CUDA_ERROR_NOT_SUPPORTED;
	*node_out = (CUgraphNode)&nodes;
	return CUDA_SUCCESS;
}

static CUresult add_free(CUgraphNode *node_out, CUgraph handle,
			 CUdeviceptr address)
{
	struct fake_graph *graph = fake_object_find(FAKE_GRAPH, handle);
	struct fake_node *node = graph ? fake_node_at(address, graph) : NULL;

	if (!node_out || !node || node->freed)
		return CUDA_ERROR_INVALID_VALUE;
	node->freed = true;
	*node_out = (CUgraphNode)node;
	return CUDA_SUCCESS;
}

CUresult cuGraphCreate(CUgraph *graph_out, unsigned flags)
{
	FAKE_CALL(cuGraphCreate, create(graph_out, flags));
}

CUresult cuGraphDestroy(CUgraph graph)
{
	FAKE_CALL(cuGraphDestroy, destroy(graph));
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *node_out, CUgraph graph,
				const CUgraphNode *needs, size_t count,
				CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	(void)needs;
	(void)count;
	FAKE_CALL(cuGraphAddMemAllocNode, add(node_out, graph, params));
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node_out, CUgraph graph,
			       const CUgraphNode *needs, size_t count,
			       CUdeviceptr address)
{
	(void)needs;
	(void)count;
	FAKE_CALL(cuGraphAddMemFreeNode, add_free(node_out, graph, address));
}

CUresult cuGraphAddNode(CUgraphNode *node_out, CUgraph graph,
			const CUgraphNode *needs, size_t count,
			CUgraphNodeParams *params)
{
	(void)needs;
	(void)count;
	FAKE_CALL(cuGraphAddNode, add_any(node_out, graph, params));
}

#define ADD_NODE(name)                                                         \
	CUresult name(CUgraphNode *node_out, CUgraph graph,                    \
		      const CUgraphNode *needs, const CUgraphEdgeData *edges,  \
		      size_t count, CUgraphNodeParams *params)                 \
	{                                                                      \
		(void)needs;                                                   \
		(void)edges;                                                   \
		(void)count;                                                   \
		FAKE_CALL(name, add_any(node_out, graph, params));             \
	}

ADD_NODE(cuGraphAddNode_v2)
ADD_NODE(cuGraphAddNode_v3)
