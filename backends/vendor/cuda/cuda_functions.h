/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Functions of NVIDIA's driver API that are used, by the names that the driver
 * exports, and which of these a plain name means: see cuda.h.
 */
#ifndef GM_VENDOR_CUDA_FUNCTIONS_H
#define GM_VENDOR_CUDA_FUNCTIONS_H

/* ---- The driver, devices ----------------------------------------------- */

CUresult cuDeviceCanAccessPeer(int *, CUdevice, CUdevice);
CUresult cuDeviceGet(CUdevice *, int);
CUresult cuDeviceGetAttribute(int *, CUdevice_attribute, CUdevice);
CUresult cuDeviceGetCount(int *);
CUresult cuDeviceGetName(char *, int, CUdevice);
CUresult cuDeviceGetPCIBusId(char *, int, CUdevice);
/* declared if CUDA_VERSION < 13000 */
CUresult cuDeviceGetUuid(CUuuid *, CUdevice);
CUresult cuDeviceGetUuid_v2(CUuuid *, CUdevice);
CUresult cuDeviceTotalMem_v2(size_t *, CUdevice);
CUresult cuDriverGetVersion(int *);
CUresult cuGetErrorName(CUresult, const char **);
CUresult cuGetErrorString(CUresult, const char **);
/* declared if CUDA_VERSION < 12000 */
CUresult cuGetProcAddress(const char *, void **, int, cuuint64_t);
CUresult cuInit(unsigned);

/* ---- Contexts ---------------------------------------------------------- */

/* declared if CUDA_VERSION < 13000 */
CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice);
/* declared if CUDA_VERSION < 13000 */
CUresult cuCtxCreate_v3(CUcontext *, CUexecAffinityParam *, int, unsigned,
			CUdevice);
CUresult cuCtxDestroy_v2(CUcontext);
CUresult cuCtxDetach(CUcontext);
CUresult cuCtxDisablePeerAccess(CUcontext);
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned);
CUresult cuCtxGetCurrent(CUcontext *);
CUresult cuCtxGetDevice(CUdevice *);
CUresult cuCtxGetStreamPriorityRange(int *, int *);
CUresult cuCtxPopCurrent_v2(CUcontext *);
CUresult cuCtxPushCurrent_v2(CUcontext);
CUresult cuCtxSetCurrent(CUcontext);
CUresult cuCtxSynchronize(void);
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned *, int *);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);

/* ---- Memory ------------------------------------------------------------ */

CUresult cuArray3DCreate_v2(CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *);
CUresult cuArrayCreate_v2(CUarray *, const CUDA_ARRAY_DESCRIPTOR *);
CUresult cuArrayDestroy(CUarray);
CUresult cuIpcCloseMemHandle(CUdeviceptr);
CUresult cuIpcGetMemHandle(CUipcMemHandle *, CUdeviceptr);
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *, CUipcMemHandle, unsigned);
CUresult cuMemAllocHost_v2(void **, size_t);
CUresult cuMemAllocManaged(CUdeviceptr *, size_t, unsigned);
CUresult cuMemAllocPitch_v2(CUdeviceptr *, size_t *, size_t, size_t, unsigned);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
CUresult cuMemFreeHost(void *);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *, size_t *, CUdeviceptr);
CUresult cuMemGetInfo_v2(size_t *, size_t *);
CUresult cuMemHostAlloc(void **, size_t, unsigned);
CUresult cuMemHostRegister_v2(void *, size_t, unsigned);
CUresult cuMemHostUnregister(void *);
CUresult cuMipmappedArrayCreate(CUmipmappedArray *,
				const CUDA_ARRAY3D_DESCRIPTOR *, unsigned);
CUresult cuMipmappedArrayDestroy(CUmipmappedArray);
CUresult cuPointerGetAttribute(void *, CUpointer_attribute, CUdeviceptr);
CUresult cuPointerGetAttributes(unsigned, CUpointer_attribute *, void **,
				CUdeviceptr);
CUresult cuPointerSetAttribute(const void *, CUpointer_attribute, CUdeviceptr);

/* ---- Virtual memory ---------------------------------------------------- */

CUresult cuMemAddressFree(CUdeviceptr, size_t);
CUresult cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr,
			     unsigned long long);
CUresult cuMemCreate(CUmemGenericAllocationHandle *, size_t,
		     const CUmemAllocationProp *, unsigned long long);
CUresult cuMemExportToShareableHandle(void *, CUmemGenericAllocationHandle,
				      CUmemAllocationHandleType,
				      unsigned long long);
CUresult cuMemGetAllocationGranularity(size_t *, const CUmemAllocationProp *,
				       CUmemAllocationGranularity_flags);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *, void *,
					CUmemAllocationHandleType);
CUresult cuMemMap(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle,
		  unsigned long long);
CUresult cuMemRelease(CUmemGenericAllocationHandle);
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *, void *);
CUresult cuMemSetAccess(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
CUresult cuMemUnmap(CUdeviceptr, size_t);

/* ---- Pools of the driver ----------------------------------------------- */

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *, CUdevice);
CUresult cuDeviceGetMemPool(CUmemoryPool *, CUdevice);
CUresult cuDeviceSetMemPool(CUdevice, CUmemoryPool);
CUresult cuMemAllocAsync(CUdeviceptr *, size_t, CUstream);
/* declared if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) */
CUresult cuMemAllocAsync_ptsz(CUdeviceptr *, size_t, CUstream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *, size_t, CUmemoryPool, CUstream);
/* declared if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) */
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *, size_t, CUmemoryPool,
				      CUstream);
CUresult cuMemFreeAsync(CUdeviceptr, CUstream);
/* declared if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) */
CUresult cuMemFreeAsync_ptsz(CUdeviceptr, CUstream);
CUresult cuMemPoolCreate(CUmemoryPool *, const CUmemPoolProps *);
CUresult cuMemPoolDestroy(CUmemoryPool);
CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *, CUdeviceptr);
CUresult cuMemPoolExportToShareableHandle(void *, CUmemoryPool,
					  CUmemAllocationHandleType,
					  unsigned long long);
CUresult cuMemPoolGetAccess(CUmemAccess_flags *, CUmemoryPool, CUmemLocation *);
CUresult cuMemPoolGetAttribute(CUmemoryPool, CUmemPool_attribute, void *);
CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *, void *,
					    CUmemAllocationHandleType,
					    unsigned long long);
CUresult cuMemPoolImportPointer(CUdeviceptr *, CUmemoryPool,
				CUmemPoolPtrExportData *);
CUresult cuMemPoolSetAccess(CUmemoryPool, const CUmemAccessDesc *, size_t);
CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void *);
CUresult cuMemPoolTrimTo(CUmemoryPool, size_t);

/* ---- Streams, events --------------------------------------------------- */

CUresult cuEventCreate(CUevent *, unsigned);
CUresult cuEventDestroy_v2(CUevent);
CUresult cuEventQuery(CUevent);
CUresult cuEventRecord(CUevent, CUstream);
CUresult cuEventSynchronize(CUevent);
CUresult cuLaunchHostFunc(CUstream, CUhostFn, void *);
CUresult cuMemcpyAsync(CUdeviceptr, CUdeviceptr, size_t, CUstream);
CUresult cuMemsetD8Async(CUdeviceptr, unsigned char, size_t, CUstream);
CUresult cuStreamCreate(CUstream *, unsigned);
CUresult cuStreamCreateWithPriority(CUstream *, unsigned, int);
CUresult cuStreamDestroy_v2(CUstream);
CUresult cuStreamGetCtx(CUstream, CUcontext *);
CUresult cuStreamGetFlags(CUstream, unsigned *);
CUresult cuStreamQuery(CUstream);
CUresult cuStreamSynchronize(CUstream);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned);

/* ---- Captures, graphs -------------------------------------------------- */

CUresult cuDeviceGetGraphMemAttribute(CUdevice, CUgraphMem_attribute, void *);
CUresult cuDeviceGraphMemTrim(CUdevice);
CUresult cuGraphAddMemAllocNode(CUgraphNode *, CUgraph, const CUgraphNode *,
				size_t, CUDA_MEM_ALLOC_NODE_PARAMS *);
CUresult cuGraphAddMemFreeNode(CUgraphNode *, CUgraph, const CUgraphNode *,
			       size_t, CUdeviceptr);
CUresult cuGraphCreate(CUgraph *, unsigned);
CUresult cuGraphDestroy(CUgraph);
CUresult cuGraphExecDestroy(CUgraphExec);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph,
				     unsigned long long);
CUresult cuGraphLaunch(CUgraphExec, CUstream);
/* declared if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) */
CUresult cuGraphLaunch_ptsz(CUgraphExec, CUstream);
CUresult cuGraphUpload(CUgraphExec, CUstream);
/* declared if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) */
CUresult cuGraphUpload_ptsz(CUgraphExec, CUstream);
CUresult cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode);
CUresult cuStreamEndCapture(CUstream, CUgraph *);
/* declared if CUDA_VERSION < 12000 */
CUresult cuStreamGetCaptureInfo(CUstream, CUstreamCaptureStatus *,
				cuuint64_t *);
CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus *);
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *);

/* ---- What came later -------------------------------------------------- */

#if CUDA_VERSION >= 12000
CUresult cuGetProcAddress_v2(const char *, void **, int, cuuint64_t,
			     CUdriverProcAddressQueryResult *);
CUresult cuCtxGetId(CUcontext, unsigned long long *);
CUresult cuGraphInstantiateWithParams(CUgraphExec *, CUgraph,
				      CUDA_GRAPH_INSTANTIATE_PARAMS *);
/* declared if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) */
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *, CUgraph,
					   CUDA_GRAPH_INSTANTIATE_PARAMS *);
#endif

#if CUDA_VERSION >= 12010
CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle, size_t, CUdeviceptr,
			     size_t, unsigned long long);
#endif

#if CUDA_VERSION >= 12020
/* declared if CUDA_VERSION < 13000 */
CUresult cuGraphAddNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t,
			CUgraphNodeParams *);
#endif

#if CUDA_VERSION >= 12030
CUresult cuGraphAddNode_v2(CUgraphNode *, CUgraph, const CUgraphNode *,
			   const CUgraphEdgeData *, size_t,
			   CUgraphNodeParams *);
#endif

/* ---- Plain names ------------------------------------------------------- */

#define cuArray3DCreate cuArray3DCreate_v2
#define cuArrayCreate cuArrayCreate_v2
#define cuCtxDestroy cuCtxDestroy_v2
#define cuCtxPopCurrent cuCtxPopCurrent_v2
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2
#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuEventDestroy cuEventDestroy_v2
#define cuIpcOpenMemHandle cuIpcOpenMemHandle_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemAllocHost cuMemAllocHost_v2
#define cuMemAllocPitch cuMemAllocPitch_v2
#define cuMemFree cuMemFree_v2
#define cuMemGetAddressRange cuMemGetAddressRange_v2
#define cuMemGetInfo cuMemGetInfo_v2
#define cuMemHostRegister cuMemHostRegister_v2
#define cuStreamBeginCapture cuStreamBeginCapture_v2
#define cuStreamDestroy cuStreamDestroy_v2

#endif
