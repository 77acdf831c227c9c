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
 * hipMemAllocationProp, which see in hip_plugin.h.
 */
#ifndef GM_HIP_SYMBOLS_H
#define GM_HIP_SYMBOLS_H

#include <hip/hip_runtime_api.h>

/* As hipRuntimeGetVersion() writes it, without the patch. */
#define HIP_RELEASE(major, minor) ((major)*10000000 + (minor)*100000)
#define HIP_RUNTIME_MIN HIP_RELEASE(5, 0)

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device);

/* Name; the release that brought it. What is newer than HIP_RUNTIME_MIN is NULL
 * where the runtime has it not; the rest is required. */
#define HIP_SYMBOL_LIST(X)                                                     \
	X(hipDeviceCanAccessPeer, 5, 0)                                        \
	X(hipDeviceEnablePeerAccess, 5, 0)                                     \
	X(hipDeviceGet, 5, 0)                                                  \
	X(hipDeviceGetAttribute, 5, 0)                                         \
	X(hipDeviceGetName, 5, 0)                                              \
	X(hipDeviceGetPCIBusId, 5, 0)                                          \
	X(hipDeviceGetStreamPriorityRange, 5, 0)                               \
	X(hipDeviceGetUuid, 5, 1)                                              \
	X(hipDeviceTotalMem, 5, 0)                                             \
	X(hipEventCreateWithFlags, 5, 0)                                       \
	X(hipEventDestroy, 5, 0)                                               \
	X(hipEventQuery, 5, 0)                                                 \
	X(hipEventRecord, 5, 0)                                                \
	X(hipEventSynchronize, 5, 0)                                           \
	X(hipFree, 5, 0)                                                       \
	X(hipGetDevice, 5, 0)                                                  \
	X(hipGetDeviceCount, 5, 0)                                             \
	X(hipGetErrorName, 5, 0)                                               \
	X(hipGetErrorString, 5, 0)                                             \
	X(hipGetLastError, 5, 0)                                               \
	X(hipHostFree, 5, 0)                                                   \
	X(hipHostMalloc, 5, 0)                                                 \
	X(hipInit, 5, 0)                                                       \
	X(hipIpcCloseMemHandle, 5, 0)                                          \
	X(hipIpcGetMemHandle, 5, 0)                                            \
	X(hipIpcOpenMemHandle, 5, 0)                                           \
	X(hipMalloc, 5, 0)                                                     \
	X(hipMallocManaged, 5, 0)                                              \
	X(hipMemAddressFree, 5, 1)                                             \
	X(hipMemAddressReserve, 5, 1)                                          \
	X(hipMemCreate, 5, 1)                                                  \
	X(hipMemExportToShareableHandle, 5, 1)                                 \
	X(hipMemGetAddressRange, 5, 0)                                         \
	X(hipMemGetAllocationGranularity, 5, 1)                                \
	X(hipMemGetInfo, 5, 0)                                                 \
	X(hipMemImportFromShareableHandle, 5, 1)                               \
	X(hipMemMap, 5, 1)                                                     \
	X(hipMemRelease, 5, 1)                                                 \
	X(hipMemSetAccess, 5, 1)                                               \
	X(hipMemUnmap, 5, 1)                                                   \
	X(hipMemcpyAsync, 5, 0)                                                \
	X(hipMemsetAsync, 5, 0)                                                \
	X(hipPeekAtLastError, 5, 0)                                            \
	X(hipRuntimeGetVersion, 5, 0)                                          \
	X(hipSetDevice, 5, 0)                                                  \
	X(hipStreamCreateWithFlags, 5, 0)                                      \
	X(hipStreamDestroy, 5, 0)                                              \
	X(hipStreamGetCaptureInfo, 5, 0)                                       \
	X(hipStreamGetDevice, 5, 3)                                            \
	X(hipStreamQuery, 5, 0)                                                \
	X(hipStreamSynchronize, 5, 0)                                          \
	X(hipStreamWaitEvent, 5, 0)                                            \
	X(hipThreadExchangeStreamCaptureMode, 5, 1)

#endif
