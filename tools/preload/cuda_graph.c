/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of graphs. A node that allocates takes nothing before its graph is
 * uploaded or launched. Then the driver takes what it needs in units of its
 * own, uses it for other graphs too, and keeps it until it is trimmed, even
 * when graphs and contexts have ended, or the call found too little. So counted
 * is not what nodes ask for but what the driver says it has reserved on a
 * device: one block, which is replaced when its size changes. Launches cost
 * nothing until a node was seen.
 */
#include "cuda_graph.h"
#include "nodes.h"
#include "store.h"

#include <stdatomic.h>

enum { NODE_ALLOCATES = 10 }; /* of enum CUgraphNodeType */

/* Older headers do not have it. */
struct node_params {
	int type, reserved[3];
	CUDA_MEM_ALLOC_NODE_PARAMS alloc;
};

/* A bit for each device of which a node was seen. */
static _Atomic uint32_t seen;

_Static_assert(LEDGER_DEVICES <= 32, "");

/* ---- nodes -----------------------------------------------------------------
 */

static void add_node(CUdeviceptr address, int device)
{
	atomic_fetch_or(&seen, UINT32_C(1) << device);
	nodes_add(LEDGER_CUDA, address);
}

bool graph_captures(CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	return REAL(cuStreamIsCapturing)(stream, &status) == CUDA_SUCCESS &&
	       status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

void graph_captured(CUresult result, CUdeviceptr address)
{
	const void *context;
	int device;

	if (result == CUDA_SUCCESS && address && count_where(&context, &device))
		add_node(address, device);
}

bool graph_has(CUdeviceptr address)
{
	return atomic_load(&seen) && nodes_has(LEDGER_CUDA, address);
}

static void added(CUresult result, const CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	int device;

	if (result != CUDA_SUCCESS || !preload_enter())
		return;
	device = params->poolProps.location.id;
	if (count_is_device(device))
		add_node(params->dptr, device);
	preload_leave();
}

CUresult wrap_cuGraphAddMemAllocNode(CUgraphNode *node_out, CUgraph graph,
				     const CUgraphNode *needs, size_t count,
				     CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	CUresult result = REAL(cuGraphAddMemAllocNode)(node_out, graph, needs,
						       count, params);

	added(result, params);
	return result;
}

static void added_any(CUresult result, const struct node_params *params)
{
	if (result == CUDA_SUCCESS && params->type == NODE_ALLOCATES)
		added(result, &params->alloc);
}

CUresult wrap_cuGraphAddNode(CUgraphNode *node_out, CUgraph graph,
			     const CUgraphNode *needs, size_t count,
			     void *params)
{
	CUresult result =
		REAL(cuGraphAddNode)(node_out, graph, needs, count, params);

	added_any(result, params);
	return result;
}

#define ADD_NODE(name)                                                         \
	CUresult wrap_##name(CUgraphNode *node_out, CUgraph graph,             \
			     const CUgraphNode *needs, const void *edges,      \
			     size_t count, void *params)                       \
	{                                                                      \
		CUresult result = REAL(name)(node_out, graph, needs, edges,    \
					     count, params);                   \
                                                                               \
		added_any(result, params);                                     \
		return result;                                                 \
	}

ADD_NODE(cuGraphAddNode_v2)
ADD_NODE(cuGraphAddNode_v3)

/* ---- what the driver has reserved ------------------------------------------
 */

/* With the mutex, so that the last answer is the one that stays. */
static void look_at(struct preload_state *state, int device)
{
	cuuint64_t bytes;

	if (REAL(cuDeviceGetGraphMemAttribute)(
		    device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &bytes) !=
		    CUDA_SUCCESS ||
	    !nodes_reserved(state, LEDGER_CUDA, device, bytes))
		return;
	while (limit_passed(state, LEDGER_CUDA, device) &&
	       pool_return_oldest(state, device) != 0)
		continue;
}

static void failed(void)
{
	const void *context;
	int device;

	if (count_where(&context, &device))
		nodes_failed(LEDGER_CUDA, device);
}

/* A call that failed may have reserved some, too. */
static void look(CUresult result)
{
	uint32_t devices = atomic_load(&seen);
	struct preload_state *state;

	if (devices && result == CUDA_ERROR_OUT_OF_MEMORY)
		failed();
	state = preload_lock();
	for (int i = 0; devices >> i; i++)
		if (devices >> i & 1)
			look_at(state, i);
	preload_unlock(state);
}

#define LOOK_BEHIND(name, parameters, ...)                                     \
	CUresult wrap_##name parameters                                        \
	{                                                                      \
		CUresult result = REAL(name)(__VA_ARGS__);                     \
                                                                               \
		if ((!atomic_load(&seen) &&                                    \
		     result != CUDA_ERROR_OUT_OF_MEMORY) ||                    \
		    !preload_enter())                                          \
			return result;                                         \
		if (pool_relieve(result))                                      \
			result = REAL(name)(__VA_ARGS__);                      \
		look(result);                                                  \
		preload_leave();                                               \
		return result;                                                 \
	}

#define INSTANTIATE (CUgraphExec * exec_out, CUgraph graph, void *params)
#define LAUNCH (CUgraphExec exec, CUstream stream)

LOOK_BEHIND(cuGraphInstantiateWithParams, INSTANTIATE, exec_out, graph, params)
LOOK_BEHIND(cuGraphInstantiateWithParams_ptsz, INSTANTIATE, exec_out, graph,
	    params)
LOOK_BEHIND(cuGraphUpload, LAUNCH, exec, stream)
LOOK_BEHIND(cuGraphUpload_ptsz, LAUNCH, exec, stream)
LOOK_BEHIND(cuGraphLaunch, LAUNCH, exec, stream)
LOOK_BEHIND(cuGraphLaunch_ptsz, LAUNCH, exec, stream)
LOOK_BEHIND(cuDeviceGraphMemTrim, (CUdevice device), device)
