/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Graphs that can be launched, and the memory that they have. Seen: a device
 * has it in units of 32 MiB, for all its graphs together, which share what they
 * free themselves; it comes when a graph is uploaded or launched, a unit at a
 * time, so that a call for which there is too little leaves what it found; and
 * it goes when it is trimmed, as far as nothing lives there, and with no graph
 * or context. Here all of a launch is over when it returns.
 */
#include "cuda_graph.h"

#include <stdlib.h>

#define UNIT ((uint64_t)32 << 20)

enum {
	FREE_AT_LAUNCH = 1,
	INSTANTIATE_UPLOAD = 2, /* cuGraphInstantiateWithParams() only */
	NODE_PRIORITY = 8,	/* makes no difference here */
};

struct exec {
	struct fake_object object;
	struct fake_graph *graph;
	bool frees; /* what it has left live, at its next launch */
};

/* One with memory of its own cannot be launched in two ways: 801 (seen). */
static CUresult instantiate(CUgraphExec *exec_out, CUgraph handle,
			    uint64_t flags)
{
	struct fake_graph *graph = fake_object_find(FAKE_GRAPH, handle);
	struct exec *exec;

	if (!exec_out || !graph ||
	    flags & ~(uint64_t)(FREE_AT_LAUNCH | NODE_PRIORITY))
		return CUDA_ERROR_INVALID_VALUE;
	if (graph->refs > 1 && fake_node_next(NULL, graph))
		return CUDA_ERROR_NOT_SUPPORTED;
	exec = fake_object_new(FAKE_EXEC, sizeof(*exec));
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	exec->graph = graph;
	exec->frees = flags & FREE_AT_LAUNCH;
	graph->refs++;
	*exec_out = fake_handle_of(exec);
	return CUDA_SUCCESS;
}

static CUresult destroy(CUgraphExec handle)
{
	struct exec *exec = fake_object_find(FAKE_EXEC, handle);

	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	fake_graph_put(exec->graph);
	fake_object_retire(exec);
	free(exec);
	return CUDA_SUCCESS;
}

/* ---- memory ----------------------------------------------------------------
 */

static bool reserve(int number, uint64_t bytes)
{
	struct fake_device *device = &fake.devices[number];

	while (device->graph_bytes < bytes) {
		if (!fake_charge(number, UNIT))
			return false;
		device->graph_bytes += UNIT;
	}
	if (device->graph_high_bytes < device->graph_bytes)
		device->graph_high_bytes = device->graph_bytes;
	return true;
}

static CUresult trim(int number)
{
	struct fake_device *device;
	uint64_t live;

	if (!fake_device_good(number))
		return CUDA_ERROR_INVALID_DEVICE;
	device = &fake.devices[number];
	live = fake_nodes_live(number);
	while (device->graph_bytes >= live + UNIT) {
		fake_discharge(number, UNIT);
		device->graph_bytes -= UNIT;
	}
	return CUDA_SUCCESS;
}

static CUresult ask(int number, CUgraphMem_attribute which, void *value)
{
	const struct fake_device *device;
	uint64_t bytes;

	if (!fake_device_good(number))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	device = &fake.devices[number];
	if (which == CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT)
		bytes = fake_nodes_live(number);
	else if (which == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
		bytes = device->graph_live_high_bytes;
	else if (which == CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT)
		bytes = device->graph_bytes;
	else if (which == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
		bytes = device->graph_high_bytes;
	else
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(value, &bytes, sizeof(bytes));
	return CUDA_SUCCESS;
}

/* ---- running ---------------------------------------------------------------
 */

static uint64_t needed(const struct fake_graph *graph, int device)
{
	uint64_t bytes = 0;

	for (struct fake_node *node = fake_node_next(NULL, graph); node;
	     node = fake_node_next(node, graph))
		if (node->device == device && !node->live)
			bytes += node->bytes;
	return bytes;
}

static void end_all(const struct fake_graph *graph)
{
	for (struct fake_node *node = fake_node_next(NULL, graph); node;
	     node = fake_node_next(node, graph))
		node->live = false;
}

static void note_live(void)
{
	for (int i = 0; i < fake.device_count; i++) {
		struct fake_device *device = &fake.devices[i];
		uint64_t live = fake_nodes_live(i);

		if (device->graph_live_high_bytes < live)
			device->graph_live_high_bytes = live;
	}
}

static CUresult upload(CUgraphExec handle, CUstream stream_handle,
		       bool launched, struct fake_graph **graph_out)
{
	struct exec *exec = fake_object_find(FAKE_EXEC, handle);
	struct fake_stream *stream;
	CUresult result = fake_stream_find(stream_handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (launched && exec->frees)
		end_all(exec->graph);
	for (int i = 0; i < fake.device_count; i++)
		if (!reserve(i, fake_nodes_live(i) + needed(exec->graph, i)))
			return CUDA_ERROR_OUT_OF_MEMORY;
	*graph_out = exec->graph;
	return CUDA_SUCCESS;
}

static CUresult upload_only(CUgraphExec exec, CUstream stream)
{
	struct fake_graph *graph;

	return upload(exec, stream, false, &graph);
}

/* Seen: not while what it does not free is live. */
static CUresult launch(CUgraphExec exec, CUstream stream)
{
	struct fake_graph *graph;
	struct fake_node *node;
	CUresult result = upload(exec, stream, true, &graph);

	if (result != CUDA_SUCCESS)
		return result;
	for (node = fake_node_next(NULL, graph); node;
	     node = fake_node_next(node, graph))
		if (node->live)
			return CUDA_ERROR_INVALID_VALUE;
	for (node = fake_node_next(NULL, graph); node;
	     node = fake_node_next(node, graph))
		node->live = !node->freed;
	note_live();
	return CUDA_SUCCESS;
}

static CUresult instantiate_with(CUgraphExec *exec_out, CUgraph graph,
				 CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	CUresult result;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	result = instantiate(exec_out, graph,
			     params->flags & ~(cuuint64_t)INSTANTIATE_UPLOAD);
	if (result != CUDA_SUCCESS || !(params->flags & INSTANTIATE_UPLOAD))
		return result;
	result = upload_only(*exec_out, params->hUploadStream);
	if (result != CUDA_SUCCESS)
		(void)destroy(*exec_out);
	return result;
}

static CUstream of_thread(CUstream stream)
{
	return stream ? stream : CU_STREAM_PER_THREAD;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec_out, CUgraph graph,
				     unsigned long long flags)
{
	FAKE_CALL(cuGraphInstantiateWithFlags,
		  instantiate(exec_out, graph, flags));
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec_out, CUgraph graph,
				      CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	FAKE_CALL(cuGraphInstantiateWithParams,
		  instantiate_with(exec_out, graph, params));
}

CUresult
cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec_out, CUgraph graph,
				  CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	FAKE_CALL(cuGraphInstantiateWithParams_ptsz,
		  instantiate_with(exec_out, graph, params));
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	FAKE_CALL(cuGraphExecDestroy, destroy(exec));
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
	FAKE_CALL(cuGraphUpload, upload_only(exec, stream));
}

CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream)
{
	FAKE_CALL(cuGraphUpload_ptsz, upload_only(exec, of_thread(stream)));
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	FAKE_CALL(cuGraphLaunch, launch(exec, stream));
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
	FAKE_CALL(cuGraphLaunch_ptsz, launch(exec, of_thread(stream)));
}

CUresult cuDeviceGraphMemTrim(CUdevice device)
{
	FAKE_CALL(cuDeviceGraphMemTrim, trim(device));
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device,
				      CUgraphMem_attribute which, void *value)
{
	FAKE_CALL(cuDeviceGetGraphMemAttribute, ask(device, which, value));
}
