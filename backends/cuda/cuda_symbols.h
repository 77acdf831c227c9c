/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The driver functions that the plugin looks up, and nothing else: one list
 * from which the table of pointers and the loader are made.
 *
 * Names are exported names with their suffix spelled out. The header redirects
 * the bare ones to whatever was newest when it was written, and an older driver
 * does not have that. The types of cudaTypedefs.h carry the version that
 * brought the function, so the compiler proves each prototype, and one binary
 * serves every driver from CUDA_DRIVER_MIN on.
 */
#ifndef GM_CUDA_SYMBOLS_H
#define GM_CUDA_SYMBOLS_H

#include <cuda.h>
#include <cudaTypedefs.h>

/* As cuDriverGetVersion() writes it. 10.2 brought virtual memory, and 11.0 the
 * release of a primary context that leaves it to its other users. */
#define CUDA_DRIVER_MIN 11000

/* The header would make it the same name as the newer one. */
#undef cuDeviceGetUuid

/* Exported name; name and version of its type. What is newer than
 * CUDA_DRIVER_MIN is NULL where the driver has it not; the rest is required. */
#define CUDA_SYMBOL_LIST(X)                                                    \
	X(cuDriverGetVersion, cuDriverGetVersion, 2020)                        \
	X(cuInit, cuInit, 2000)                                                \
	X(cuGetErrorName, cuGetErrorName, 6000)                                \
	X(cuGetErrorString, cuGetErrorString, 6000)                            \
	X(cuDeviceGetCount, cuDeviceGetCount, 2000)                            \
	X(cuDeviceGet, cuDeviceGet, 2000)                                      \
	X(cuDeviceGetName, cuDeviceGetName, 2000)                              \
	X(cuDeviceTotalMem_v2, cuDeviceTotalMem, 3020)                         \
	X(cuDeviceGetAttribute, cuDeviceGetAttribute, 2000)                    \
	X(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, 4010)                      \
	X(cuDeviceGetUuid, cuDeviceGetUuid, 9020)                              \
	X(cuDeviceGetUuid_v2, cuDeviceGetUuid, 11040)                          \
	X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000)            \
	X(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease, 11000)      \
	X(cuCtxPushCurrent_v2, cuCtxPushCurrent, 4000)                         \
	X(cuCtxPopCurrent_v2, cuCtxPopCurrent, 4000)                           \
	X(cuCtxGetDevice, cuCtxGetDevice, 2000)                                \
	X(cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange, 5050)      \
	X(cuThreadExchangeStreamCaptureMode,                                   \
	  cuThreadExchangeStreamCaptureMode, 10010)                            \
	X(cuMemGetInfo_v2, cuMemGetInfo, 3020)                                 \
	X(cuMemAlloc_v2, cuMemAlloc, 3020)                                     \
	X(cuMemFree_v2, cuMemFree, 3020)                                       \
	X(cuMemGetAddressRange_v2, cuMemGetAddressRange, 3020)                 \
	X(cuMemHostAlloc, cuMemHostAlloc, 2020)                                \
	X(cuMemFreeHost, cuMemFreeHost, 2000)                                  \
	X(cuMemAllocManaged, cuMemAllocManaged, 6000)                          \
	X(cuDeviceCanAccessPeer, cuDeviceCanAccessPeer, 4000)                  \
	X(cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, 4000)                  \
	X(cuStreamCreate, cuStreamCreate, 2000)                                \
	X(cuStreamDestroy_v2, cuStreamDestroy, 4000)                           \
	X(cuStreamSynchronize, cuStreamSynchronize, 2000)                      \
	X(cuStreamQuery, cuStreamQuery, 2000)                                  \
	X(cuStreamWaitEvent, cuStreamWaitEvent, 3020)                          \
	X(cuStreamGetCtx, cuStreamGetCtx, 9020)                                \
	X(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo, 10010)               \
	X(cuEventCreate, cuEventCreate, 2000)                                  \
	X(cuEventDestroy_v2, cuEventDestroy, 4000)                             \
	X(cuEventRecord, cuEventRecord, 2000)                                  \
	X(cuEventQuery, cuEventQuery, 2000)                                    \
	X(cuEventSynchronize, cuEventSynchronize, 2000)                        \
	X(cuMemsetD8Async, cuMemsetD8Async, 3020)                              \
	X(cuMemcpyAsync, cuMemcpyAsync, 4000)                                  \
	X(cuMemAddressReserve, cuMemAddressReserve, 10020)                     \
	X(cuMemAddressFree, cuMemAddressFree, 10020)                           \
	X(cuMemCreate, cuMemCreate, 10020)                                     \
	X(cuMemRelease, cuMemRelease, 10020)                                   \
	X(cuMemMap, cuMemMap, 10020)                                           \
	X(cuMemUnmap, cuMemUnmap, 10020)                                       \
	X(cuMemSetAccess, cuMemSetAccess, 10020)                               \
	X(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity, 10020) \
	X(cuMemExportToShareableHandle, cuMemExportToShareableHandle, 10020)   \
	X(cuMemImportFromShareableHandle, cuMemImportFromShareableHandle,      \
	  10020)                                                               \
	X(cuIpcGetMemHandle, cuIpcGetMemHandle, 4010)                          \
	X(cuIpcOpenMemHandle_v2, cuIpcOpenMemHandle, 11000)                    \
	X(cuIpcCloseMemHandle, cuIpcCloseMemHandle, 4010)

#endif
