/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The functions of the HIP runtime that the plugin looks up, and nothing else:
 * one list from which the table of pointers and the loader are made.
 *
 * Their types are those of the header, of whatever version. A function that is
 * newer than the oldest header is declared here once more: where the header has
 * it as well, the compiler compares the two.
 *
 * Nothing here takes a structure that has changed its layout under the same
 * name, as hipDeviceProp_t and hipPointerAttribute_t have: but for
 * hipMemAllocationProp, which see in plugin.h.
 */
#ifndef GM_HIP_SYMBOLS_H
#define GM_HIP_SYMBOLS_H

#include <hip/hip_runtime_api.h>

/* As hipRuntimeGetVersion() writes it, without the patch. */
#define HIP_RELEASE(major, minor) ((major)*10000000 + (minor)*100000)
#define HIP_RUNTIME_MIN HIP_RELEASE(5, 0)

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device);

/* Exported name; name in `gpu`, which is CUDA's for the same; the release that
 * brought it. What is newer than HIP_RUNTIME_MIN is NULL where the runtime has
 * it not; the rest is required. */
#define HIP_SYMBOL_LIST(X)                                                     \
	X(hipDeviceCanAccessPeer, DeviceCanAccessPeer, 5, 0)                   \
	X(hipDeviceEnablePeerAccess, CtxEnablePeerAccess, 5, 0)                \
	X(hipDeviceGet, DeviceGet, 5, 0)                                       \
	X(hipDeviceGetAttribute, DeviceGetAttribute, 5, 0)                     \
	X(hipDeviceGetName, DeviceGetName, 5, 0)                               \
	X(hipDeviceGetPCIBusId, DeviceGetPCIBusId, 5, 0)                       \
	X(hipDeviceGetStreamPriorityRange, CtxGetStreamPriorityRange, 5, 0)    \
	X(hipDeviceGetUuid, DeviceGetUuid, 5, 1)                               \
	X(hipDeviceTotalMem, DeviceTotalMem, 5, 0)                             \
	X(hipEventCreateWithFlags, EventCreate, 5, 0)                          \
	X(hipEventDestroy, EventDestroy, 5, 0)                                 \
	X(hipEventQuery, EventQuery, 5, 0)                                     \
	X(hipEventRecord, EventRecord, 5, 0)                                   \
	X(hipEventSynchronize, EventSynchronize, 5, 0)                         \
	X(hipFree, MemFree, 5, 0)                                              \
	X(hipGetDevice, GetDevice, 5, 0)                                       \
	X(hipGetDeviceCount, DeviceGetCount, 5, 0)                             \
	X(hipGetErrorName, GetErrorName, 5, 0)                                 \
	X(hipGetErrorString, GetErrorString, 5, 0)                             \
	X(hipGetLastError, GetLastError, 5, 0)                                 \
	X(hipHostFree, MemFreeHost, 5, 0)                                      \
	X(hipHostMalloc, MemHostAlloc, 5, 0)                                   \
	X(hipHostRegister, MemHostRegister, 5, 0)                              \
	X(hipHostUnregister, MemHostUnregister, 5, 0)                          \
	X(hipInit, Init, 5, 0)                                                 \
	X(hipIpcCloseMemHandle, IpcCloseMemHandle, 5, 0)                       \
	X(hipIpcGetMemHandle, IpcGetMemHandle, 5, 0)                           \
	X(hipIpcOpenMemHandle, IpcOpenMemHandle, 5, 0)                         \
	X(hipMalloc, MemAlloc, 5, 0)                                           \
	X(hipMallocManaged, MemAllocManaged, 5, 0)                             \
	X(hipMemAddressFree, MemAddressFree, 5, 1)                             \
	X(hipMemAddressReserve, MemAddressReserve, 5, 1)                       \
	X(hipMemCreate, MemCreate, 5, 1)                                       \
	X(hipMemExportToShareableHandle, MemExportToShareableHandle, 5, 1)     \
	X(hipMemGetAddressRange, MemGetAddressRange, 5, 0)                     \
	X(hipMemGetAllocationGranularity, MemGetAllocationGranularity, 5, 1)   \
	X(hipMemGetInfo, MemGetInfo, 5, 0)                                     \
	X(hipMemImportFromShareableHandle, MemImportFromShareableHandle, 5, 1) \
	X(hipMemMap, MemMap, 5, 1)                                             \
	X(hipMemRelease, MemRelease, 5, 1)                                     \
	X(hipMemSetAccess, MemSetAccess, 5, 1)                                 \
	X(hipMemUnmap, MemUnmap, 5, 1)                                         \
	X(hipMemcpyAsync, MemcpyAsync, 5, 0)                                   \
	X(hipMemsetAsync, MemsetD8Async, 5, 0)                                 \
	X(hipPeekAtLastError, PeekAtLastError, 5, 0)                           \
	X(hipRuntimeGetVersion, DriverGetVersion, 5, 0)                        \
	X(hipSetDevice, SetDevice, 5, 0)                                       \
	X(hipStreamCreateWithFlags, StreamCreate, 5, 0)                        \
	X(hipStreamDestroy, StreamDestroy, 5, 0)                               \
	X(hipStreamGetCaptureInfo, StreamGetCaptureInfo, 5, 0)                 \
	X(hipStreamGetDevice, StreamGetDevice, 5, 3)                           \
	X(hipStreamQuery, StreamQuery, 5, 0)                                   \
	X(hipStreamSynchronize, StreamSynchronize, 5, 0)                       \
	X(hipStreamWaitEvent, StreamWaitEvent, 5, 0)                           \
	X(hipThreadExchangeStreamCaptureMode, ThreadExchangeStreamCaptureMode, \
	  5, 1)

#endif
