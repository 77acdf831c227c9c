/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * PFN_cuFUNCTION_vVERSION: a pointer to the function that CUDA VERSION brought
 * under that name. See cuda.h.
 */
#ifndef GM_VENDOR_CUDA_TYPEDEFS_H
#define GM_VENDOR_CUDA_TYPEDEFS_H

#include <cuda.h>

typedef __typeof__(cuDeviceCanAccessPeer) *PFN_cuDeviceCanAccessPeer_v4000;
typedef __typeof__(cuDeviceGet) *PFN_cuDeviceGet_v2000;
typedef __typeof__(cuDeviceGetAttribute) *PFN_cuDeviceGetAttribute_v2000;
typedef __typeof__(cuDeviceGetCount) *PFN_cuDeviceGetCount_v2000;
typedef __typeof__(cuDeviceGetName) *PFN_cuDeviceGetName_v2000;
typedef __typeof__(cuDeviceGetPCIBusId) *PFN_cuDeviceGetPCIBusId_v4010;
typedef __typeof__(cuDeviceGetUuid) *PFN_cuDeviceGetUuid_v9020;
typedef __typeof__(cuDeviceGetUuid_v2) *PFN_cuDeviceGetUuid_v11040;
typedef __typeof__(cuDeviceTotalMem_v2) *PFN_cuDeviceTotalMem_v3020;
typedef __typeof__(cuDriverGetVersion) *PFN_cuDriverGetVersion_v2020;
typedef __typeof__(cuGetErrorName) *PFN_cuGetErrorName_v6000;
typedef __typeof__(cuGetErrorString) *PFN_cuGetErrorString_v6000;
typedef __typeof__(cuGetProcAddress) *PFN_cuGetProcAddress_v11030;
typedef __typeof__(cuInit) *PFN_cuInit_v2000;

typedef __typeof__(cuCtxCreate_v2) *PFN_cuCtxCreate_v3020;
typedef __typeof__(cuCtxCreate_v3) *PFN_cuCtxCreate_v11040;
typedef __typeof__(cuCtxDestroy_v2) *PFN_cuCtxDestroy_v4000;
typedef __typeof__(cuCtxDetach) *PFN_cuCtxDetach_v2000;
typedef __typeof__(cuCtxDisablePeerAccess) *PFN_cuCtxDisablePeerAccess_v4000;
typedef __typeof__(cuCtxEnablePeerAccess) *PFN_cuCtxEnablePeerAccess_v4000;
typedef __typeof__(cuCtxGetCurrent) *PFN_cuCtxGetCurrent_v4000;
typedef __typeof__(cuCtxGetDevice) *PFN_cuCtxGetDevice_v2000;
typedef __typeof__(cuCtxGetStreamPriorityRange)
	*PFN_cuCtxGetStreamPriorityRange_v5050;
typedef __typeof__(cuCtxPopCurrent_v2) *PFN_cuCtxPopCurrent_v4000;
typedef __typeof__(cuCtxPushCurrent_v2) *PFN_cuCtxPushCurrent_v4000;
typedef __typeof__(cuCtxSetCurrent) *PFN_cuCtxSetCurrent_v4000;
typedef __typeof__(cuCtxSynchronize) *PFN_cuCtxSynchronize_v2000;
typedef __typeof__(cuDevicePrimaryCtxGetState)
	*PFN_cuDevicePrimaryCtxGetState_v7000;
typedef __typeof__(cuDevicePrimaryCtxRelease_v2)
	*PFN_cuDevicePrimaryCtxRelease_v11000;
typedef __typeof__(cuDevicePrimaryCtxReset_v2)
	*PFN_cuDevicePrimaryCtxReset_v11000;
typedef __typeof__(cuDevicePrimaryCtxRetain)
	*PFN_cuDevicePrimaryCtxRetain_v7000;

typedef __typeof__(cuArray3DCreate_v2) *PFN_cuArray3DCreate_v3020;
typedef __typeof__(cuArrayCreate_v2) *PFN_cuArrayCreate_v3020;
typedef __typeof__(cuArrayDestroy) *PFN_cuArrayDestroy_v2000;
typedef __typeof__(cuIpcCloseMemHandle) *PFN_cuIpcCloseMemHandle_v4010;
typedef __typeof__(cuIpcGetMemHandle) *PFN_cuIpcGetMemHandle_v4010;
typedef __typeof__(cuIpcOpenMemHandle_v2) *PFN_cuIpcOpenMemHandle_v11000;
typedef __typeof__(cuMemAllocHost_v2) *PFN_cuMemAllocHost_v3020;
typedef __typeof__(cuMemAllocManaged) *PFN_cuMemAllocManaged_v6000;
typedef __typeof__(cuMemAllocPitch_v2) *PFN_cuMemAllocPitch_v3020;
typedef __typeof__(cuMemAlloc_v2) *PFN_cuMemAlloc_v3020;
typedef __typeof__(cuMemFreeHost) *PFN_cuMemFreeHost_v2000;
typedef __typeof__(cuMemFree_v2) *PFN_cuMemFree_v3020;
typedef __typeof__(cuMemGetAddressRange_v2) *PFN_cuMemGetAddressRange_v3020;
typedef __typeof__(cuMemGetInfo_v2) *PFN_cuMemGetInfo_v3020;
typedef __typeof__(cuMemHostAlloc) *PFN_cuMemHostAlloc_v2020;
typedef __typeof__(cuMemHostRegister_v2) *PFN_cuMemHostRegister_v6050;
typedef __typeof__(cuMemHostUnregister) *PFN_cuMemHostUnregister_v4000;
typedef __typeof__(cuMipmappedArrayCreate) *PFN_cuMipmappedArrayCreate_v5000;
typedef __typeof__(cuMipmappedArrayDestroy) *PFN_cuMipmappedArrayDestroy_v5000;
typedef __typeof__(cuPointerGetAttribute) *PFN_cuPointerGetAttribute_v4000;
typedef __typeof__(cuPointerGetAttributes) *PFN_cuPointerGetAttributes_v7000;
typedef __typeof__(cuPointerSetAttribute) *PFN_cuPointerSetAttribute_v6000;

typedef __typeof__(cuMemAddressFree) *PFN_cuMemAddressFree_v10020;
typedef __typeof__(cuMemAddressReserve) *PFN_cuMemAddressReserve_v10020;
typedef __typeof__(cuMemCreate) *PFN_cuMemCreate_v10020;
typedef __typeof__(cuMemExportToShareableHandle)
	*PFN_cuMemExportToShareableHandle_v10020;
typedef __typeof__(cuMemGetAllocationGranularity)
	*PFN_cuMemGetAllocationGranularity_v10020;
typedef __typeof__(cuMemImportFromShareableHandle)
	*PFN_cuMemImportFromShareableHandle_v10020;
typedef __typeof__(cuMemMap) *PFN_cuMemMap_v10020;
typedef __typeof__(cuMemRelease) *PFN_cuMemRelease_v10020;
typedef __typeof__(cuMemRetainAllocationHandle)
	*PFN_cuMemRetainAllocationHandle_v11000;
typedef __typeof__(cuMemSetAccess) *PFN_cuMemSetAccess_v10020;
typedef __typeof__(cuMemUnmap) *PFN_cuMemUnmap_v10020;

typedef __typeof__(cuDeviceGetDefaultMemPool)
	*PFN_cuDeviceGetDefaultMemPool_v11020;
typedef __typeof__(cuDeviceGetMemPool) *PFN_cuDeviceGetMemPool_v11020;
typedef __typeof__(cuDeviceSetMemPool) *PFN_cuDeviceSetMemPool_v11020;
typedef __typeof__(cuMemAllocAsync) *PFN_cuMemAllocAsync_v11020;
typedef __typeof__(cuMemAllocAsync_ptsz) *PFN_cuMemAllocAsync_v11020_ptsz;
typedef __typeof__(cuMemAllocFromPoolAsync) *PFN_cuMemAllocFromPoolAsync_v11020;
typedef __typeof__(cuMemAllocFromPoolAsync_ptsz)
	*PFN_cuMemAllocFromPoolAsync_v11020_ptsz;
typedef __typeof__(cuMemFreeAsync) *PFN_cuMemFreeAsync_v11020;
typedef __typeof__(cuMemFreeAsync_ptsz) *PFN_cuMemFreeAsync_v11020_ptsz;
typedef __typeof__(cuMemPoolCreate) *PFN_cuMemPoolCreate_v11020;
typedef __typeof__(cuMemPoolDestroy) *PFN_cuMemPoolDestroy_v11020;
typedef __typeof__(cuMemPoolExportPointer) *PFN_cuMemPoolExportPointer_v11020;
typedef __typeof__(cuMemPoolExportToShareableHandle)
	*PFN_cuMemPoolExportToShareableHandle_v11020;
typedef __typeof__(cuMemPoolGetAccess) *PFN_cuMemPoolGetAccess_v11020;
typedef __typeof__(cuMemPoolGetAttribute) *PFN_cuMemPoolGetAttribute_v11020;
typedef __typeof__(cuMemPoolImportFromShareableHandle)
	*PFN_cuMemPoolImportFromShareableHandle_v11020;
typedef __typeof__(cuMemPoolImportPointer) *PFN_cuMemPoolImportPointer_v11020;
typedef __typeof__(cuMemPoolSetAccess) *PFN_cuMemPoolSetAccess_v11020;
typedef __typeof__(cuMemPoolSetAttribute) *PFN_cuMemPoolSetAttribute_v11020;
typedef __typeof__(cuMemPoolTrimTo) *PFN_cuMemPoolTrimTo_v11020;

typedef __typeof__(cuEventCreate) *PFN_cuEventCreate_v2000;
typedef __typeof__(cuEventDestroy_v2) *PFN_cuEventDestroy_v4000;
typedef __typeof__(cuEventQuery) *PFN_cuEventQuery_v2000;
typedef __typeof__(cuEventRecord) *PFN_cuEventRecord_v2000;
typedef __typeof__(cuEventSynchronize) *PFN_cuEventSynchronize_v2000;
typedef __typeof__(cuLaunchHostFunc) *PFN_cuLaunchHostFunc_v10000;
typedef __typeof__(cuMemcpyAsync) *PFN_cuMemcpyAsync_v4000;
typedef __typeof__(cuMemsetD8Async) *PFN_cuMemsetD8Async_v3020;
typedef __typeof__(cuStreamCreate) *PFN_cuStreamCreate_v2000;
typedef __typeof__(cuStreamCreateWithPriority)
	*PFN_cuStreamCreateWithPriority_v5050;
typedef __typeof__(cuStreamDestroy_v2) *PFN_cuStreamDestroy_v4000;
typedef __typeof__(cuStreamGetCtx) *PFN_cuStreamGetCtx_v9020;
typedef __typeof__(cuStreamGetFlags) *PFN_cuStreamGetFlags_v5050;
typedef __typeof__(cuStreamQuery) *PFN_cuStreamQuery_v2000;
typedef __typeof__(cuStreamSynchronize) *PFN_cuStreamSynchronize_v2000;
typedef __typeof__(cuStreamWaitEvent) *PFN_cuStreamWaitEvent_v3020;

typedef __typeof__(cuDeviceGetGraphMemAttribute)
	*PFN_cuDeviceGetGraphMemAttribute_v11040;
typedef __typeof__(cuDeviceGraphMemTrim) *PFN_cuDeviceGraphMemTrim_v11040;
typedef __typeof__(cuGraphAddMemAllocNode) *PFN_cuGraphAddMemAllocNode_v11040;
typedef __typeof__(cuGraphAddMemFreeNode) *PFN_cuGraphAddMemFreeNode_v11040;
typedef __typeof__(cuGraphCreate) *PFN_cuGraphCreate_v10000;
typedef __typeof__(cuGraphDestroy) *PFN_cuGraphDestroy_v10000;
typedef __typeof__(cuGraphExecDestroy) *PFN_cuGraphExecDestroy_v10000;
typedef __typeof__(cuGraphInstantiateWithFlags)
	*PFN_cuGraphInstantiateWithFlags_v11040;
typedef __typeof__(cuGraphLaunch) *PFN_cuGraphLaunch_v10000;
typedef __typeof__(cuGraphLaunch_ptsz) *PFN_cuGraphLaunch_v10000_ptsz;
typedef __typeof__(cuGraphUpload) *PFN_cuGraphUpload_v11010;
typedef __typeof__(cuGraphUpload_ptsz) *PFN_cuGraphUpload_v11010_ptsz;
typedef __typeof__(cuStreamBeginCapture_v2) *PFN_cuStreamBeginCapture_v10010;
typedef __typeof__(cuStreamEndCapture) *PFN_cuStreamEndCapture_v10000;
typedef __typeof__(cuStreamGetCaptureInfo) *PFN_cuStreamGetCaptureInfo_v10010;
typedef __typeof__(cuStreamIsCapturing) *PFN_cuStreamIsCapturing_v10000;
typedef __typeof__(cuThreadExchangeStreamCaptureMode)
	*PFN_cuThreadExchangeStreamCaptureMode_v10010;

#if CUDA_VERSION >= 12000
typedef __typeof__(cuGetProcAddress_v2) *PFN_cuGetProcAddress_v12000;
typedef __typeof__(cuCtxGetId) *PFN_cuCtxGetId_v12000;
typedef __typeof__(cuGraphInstantiateWithParams)
	*PFN_cuGraphInstantiateWithParams_v12000;
typedef __typeof__(cuGraphInstantiateWithParams_ptsz)
	*PFN_cuGraphInstantiateWithParams_v12000_ptsz;
#endif

#if CUDA_VERSION >= 12010
typedef __typeof__(cuMulticastBindAddr) *PFN_cuMulticastBindAddr_v12010;
#endif

#if CUDA_VERSION >= 12020
typedef __typeof__(cuGraphAddNode) *PFN_cuGraphAddNode_v12020;
#endif

#if CUDA_VERSION >= 12030
typedef __typeof__(cuGraphAddNode_v2) *PFN_cuGraphAddNode_v12030;
#endif

#endif
