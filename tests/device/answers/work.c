/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Questions of streams, events, captures and graphs.
 */
#include "answers.h"

void ask_streams(void)
{
	CUcontext context = start(), of = NULL;
	CUstream stream = NULL;
	unsigned flags = 9;

	ASK(cuStreamCreate(NULL, 0));
	ASK(cuStreamCreate(&stream, 4));
	ASK(cuStreamCreateWithPriority(&stream, 0, 1000));
	ASK(cuStreamCreateWithPriority(&stream, 0, -1000));
	ASK(cuStreamCreateWithPriority(&stream, 4, 0));
	DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASK(cuStreamGetFlags(stream, NULL));
	ASK_FOR(cuStreamGetFlags(stream, &flags), flags);
	ASK_FOR(cuStreamGetFlags(NULL, &flags), flags);
	ASK_FOR(cuStreamGetFlags(CU_STREAM_PER_THREAD, &flags), flags);
	ASK(cuStreamGetCtx(stream, NULL));
	ASK(cuStreamGetCtx(NULL, &of));
	question("that is the current one");
	answer_bool(CUDA_SUCCESS, of == context);
	ASK(cuStreamQuery(NULL));
	ASK(cuStreamQuery(CU_STREAM_LEGACY));
	ASK(cuStreamQuery(CU_STREAM_PER_THREAD));
	ASK(cuStreamSynchronize(NULL));
	ASK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
	ASK(cuLaunchHostFunc(stream, NULL, NULL));
	ASK(cuMemsetD8Async(NOWHERE, 0, 0, stream));
	ASK(cuMemsetD8Async(NOWHERE, 0, 16, stream));
	ASK(cuMemcpyAsync(NOWHERE, NOWHERE, 0, stream));
	ASK(cuStreamDestroy(stream));
	ASK(cuStreamDestroy(NULL));
	ASK(cuStreamDestroy(CU_STREAM_LEGACY));
	ASK(cuStreamDestroy(CU_STREAM_PER_THREAD));
}

void ask_events(void)
{
	CUevent event = NULL;
	CUstream stream;

	(void)start();
	DO(cuStreamCreate(&stream, 0));
	ASK(cuEventCreate(NULL, 0));
	ASK(cuEventCreate(&event, 8));
	ASK(cuEventCreate(&event, CU_EVENT_INTERPROCESS));
	ASK(cuEventCreate(&event,
			  CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	DO(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	ASK(cuEventQuery(event));
	ASK(cuEventSynchronize(event));
	ASK(cuStreamWaitEvent(stream, event, 0));
	ASK(cuStreamWaitEvent(stream, event, 1));
	ASK(cuStreamWaitEvent(stream, event, 2));
	ASK(cuEventRecord(event, NULL));
	ASK(cuEventRecord(event, CU_STREAM_PER_THREAD));
	ASK(cuEventRecord(event, stream));
	ASK(cuEventSynchronize(event));
	ASK(cuEventQuery(event));
	ASK(cuEventDestroy(event));
	ASK(cuEventRecord(NULL, stream));
	ASK(cuEventQuery(NULL));
	ASK(cuStreamWaitEvent(stream, NULL, 0));
	ASK(cuEventDestroy(NULL));
}

static void ask_relaxed(CUstream stream)
{
	CUdeviceptr block = 0, node = 0;
	CUgraph graph = NULL;

	situation("relaxed");
	DO(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	ASK(cuMemAlloc(&block, 4096));
	ASK(cuMemAllocAsync(&node, 4096, stream));
	ASK(cuMemFreeAsync(block, stream));
	ASK(cuMemFreeAsync(node, stream));
	ASK_FOR(cuStreamEndCapture(stream, &graph), graph);
}

void ask_captures(void)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUstreamCaptureMode mode = (CUstreamCaptureMode)3;
	CUgraph graph = NULL;
	CUdeviceptr block;
	CUstream stream;

	(void)start();
	DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASK(cuThreadExchangeStreamCaptureMode(&mode));
	ASK_FOR(cuStreamIsCapturing(NULL, &status), status);
	ASK_FOR(cuStreamIsCapturing(stream, &status), status);
	ASK(cuStreamEndCapture(stream, &graph));
	ASK(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
	ASK(cuStreamBeginCapture(stream, (CUstreamCaptureMode)3));
	ASK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	situation("captured");
	ASK_FOR(cuStreamIsCapturing(stream, &status), status);
	ASK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	ASK(cuMemAlloc(&block, 4096));
	ASK_FOR(cuStreamIsCapturing(stream, &status), status);
	ASK(cuMemsetD8Async(0, 0, 0, stream));
	ASK_FOR(cuStreamEndCapture(stream, &graph), graph);
	ask_relaxed(stream);
}

static void ask_memory_graph(CUgraph graph, CUstream stream)
{
	CUDA_MEM_ALLOC_NODE_PARAMS params;
	CUgraphExec exec = NULL, second = NULL;
	CUgraphNode node = NULL;
	uint64_t bytes = 0;

	memset(&params, 0, sizeof(params));
	params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	ASK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
	params.bytesize = 2 * MIB;
	ASK(cuGraphAddMemAllocNode(NULL, graph, NULL, 0, &params));
	ASK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, NULL));
	ASK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
	ASK(cuGraphAddMemFreeNode(&node, graph, NULL, 0, NOWHERE));
	situation("that allocates");
	ASK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	ASK(cuGraphInstantiateWithFlags(&second, graph, 0));
	ASK(cuGraphLaunch(exec, stream));
	ASK(cuGraphLaunch(exec, stream));
	ASK_FOR(cuDeviceGetGraphMemAttribute(0, 0, &bytes), bytes);
	ASK_FOR(cuDeviceGetGraphMemAttribute(0, 1, &bytes), bytes);
	ASK_FOR(cuDeviceGetGraphMemAttribute(0, 2, &bytes), bytes);
	ASK_FOR(cuDeviceGetGraphMemAttribute(0, 3, &bytes), bytes);
	ASK(cuDeviceGetGraphMemAttribute(0, 9, &bytes));
	ASK(cuDeviceGetGraphMemAttribute(99, 2, &bytes));
	ASK(cuMemFreeAsync(params.dptr, stream));
	ASK(cuMemFreeAsync(params.dptr, stream));
	DO(cuStreamSynchronize(stream));
	ASK(cuDeviceGraphMemTrim(0));
	ASK(cuDeviceGraphMemTrim(99));
	DO(cuGraphExecDestroy(exec));
	situation("that frees what lives at a launch");
	ASK(cuGraphInstantiateWithFlags(&exec, graph, 1));
	ASK(cuGraphLaunch(exec, stream));
	ASK(cuGraphLaunch(exec, stream));
	DO(cuStreamSynchronize(stream));
	DO(cuMemFree(params.dptr));
	DO(cuGraphExecDestroy(exec));
}

void ask_graphs(void)
{
	CUgraphExec exec = NULL, second = NULL;
	CUgraph graph = NULL;
	CUstream stream;

	(void)start();
	DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASK(cuGraphCreate(NULL, 0));
	ASK(cuGraphCreate(&graph, 1));
	DO(cuGraphCreate(&graph, 0));
	situation("empty");
	ASK(cuGraphInstantiateWithFlags(NULL, graph, 0));
	ASK(cuGraphInstantiateWithFlags(&exec, graph, 128));
	ASK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	ASK(cuGraphInstantiateWithFlags(&second, graph, 0));
	ASK(cuGraphLaunch(exec, stream));
	ASK(cuGraphUpload(exec, stream));
	ASK(cuGraphExecDestroy(exec));
	ASK(cuGraphExecDestroy(second));
	DO(cuGraphDestroy(graph));
	DO(cuGraphCreate(&graph, 0));
	situation("");
	ask_memory_graph(graph, stream);
	ASK(cuGraphDestroy(graph));
	situation("none");
	ASK(cuGraphInstantiateWithFlags(&exec, NULL, 0));
	ASK(cuGraphExecDestroy(NULL));
	ASK(cuGraphDestroy(NULL));
}

#if CUDA_VERSION >= 12000
/* The names are those that the driver looks up, not those of cuda.h. */
#undef cuGetProcAddress
void ask_resolve(void)
{
	CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
	void *function = NULL;

	DO(cuInit(0));
	ASK_FOR(cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 0, &status),
		function);
	ASK(cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 16, &status));
	ASK(cuGetProcAddress_v2("cuNothing", &function, 12000, 0, &status));
	question("its status");
	answer_int(CUDA_SUCCESS, &status);
	question("its function");
	answer_pointer(CUDA_SUCCESS, &function);
	ASK(cuGetProcAddress_v2("cuMemAllocAsync", &function, 11000, 0,
				&status));
	question("of too old a version, its status");
	answer_int(CUDA_SUCCESS, &status);
	/* Which is optional. */
	ASK(cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 0, NULL));
}
#else
void ask_resolve(void)
{
}
#endif

void ask_wrong_handles(void)
{
	(void)start();
	ASK(cuMemRelease(0));
	ASK(cuCtxDestroy(NULL));
}

void ask_wrong_contexts(void)
{
	CUcontext context = start();
	CUdeviceptr block;

	ASK(cuCtxDestroy(context));
	ASK(cuMemAlloc(&block, 4096));
}
