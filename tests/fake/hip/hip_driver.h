/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * NVIDIA's driver beneath: what is called of it, and the one table of it.
 */
#ifndef GPUMEM_TESTS_HIP_DRIVER_H
#define GPUMEM_TESTS_HIP_DRIVER_H

#include <cuda.h>
#include <cudaTypedefs.h>
#include <stdbool.h>

/* Exported names, without the header's redirections to newer ones. */
#undef cuDeviceGetUuid
#undef cuStreamGetCaptureInfo

#define DRIVER_SYMBOLS(X)                                                      \
	X(cuInit, PFN_cuInit_v2000)                                            \
	X(cuDeviceGetCount, PFN_cuDeviceGetCount_v2000)                        \
	X(cuDeviceGetName, PFN_cuDeviceGetName_v2000)                          \
	X(cuDeviceTotalMem_v2, PFN_cuDeviceTotalMem_v3020)                     \
	X(cuDeviceGetAttribute, PFN_cuDeviceGetAttribute_v2000)                \
	X(cuDeviceGetPCIBusId, PFN_cuDeviceGetPCIBusId_v4010)                  \
	X(cuDeviceGetUuid, PFN_cuDeviceGetUuid_v9020)                          \
	X(cuDeviceCanAccessPeer, PFN_cuDeviceCanAccessPeer_v4000)              \
	X(cuDevicePrimaryCtxRetain, PFN_cuDevicePrimaryCtxRetain_v7000)        \
	X(cuCtxPushCurrent_v2, PFN_cuCtxPushCurrent_v4000)                     \
	X(cuCtxPopCurrent_v2, PFN_cuCtxPopCurrent_v4000)                       \
	X(cuCtxGetDevice, PFN_cuCtxGetDevice_v2000)                            \
	X(cuCtxGetStreamPriorityRange, PFN_cuCtxGetStreamPriorityRange_v5050)  \
	X(cuCtxSynchronize, PFN_cuCtxSynchronize_v2000)                        \
	X(cuCtxEnablePeerAccess, PFN_cuCtxEnablePeerAccess_v4000)              \
	X(cuCtxDisablePeerAccess, PFN_cuCtxDisablePeerAccess_v4000)            \
	X(cuMemGetInfo_v2, PFN_cuMemGetInfo_v3020)                             \
	X(cuMemAlloc_v2, PFN_cuMemAlloc_v3020)                                 \
	X(cuMemFree_v2, PFN_cuMemFree_v3020)                                   \
	X(cuMemAllocManaged, PFN_cuMemAllocManaged_v6000)                      \
	X(cuMemHostAlloc, PFN_cuMemHostAlloc_v2020)                            \
	X(cuMemFreeHost, PFN_cuMemFreeHost_v2000)                              \
	X(cuPointerGetAttribute, PFN_cuPointerGetAttribute_v4000)              \
	X(cuMemAddressReserve, PFN_cuMemAddressReserve_v10020)                 \
	X(cuMemAddressFree, PFN_cuMemAddressFree_v10020)                       \
	X(cuMemCreate, PFN_cuMemCreate_v10020)                                 \
	X(cuMemRelease, PFN_cuMemRelease_v10020)                               \
	X(cuMemMap, PFN_cuMemMap_v10020)                                       \
	X(cuMemUnmap, PFN_cuMemUnmap_v10020)                                   \
	X(cuMemSetAccess, PFN_cuMemSetAccess_v10020)                           \
	X(cuMemGetAllocationGranularity,                                       \
	  PFN_cuMemGetAllocationGranularity_v10020)                            \
	X(cuMemExportToShareableHandle,                                        \
	  PFN_cuMemExportToShareableHandle_v10020)                             \
	X(cuMemImportFromShareableHandle,                                      \
	  PFN_cuMemImportFromShareableHandle_v10020)                           \
	X(cuIpcGetMemHandle, PFN_cuIpcGetMemHandle_v4010)                      \
	X(cuIpcOpenMemHandle_v2, PFN_cuIpcOpenMemHandle_v11000)                \
	X(cuIpcCloseMemHandle, PFN_cuIpcCloseMemHandle_v4010)                  \
	X(cuStreamCreate, PFN_cuStreamCreate_v2000)                            \
	X(cuStreamDestroy_v2, PFN_cuStreamDestroy_v4000)                       \
	X(cuStreamSynchronize, PFN_cuStreamSynchronize_v2000)                  \
	X(cuStreamQuery, PFN_cuStreamQuery_v2000)                              \
	X(cuStreamWaitEvent, PFN_cuStreamWaitEvent_v3020)                      \
	X(cuStreamGetCtx, PFN_cuStreamGetCtx_v9020)                            \
	X(cuStreamGetFlags, PFN_cuStreamGetFlags_v5050)                        \
	X(cuEventCreate, PFN_cuEventCreate_v2000)                              \
	X(cuEventDestroy_v2, PFN_cuEventDestroy_v4000)                         \
	X(cuEventRecord, PFN_cuEventRecord_v2000)                              \
	X(cuEventQuery, PFN_cuEventQuery_v2000)                                \
	X(cuEventSynchronize, PFN_cuEventSynchronize_v2000)                    \
	X(cuMemsetD8Async, PFN_cuMemsetD8Async_v3020)                          \
	X(cuMemcpyAsync, PFN_cuMemcpyAsync_v4000)                              \
	X(cuLaunchHostFunc, PFN_cuLaunchHostFunc_v10000)                       \
	X(cuStreamBeginCapture_v2, PFN_cuStreamBeginCapture_v10010)            \
	X(cuStreamEndCapture, PFN_cuStreamEndCapture_v10000)                   \
	X(cuStreamGetCaptureInfo, PFN_cuStreamGetCaptureInfo_v10010)           \
	X(cuThreadExchangeStreamCaptureMode,                                   \
	  PFN_cuThreadExchangeStreamCaptureMode_v10010)                        \
	X(cuGraphDestroy, PFN_cuGraphDestroy_v10000)

struct hip_driver {
#define DRIVER_FIELD(name, type) type name;
	DRIVER_SYMBOLS(DRIVER_FIELD)
#undef DRIVER_FIELD
};

/* Filled by the first call of HIP, and never changed again. */
extern struct hip_driver cu;

/* False: there is no driver, or it lacks something, or it has no device. */
bool hip_driver_start(int *device_count_out);

#endif
