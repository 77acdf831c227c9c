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

enum { INSTANTIATE_UPLOAD = 2 };

struct exec {
	struct fake_object object;
	struct fake_graph *graph;
};

static CUresult instantiate(CUgraphExec *exec_out, CUgraph handle)
{
	struct fake_graph *graph = fake_object_find(FAKE_GRAPH, handle);
	struct exec *exec;

	if (!exec_out || !graph || graph->refs > 1)
		return CUDA_ERROR_INVALID_VALUE;
	exec = fake_object_new(FAKE_EXEC, sizeof(*exec));
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	exec->graph = graph;
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
	if (!fake_device_good(number))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!value || which != CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(value, &fake.devices[number].graph_bytes, sizeof(uint64_t));
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

static CUresult upload(CUgraphExec handle, CUstream stream_handle,
		       struct fake_graph **graph_out)
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
	for (int i = 0; i < fake.device_count; i++)
		if (!reserve(i, fake_nodes_live(i) + needed(exec->graph, i)))
			return CUDA_ERROR_OUT_OF_MEMORY;
	*graph_out = exec->graph;
	return CUDA_SUCCESS;
}

static CUresult upload_only(CUgraphExec exec, CUstream stream)
{
	struct fake_graph *graph;

	return upload(exec, stream, &graph);
}

/* Seen: not while what it does not free is live. */
static CUresult launch(CUgraphExec exec, CUstream stream)
{
	struct fake_graph *graph;
	struct fake_node *node;
	CUresult result = upload(exec, stream, &graph);

	if (result != CUDA_SUCCESS)
		return result;
	for (node = fake_node_next(NULL, graph); node;
	     node = fake_node_next(node, graph))
		if (node->live)
			return CUDA_ERROR_INVALID_VALUE;
	for (node = fake_node_next(NULL, graph); node;
	     node = fake_node_next(node, graph))
		node->live = !node->freed;
	return CUDA_SUCCESS;
}

static CUresult instantiate_with(CUgraphExec *exec_out, CUgraph graph,
				 CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	CUresult result;

	if (!params || params->flags & ~(cuuint64_t)INSTANTIATE_UPLOAD)
		return CUDA_ERROR_INVALID_VALUE;
	result = instantiate(exec_out, graph);
	if (result != CUDA_SUCCESS || !params->flags)
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
		  flags ? CUDA_ERROR_INVALID_VALUE
			: instantiate(exec_out, graph));
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
