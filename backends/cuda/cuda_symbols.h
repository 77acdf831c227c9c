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

/* The one function that is looked up in two versions. */
typedef PFN_cuDeviceGetUuid_v11040 PFN_cuDeviceGetUuid_v2_v11040;

/* Headers before 12.0 do not have it. */
typedef CUresult(CUDAAPI *PFN_cuCtxGetId_v12000)(CUcontext context,
						 unsigned long long *id_out);

/* Exported name; name in `gpu`, which is that of its type too; version of its
 * type. What is newer than CUDA_DRIVER_MIN is NULL where the driver has it not;
 * the rest is required. */
#define CUDA_SYMBOL_LIST(X)                                                    \
	X(cuDriverGetVersion, DriverGetVersion, 2020)                          \
	X(cuInit, Init, 2000)                                                  \
	X(cuGetErrorName, GetErrorName, 6000)                                  \
	X(cuGetErrorString, GetErrorString, 6000)                              \
	X(cuDeviceGetCount, DeviceGetCount, 2000)                              \
	X(cuDeviceGet, DeviceGet, 2000)                                        \
	X(cuDeviceGetName, DeviceGetName, 2000)                                \
	X(cuDeviceTotalMem_v2, DeviceTotalMem, 3020)                           \
	X(cuDeviceGetAttribute, DeviceGetAttribute, 2000)                      \
	X(cuDeviceGetPCIBusId, DeviceGetPCIBusId, 4010)                        \
	X(cuDeviceGetUuid, DeviceGetUuid, 9020)                                \
	X(cuDeviceGetUuid_v2, DeviceGetUuid_v2, 11040)                         \
	X(cuDevicePrimaryCtxRetain, DevicePrimaryCtxRetain, 7000)              \
	X(cuDevicePrimaryCtxRelease_v2, DevicePrimaryCtxRelease, 11000)        \
	X(cuDevicePrimaryCtxGetState, DevicePrimaryCtxGetState, 7000)          \
	X(cuCtxGetId, CtxGetId, 12000)                                         \
	X(cuCtxPushCurrent_v2, CtxPushCurrent, 4000)                           \
	X(cuCtxPopCurrent_v2, CtxPopCurrent, 4000)                             \
	X(cuCtxGetDevice, CtxGetDevice, 2000)                                  \
	X(cuCtxGetStreamPriorityRange, CtxGetStreamPriorityRange, 5050)        \
	X(cuThreadExchangeStreamCaptureMode, ThreadExchangeStreamCaptureMode,  \
	  10010)                                                               \
	X(cuMemGetInfo_v2, MemGetInfo, 3020)                                   \
	X(cuMemAlloc_v2, MemAlloc, 3020)                                       \
	X(cuMemFree_v2, MemFree, 3020)                                         \
	X(cuMemGetAddressRange_v2, MemGetAddressRange, 3020)                   \
	X(cuMemHostAlloc, MemHostAlloc, 2020)                                  \
	X(cuMemFreeHost, MemFreeHost, 2000)                                    \
	X(cuMemHostRegister_v2, MemHostRegister, 6050)                         \
	X(cuMemHostUnregister, MemHostUnregister, 4000)                        \
	X(cuMemAllocManaged, MemAllocManaged, 6000)                            \
	X(cuDeviceCanAccessPeer, DeviceCanAccessPeer, 4000)                    \
	X(cuCtxEnablePeerAccess, CtxEnablePeerAccess, 4000)                    \
	X(cuStreamCreate, StreamCreate, 2000)                                  \
	X(cuStreamDestroy_v2, StreamDestroy, 4000)                             \
	X(cuStreamSynchronize, StreamSynchronize, 2000)                        \
	X(cuStreamQuery, StreamQuery, 2000)                                    \
	X(cuStreamWaitEvent, StreamWaitEvent, 3020)                            \
	X(cuStreamGetCtx, StreamGetCtx, 9020)                                  \
	X(cuStreamGetCaptureInfo, StreamGetCaptureInfo, 10010)                 \
	X(cuEventCreate, EventCreate, 2000)                                    \
	X(cuEventDestroy_v2, EventDestroy, 4000)                               \
	X(cuEventRecord, EventRecord, 2000)                                    \
	X(cuEventQuery, EventQuery, 2000)                                      \
	X(cuEventSynchronize, EventSynchronize, 2000)                          \
	X(cuMemsetD8Async, MemsetD8Async, 3020)                                \
	X(cuMemcpyAsync, MemcpyAsync, 4000)                                    \
	X(cuMemAddressReserve, MemAddressReserve, 10020)                       \
	X(cuMemAddressFree, MemAddressFree, 10020)                             \
	X(cuMemCreate, MemCreate, 10020)                                       \
	X(cuMemRelease, MemRelease, 10020)                                     \
	X(cuMemMap, MemMap, 10020)                                             \
	X(cuMemUnmap, MemUnmap, 10020)                                         \
	X(cuMemSetAccess, MemSetAccess, 10020)                                 \
	X(cuMemGetAllocationGranularity, MemGetAllocationGranularity, 10020)   \
	X(cuMemExportToShareableHandle, MemExportToShareableHandle, 10020)     \
	X(cuMemImportFromShareableHandle, MemImportFromShareableHandle, 10020) \
	X(cuIpcGetMemHandle, IpcGetMemHandle, 4010)                            \
	X(cuIpcOpenMemHandle_v2, IpcOpenMemHandle, 11000)                      \
	X(cuIpcCloseMemHandle, IpcCloseMemHandle, 4010)

#endif
