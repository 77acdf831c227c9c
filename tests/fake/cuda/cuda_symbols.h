/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Every function that the double has: FAKE_SYMBOLS(X), X(name, type, age).
 * `type` is NVIDIA's own for the function of that name and ABI, so a prototype
 * that is not exactly the driver's does not compile. `age` is OLD for what
 * the driver has had for long and NEW for what the old double lacks.
 */
#ifndef GPUMEM_TESTS_CUDA_SYMBOLS_H
#define GPUMEM_TESTS_CUDA_SYMBOLS_H

#include <cuda.h>
#include <cudaTypedefs.h>

/* The double has these ABIs under their plain names; cuda.h has newer ones. */
#undef cuDeviceGetUuid
#undef cuStreamGetCaptureInfo
#undef cuGetProcAddress
#undef cuGraphAddNode
#undef cuMemGetInfo

/* In 32 bits; headers have it for NVIDIA only. */
typedef CUresult(CUDAAPI *PFN_cuMemGetInfo_v2000)(unsigned *free_out,
						  unsigned *total_out);

/* Headers before 12.0 do not have it. */
typedef CUresult(CUDAAPI *PFN_cuCtxGetId_v12000)(CUcontext context,
						 unsigned long long *id_out);

#if CUDA_VERSION < 12000
typedef CUresult(CUDAAPI *PFN_cuGetProcAddress_v12000)(const char *symbol,
						       void **pfn, int version,
						       cuuint64_t flags,
						       int *status);
typedef struct {
	cuuint64_t flags;
	CUstream hUploadStream;
	CUgraphNode hErrNode_out;
	int result_out;
} CUDA_GRAPH_INSTANTIATE_PARAMS;
typedef CUresult(CUDAAPI *PFN_cuGraphInstantiateWithParams_v12000)(
	CUgraphExec *exec_out, CUgraph graph,
	CUDA_GRAPH_INSTANTIATE_PARAMS *params);
typedef PFN_cuGraphInstantiateWithParams_v12000
	PFN_cuGraphInstantiateWithParams_v12000_ptsz;
#endif

#if CUDA_VERSION < 12020
typedef struct {
	int type, reserved[3];
	CUDA_MEM_ALLOC_NODE_PARAMS alloc;
} CUgraphNodeParams;
typedef CUresult(CUDAAPI *PFN_cuGraphAddNode_v12020)(CUgraphNode *node_out,
						     CUgraph graph,
						     const CUgraphNode *needs,
						     size_t count,
						     CUgraphNodeParams *params);
#endif

#if CUDA_VERSION < 12030
typedef void CUgraphEdgeData;
typedef CUresult(CUDAAPI *PFN_cuGraphAddNode_v12030)(
	CUgraphNode *node_out, CUgraph graph, const CUgraphNode *needs,
	const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *params);
#endif

#if CUDA_VERSION < 12010
typedef CUresult(CUDAAPI *PFN_cuMulticastBindAddr_v12010)(
	CUmemGenericAllocationHandle multicast, size_t offset,
	CUdeviceptr address, size_t bytes, unsigned long long flags);
#endif

#if CUDA_VERSION < 13010
typedef CUresult(CUDAAPI *PFN_cuMulticastBindAddr_v13010)(
	CUmemGenericAllocationHandle multicast, CUdevice device, size_t offset,
	CUdeviceptr address, size_t bytes, unsigned long long flags);
#endif

#if CUDA_VERSION < 13020
typedef void CUstreamCigCaptureParams;
typedef CUresult(CUDAAPI *PFN_cuStreamBeginCaptureToCig_v13010)(
	CUstream stream, CUstreamCigCaptureParams *params);
#endif

#if CUDA_VERSION < 13030
typedef unsigned CUlogicalEndpointId;
typedef void (*CUgraphRecaptureCallback)(void);
typedef CUresult(CUDAAPI *PFN_cuLogicalEndpointBindAddr_v13030)(
	CUlogicalEndpointId endpoint, CUdevice device, cuuint64_t offset,
	void *address, cuuint64_t bytes, unsigned long long flags);
typedef CUresult(CUDAAPI *PFN_cuStreamBeginRecaptureToGraph_v13030)(
	CUstream stream, CUstreamCaptureMode mode, CUgraph graph,
	CUgraphRecaptureCallback callback, void *context);
#endif

#if CUDA_VERSION < 13040
typedef PFN_cuGraphAddNode_v12030 PFN_cuGraphAddNode_v13040;
#endif

#define FAKE_SYMBOLS_RESOLVE(X)                                                \
	X(cuGetProcAddress, PFN_cuGetProcAddress_v11030, NEW)                  \
	X(cuGetProcAddress_v2, PFN_cuGetProcAddress_v12000, NEW)

#define FAKE_SYMBOLS_DEVICE(X)                                                 \
	X(cuInit, PFN_cuInit_v2000, OLD)                                       \
	X(cuDriverGetVersion, PFN_cuDriverGetVersion_v2020, OLD)               \
	X(cuDeviceGetCount, PFN_cuDeviceGetCount_v2000, OLD)                   \
	X(cuDeviceGet, PFN_cuDeviceGet_v2000, OLD)                             \
	X(cuDeviceGetName, PFN_cuDeviceGetName_v2000, OLD)                     \
	X(cuDeviceTotalMem_v2, PFN_cuDeviceTotalMem_v3020, OLD)                \
	X(cuDeviceGetAttribute, PFN_cuDeviceGetAttribute_v2000, OLD)           \
	X(cuDeviceGetPCIBusId, PFN_cuDeviceGetPCIBusId_v4010, OLD)             \
	X(cuDeviceGetUuid, PFN_cuDeviceGetUuid_v9020, NEW)                     \
	X(cuDeviceGetUuid_v2, PFN_cuDeviceGetUuid_v11040, NEW)                 \
	X(cuDeviceCanAccessPeer, PFN_cuDeviceCanAccessPeer_v4000, NEW)         \
	X(cuGetErrorName, PFN_cuGetErrorName_v6000, OLD)                       \
	X(cuGetErrorString, PFN_cuGetErrorString_v6000, OLD)

#define FAKE_SYMBOLS_CONTEXT(X)                                                \
	X(cuDevicePrimaryCtxRetain, PFN_cuDevicePrimaryCtxRetain_v7000, OLD)   \
	X(cuDevicePrimaryCtxRelease_v2, PFN_cuDevicePrimaryCtxRelease_v11000,  \
	  OLD)                                                                 \
	X(cuDevicePrimaryCtxReset_v2, PFN_cuDevicePrimaryCtxReset_v11000, NEW) \
	X(cuDevicePrimaryCtxGetState, PFN_cuDevicePrimaryCtxGetState_v7000,    \
	  OLD)                                                                 \
	X(cuCtxGetId, PFN_cuCtxGetId_v12000, NEW)                              \
	X(cuCtxCreate_v2, PFN_cuCtxCreate_v3020, OLD)                          \
	X(cuCtxDestroy_v2, PFN_cuCtxDestroy_v4000, OLD)                        \
	X(cuCtxSetCurrent, PFN_cuCtxSetCurrent_v4000, OLD)                     \
	X(cuCtxPushCurrent_v2, PFN_cuCtxPushCurrent_v4000, OLD)                \
	X(cuCtxPopCurrent_v2, PFN_cuCtxPopCurrent_v4000, OLD)                  \
	X(cuCtxGetCurrent, PFN_cuCtxGetCurrent_v4000, OLD)                     \
	X(cuCtxGetDevice, PFN_cuCtxGetDevice_v2000, OLD)                       \
	X(cuCtxGetStreamPriorityRange, PFN_cuCtxGetStreamPriorityRange_v5050,  \
	  OLD)                                                                 \
	X(cuCtxSynchronize, PFN_cuCtxSynchronize_v2000, OLD)                   \
	X(cuCtxEnablePeerAccess, PFN_cuCtxEnablePeerAccess_v4000, NEW)         \
	X(cuCtxDisablePeerAccess, PFN_cuCtxDisablePeerAccess_v4000, NEW)

#define FAKE_SYMBOLS_MEMORY(X)                                                 \
	X(cuMemGetInfo_v2, PFN_cuMemGetInfo_v3020, OLD)                        \
	X(cuMemGetInfo, PFN_cuMemGetInfo_v2000, OLD)                           \
	X(cuMemAlloc_v2, PFN_cuMemAlloc_v3020, OLD)                            \
	X(cuMemFree_v2, PFN_cuMemFree_v3020, OLD)                              \
	X(cuMemGetAddressRange_v2, PFN_cuMemGetAddressRange_v3020, NEW)        \
	X(cuMemAllocPitch_v2, PFN_cuMemAllocPitch_v3020, NEW)                  \
	X(cuMemAllocAsync, PFN_cuMemAllocAsync_v11020, NEW)                    \
	X(cuMemAllocAsync_ptsz, PFN_cuMemAllocAsync_v11020_ptsz, NEW)          \
	X(cuMemAllocFromPoolAsync, PFN_cuMemAllocFromPoolAsync_v11020, NEW)    \
	X(cuMemAllocFromPoolAsync_ptsz,                                        \
	  PFN_cuMemAllocFromPoolAsync_v11020_ptsz, NEW)                        \
	X(cuMemFreeAsync, PFN_cuMemFreeAsync_v11020, NEW)                      \
	X(cuMemFreeAsync_ptsz, PFN_cuMemFreeAsync_v11020_ptsz, NEW)            \
	X(cuMemAllocManaged, PFN_cuMemAllocManaged_v6000, NEW)                 \
	X(cuMemAllocHost_v2, PFN_cuMemAllocHost_v3020, NEW)                    \
	X(cuMemHostAlloc, PFN_cuMemHostAlloc_v2020, NEW)                       \
	X(cuMemFreeHost, PFN_cuMemFreeHost_v2000, NEW)                         \
	X(cuMemHostRegister_v2, PFN_cuMemHostRegister_v6050, NEW)              \
	X(cuMemHostUnregister, PFN_cuMemHostUnregister_v4000, NEW)             \
	X(cuPointerGetAttribute, PFN_cuPointerGetAttribute_v4000, NEW)         \
	X(cuPointerGetAttributes, PFN_cuPointerGetAttributes_v7000, NEW)       \
	X(cuPointerSetAttribute, PFN_cuPointerSetAttribute_v6000, NEW)         \
	X(cuMemAddressReserve, PFN_cuMemAddressReserve_v10020, NEW)            \
	X(cuMemAddressFree, PFN_cuMemAddressFree_v10020, NEW)                  \
	X(cuMemCreate, PFN_cuMemCreate_v10020, NEW)                            \
	X(cuMemRelease, PFN_cuMemRelease_v10020, NEW)                          \
	X(cuMemMap, PFN_cuMemMap_v10020, NEW)                                  \
	X(cuMemUnmap, PFN_cuMemUnmap_v10020, NEW)                              \
	X(cuMemSetAccess, PFN_cuMemSetAccess_v10020, NEW)                      \
	X(cuMemGetAllocationGranularity,                                       \
	  PFN_cuMemGetAllocationGranularity_v10020, NEW)                       \
	X(cuMemRetainAllocationHandle, PFN_cuMemRetainAllocationHandle_v11000, \
	  NEW)                                                                 \
	X(cuMemExportToShareableHandle,                                        \
	  PFN_cuMemExportToShareableHandle_v10020, NEW)                        \
	X(cuMemImportFromShareableHandle,                                      \
	  PFN_cuMemImportFromShareableHandle_v10020, NEW)                      \
	X(cuIpcGetMemHandle, PFN_cuIpcGetMemHandle_v4010, NEW)                 \
	X(cuIpcOpenMemHandle_v2, PFN_cuIpcOpenMemHandle_v11000, NEW)           \
	X(cuIpcCloseMemHandle, PFN_cuIpcCloseMemHandle_v4010, NEW)             \
	X(cuMulticastBindAddr, PFN_cuMulticastBindAddr_v12010, NEW)            \
	X(cuMulticastBindAddr_v2, PFN_cuMulticastBindAddr_v13010, NEW)         \
	X(cuLogicalEndpointBindAddr, PFN_cuLogicalEndpointBindAddr_v13030,     \
	  NEW)                                                                 \
	X(cuArrayCreate_v2, PFN_cuArrayCreate_v3020, NEW)                      \
	X(cuArray3DCreate_v2, PFN_cuArray3DCreate_v3020, NEW)                  \
	X(cuArrayDestroy, PFN_cuArrayDestroy_v2000, NEW)                       \
	X(cuMipmappedArrayCreate, PFN_cuMipmappedArrayCreate_v5000, NEW)       \
	X(cuMipmappedArrayDestroy, PFN_cuMipmappedArrayDestroy_v5000, NEW)

#define FAKE_SYMBOLS_POOL(X)                                                   \
	X(cuMemPoolCreate, PFN_cuMemPoolCreate_v11020, NEW)                    \
	X(cuMemPoolDestroy, PFN_cuMemPoolDestroy_v11020, NEW)                  \
	X(cuMemPoolTrimTo, PFN_cuMemPoolTrimTo_v11020, NEW)                    \
	X(cuMemPoolSetAttribute, PFN_cuMemPoolSetAttribute_v11020, NEW)        \
	X(cuMemPoolGetAttribute, PFN_cuMemPoolGetAttribute_v11020, NEW)        \
	X(cuMemPoolSetAccess, PFN_cuMemPoolSetAccess_v11020, NEW)              \
	X(cuMemPoolGetAccess, PFN_cuMemPoolGetAccess_v11020, NEW)              \
	X(cuMemPoolExportToShareableHandle,                                    \
	  PFN_cuMemPoolExportToShareableHandle_v11020, NEW)                    \
	X(cuMemPoolImportFromShareableHandle,                                  \
	  PFN_cuMemPoolImportFromShareableHandle_v11020, NEW)                  \
	X(cuMemPoolExportPointer, PFN_cuMemPoolExportPointer_v11020, NEW)      \
	X(cuMemPoolImportPointer, PFN_cuMemPoolImportPointer_v11020, NEW)      \
	X(cuDeviceGetDefaultMemPool, PFN_cuDeviceGetDefaultMemPool_v11020,     \
	  NEW)                                                                 \
	X(cuDeviceGetMemPool, PFN_cuDeviceGetMemPool_v11020, NEW)              \
	X(cuDeviceSetMemPool, PFN_cuDeviceSetMemPool_v11020, NEW)

#define FAKE_SYMBOLS_STREAM(X)                                                 \
	X(cuStreamCreate, PFN_cuStreamCreate_v2000, OLD)                       \
	X(cuStreamCreateWithPriority, PFN_cuStreamCreateWithPriority_v5050,    \
	  OLD)                                                                 \
	X(cuStreamDestroy_v2, PFN_cuStreamDestroy_v4000, OLD)                  \
	X(cuStreamSynchronize, PFN_cuStreamSynchronize_v2000, OLD)             \
	X(cuStreamQuery, PFN_cuStreamQuery_v2000, OLD)                         \
	X(cuStreamWaitEvent, PFN_cuStreamWaitEvent_v3020, OLD)                 \
	X(cuStreamGetCtx, PFN_cuStreamGetCtx_v9020, NEW)                       \
	X(cuStreamGetFlags, PFN_cuStreamGetFlags_v5050, NEW)                   \
	X(cuEventCreate, PFN_cuEventCreate_v2000, OLD)                         \
	X(cuEventDestroy_v2, PFN_cuEventDestroy_v4000, OLD)                    \
	X(cuEventRecord, PFN_cuEventRecord_v2000, OLD)                         \
	X(cuEventQuery, PFN_cuEventQuery_v2000, OLD)                           \
	X(cuEventSynchronize, PFN_cuEventSynchronize_v2000, OLD)               \
	X(cuMemsetD8Async, PFN_cuMemsetD8Async_v3020, OLD)                     \
	X(cuMemcpyAsync, PFN_cuMemcpyAsync_v4000, OLD)                         \
	X(cuLaunchHostFunc, PFN_cuLaunchHostFunc_v10000, NEW)                  \
	X(cuStreamBeginCapture_v2, PFN_cuStreamBeginCapture_v10010, NEW)       \
	X(cuStreamBeginRecaptureToGraph,                                       \
	  PFN_cuStreamBeginRecaptureToGraph_v13030, NEW)                       \
	X(cuStreamBeginCaptureToCig, PFN_cuStreamBeginCaptureToCig_v13010,     \
	  NEW)                                                                 \
	X(cuStreamEndCapture, PFN_cuStreamEndCapture_v10000, NEW)              \
	X(cuStreamIsCapturing, PFN_cuStreamIsCapturing_v10000, NEW)            \
	X(cuStreamGetCaptureInfo, PFN_cuStreamGetCaptureInfo_v10010, NEW)      \
	X(cuThreadExchangeStreamCaptureMode,                                   \
	  PFN_cuThreadExchangeStreamCaptureMode_v10010, NEW)                   \
	X(cuGraphDestroy, PFN_cuGraphDestroy_v10000, NEW)

#define FAKE_SYMBOLS_GRAPH(X)                                                  \
	X(cuGraphCreate, PFN_cuGraphCreate_v10000, NEW)                        \
	X(cuGraphAddMemAllocNode, PFN_cuGraphAddMemAllocNode_v11040, NEW)      \
	X(cuGraphAddMemFreeNode, PFN_cuGraphAddMemFreeNode_v11040, NEW)        \
	X(cuGraphAddNode, PFN_cuGraphAddNode_v12020, NEW)                      \
	X(cuGraphAddNode_v2, PFN_cuGraphAddNode_v12030, NEW)                   \
	X(cuGraphAddNode_v3, PFN_cuGraphAddNode_v13040, NEW)                   \
	X(cuGraphInstantiateWithFlags, PFN_cuGraphInstantiateWithFlags_v11040, \
	  NEW)                                                                 \
	X(cuGraphInstantiateWithParams,                                        \
	  PFN_cuGraphInstantiateWithParams_v12000, NEW)                        \
	X(cuGraphInstantiateWithParams_ptsz,                                   \
	  PFN_cuGraphInstantiateWithParams_v12000_ptsz, NEW)                   \
	X(cuGraphExecDestroy, PFN_cuGraphExecDestroy_v10000, NEW)              \
	X(cuGraphUpload, PFN_cuGraphUpload_v11010, NEW)                        \
	X(cuGraphUpload_ptsz, PFN_cuGraphUpload_v11010_ptsz, NEW)              \
	X(cuGraphLaunch, PFN_cuGraphLaunch_v10000, NEW)                        \
	X(cuGraphLaunch_ptsz, PFN_cuGraphLaunch_v10000_ptsz, NEW)              \
	X(cuDeviceGraphMemTrim, PFN_cuDeviceGraphMemTrim_v11040, NEW)          \
	X(cuDeviceGetGraphMemAttribute,                                        \
	  PFN_cuDeviceGetGraphMemAttribute_v11040, NEW)

#define FAKE_SYMBOLS(X)                                                        \
	FAKE_SYMBOLS_RESOLVE(X)                                                \
	FAKE_SYMBOLS_DEVICE(X)                                                 \
	FAKE_SYMBOLS_CONTEXT(X)                                                \
	FAKE_SYMBOLS_MEMORY(X)                                                 \
	FAKE_SYMBOLS_POOL(X)                                                   \
	FAKE_SYMBOLS_STREAM(X)                                                 \
	FAKE_SYMBOLS_GRAPH(X)

#endif
