/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Graphs that allocate, and what they have: those of the driver below, whose
 * numbers and structures are the same, but for what an upload is asked by. So
 * what is taken comes with an upload or a launch, in the driver's units, and
 * goes with a trim.
 */
#include "hip_fake.h"

static hipError_t instantiate(hipGraphExec_t *exec_out, hipGraph_t graph,
			      unsigned long long flags)
{
	return hip_error_of(cu.cuGraphInstantiateWithFlags(
		(CUgraphExec *)exec_out, (CUgraph)graph, flags));
}

hipError_t hipGraphCreate(hipGraph_t *graph_out, unsigned flags)
{
	HIP_CALL_ON(
		NULL, hipGraphCreate,
		hip_error_of(cu.cuGraphCreate((CUgraph *)graph_out, flags)));
}

hipError_t hipGraphDestroy(hipGraph_t graph)
{
	HIP_CALL_ON(NULL, hipGraphDestroy,
		    hip_error_of(cu.cuGraphDestroy((CUgraph)graph)));
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *exec_out,
					hipGraph_t graph,
					unsigned long long flags)
{
	HIP_CALL_ON(NULL, hipGraphInstantiateWithFlags,
		    instantiate(exec_out, graph, flags));
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec)
{
	HIP_CALL_ON(NULL, hipGraphExecDestroy,
		    hip_error_of(cu.cuGraphExecDestroy((CUgraphExec)exec)));
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream)
{
	HIP_CALL_ON(stream, hipGraphLaunch,
		    hip_error_of(cu.cuGraphLaunch((CUgraphExec)exec,
						  (CUstream)stream)));
}

#if FAKEHIP_MAJOR >= 6
_Static_assert(sizeof(hipMemAllocNodeParams) ==
		       sizeof(CUDA_MEM_ALLOC_NODE_PARAMS),
	       "");

hipError_t hipGraphAddMemAllocNode(hipGraphNode_t *node_out, hipGraph_t graph,
				   const hipGraphNode_t *needs, size_t count,
				   hipMemAllocNodeParams *params)
{
	HIP_CALL_ON(
		NULL, hipGraphAddMemAllocNode,
		hip_error_of(cu.cuGraphAddMemAllocNode(
			(CUgraphNode *)node_out, (CUgraph)graph,
			(const CUgraphNode *)needs, count, (void *)params)));
}

hipError_t hipGraphAddMemFreeNode(hipGraphNode_t *node_out, hipGraph_t graph,
				  const hipGraphNode_t *needs, size_t count,
				  void *address)
{
	HIP_CALL_ON(NULL, hipGraphAddMemFreeNode,
		    hip_error_of(cu.cuGraphAddMemFreeNode(
			    (CUgraphNode *)node_out, (CUgraph)graph,
			    (const CUgraphNode *)needs, count,
			    (CUdeviceptr)(uintptr_t)address)));
}

hipError_t hipGraphAddNode(hipGraphNode_t *node_out, hipGraph_t graph,
			   const hipGraphNode_t *needs, size_t count,
			   hipGraphNodeParams *params)
{
	HIP_CALL_ON(NULL, hipGraphAddNode,
		    hip_error_of(cu.cuGraphAddNode((CUgraphNode *)node_out,
						   (CUgraph)graph,
						   (const CUgraphNode *)needs,
						   count, (void *)params)));
}

static hipError_t instantiate_with(hipGraphExec_t *exec_out, hipGraph_t graph,
				   const hipGraphInstantiateParams *params)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS theirs = {0};

	if (!params)
		return hipErrorInvalidValue;
	theirs.flags = params->flags;
	theirs.hUploadStream = (CUstream)params->uploadStream;
	return hip_error_of(cu.cuGraphInstantiateWithParams(
		(CUgraphExec *)exec_out, (CUgraph)graph, &theirs));
}

hipError_t hipGraphInstantiateWithParams(hipGraphExec_t *exec_out,
					 hipGraph_t graph,
					 hipGraphInstantiateParams *params)
{
	HIP_CALL_ON(NULL, hipGraphInstantiateWithParams,
		    instantiate_with(exec_out, graph, params));
}

hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t stream)
{
	HIP_CALL_ON(stream, hipGraphUpload,
		    hip_error_of(cu.cuGraphUpload((CUgraphExec)exec,
						  (CUstream)stream)));
}

hipError_t hipGraphLaunch_spt(hipGraphExec_t exec, hipStream_t stream)
{
	HIP_CALL_ON(stream, hipGraphLaunch_spt,
		    hip_error_of(cu.cuGraphLaunch_ptsz((CUgraphExec)exec,
						       (CUstream)stream)));
}

hipError_t hipDeviceGraphMemTrim(int device)
{
	HIP_CALL(hipDeviceGraphMemTrim,
		 hip_error_of(cu.cuDeviceGraphMemTrim(device)));
}

hipError_t hipDeviceGetGraphMemAttribute(int device,
					 hipGraphMemAttributeType which,
					 void *value_out)
{
	HIP_CALL(hipDeviceGetGraphMemAttribute,
		 hip_error_of(cu.cuDeviceGetGraphMemAttribute(
			 device, (CUgraphMem_attribute)which, value_out)));
}
#endif
