/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Every function of HIP that the doubles have: HIP_SYMBOLS(X), X(name, age).
 * `age` is ALL for what each of the three has and NEW for what .5 lacks. The
 * types are those of AMD's header, where it has the function.
 */
#ifndef GPUMEM_TESTS_HIP_SYMBOLS_H
#define GPUMEM_TESTS_HIP_SYMBOLS_H

#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>

/* Not in the header of 5.2, which all three are built with. */
#if HIP_VERSION < 50300000
typedef int hipGraphMemAttributeType;
#endif
#if HIP_VERSION < 50500000
typedef struct {
	int type, handles, location, device;
	void *windows;
	unsigned char reserved[64];
	const void *accesses;
	size_t access_count, bytesize;
	void *dptr;
} hipMemAllocNodeParams;
#endif
#if HIP_VERSION < 60100000
typedef struct {
	int type, reserved[3];
	hipMemAllocNodeParams alloc;
	long long rest[15];
} hipGraphNodeParams;
#endif
#if HIP_VERSION < 60200000
typedef struct {
	hipGraphNode_t errNode_out;
	unsigned long long flags;
	int result_out;
	hipStream_t uploadStream;
} hipGraphInstantiateParams;
#endif
hipError_t hipGraphAddMemAllocNode(hipGraphNode_t *node_out, hipGraph_t graph,
				   const hipGraphNode_t *needs, size_t count,
				   hipMemAllocNodeParams *params);
hipError_t hipGraphAddMemFreeNode(hipGraphNode_t *node_out, hipGraph_t graph,
				  const hipGraphNode_t *needs, size_t count,
				  void *address);
hipError_t hipGraphAddNode(hipGraphNode_t *node_out, hipGraph_t graph,
			   const hipGraphNode_t *needs, size_t count,
			   hipGraphNodeParams *params);
hipError_t hipGraphInstantiateWithParams(hipGraphExec_t *exec_out,
					 hipGraph_t graph,
					 hipGraphInstantiateParams *params);
hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t stream);
hipError_t hipGraphLaunch_spt(hipGraphExec_t exec, hipStream_t stream);
hipError_t hipDeviceGraphMemTrim(int device);
hipError_t hipDeviceGetGraphMemAttribute(int device,
					 hipGraphMemAttributeType which,
					 void *value_out);
hipError_t hipExtGetLastError(void);
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device_out);

#define HIP_SYMBOLS_DEVICE(X)                                                  \
	X(hipInit, ALL)                                                        \
	X(hipDriverGetVersion, ALL)                                            \
	X(hipRuntimeGetVersion, ALL)                                           \
	X(hipGetDeviceCount, ALL)                                              \
	X(hipGetDevice, ALL)                                                   \
	X(hipSetDevice, ALL)                                                   \
	X(hipDeviceGet, ALL)                                                   \
	X(hipDeviceGetName, ALL)                                               \
	X(hipDeviceTotalMem, ALL)                                              \
	X(hipDeviceGetAttribute, ALL)                                          \
	X(hipDeviceGetPCIBusId, ALL)                                           \
	X(hipDeviceGetStreamPriorityRange, ALL)                                \
	X(hipDeviceGetUuid, ALL)                                               \
	X(hipDeviceCanAccessPeer, ALL)                                         \
	X(hipDeviceEnablePeerAccess, ALL)                                      \
	X(hipDeviceDisablePeerAccess, ALL)                                     \
	X(hipDeviceSynchronize, ALL)                                           \
	X(hipGetErrorName, ALL)                                                \
	X(hipGetErrorString, ALL)                                              \
	X(hipGetLastError, ALL)                                                \
	X(hipPeekAtLastError, ALL)                                             \
	X(hipExtGetLastError, NEW)

#define HIP_SYMBOLS_MEMORY(X)                                                  \
	X(hipMalloc, ALL)                                                      \
	X(hipFree, ALL)                                                        \
	X(hipHostMalloc, ALL)                                                  \
	X(hipHostFree, ALL)                                                    \
	X(hipHostRegister, ALL)                                                \
	X(hipHostUnregister, ALL)                                              \
	X(hipMallocManaged, ALL)                                               \
	X(hipMallocAsync, ALL)                                                 \
	X(hipMallocFromPoolAsync, ALL)                                         \
	X(hipFreeAsync, ALL)                                                   \
	X(hipDeviceGetDefaultMemPool, ALL)                                     \
	X(hipDeviceGetMemPool, ALL)                                            \
	X(hipDeviceSetMemPool, ALL)                                            \
	X(hipMemPoolCreate, ALL)                                               \
	X(hipMemPoolDestroy, ALL)                                              \
	X(hipMemPoolTrimTo, ALL)                                               \
	X(hipMemPoolSetAttribute, ALL)                                         \
	X(hipMemPoolGetAttribute, ALL)                                         \
	X(hipMemGetInfo, ALL)                                                  \
	X(hipMemGetAddressRange, ALL)                                          \
	X(hipMemcpy, ALL)                                                      \
	X(hipMemcpyDtoH, ALL)                                                  \
	X(hipMemcpyAsync, ALL)                                                 \
	X(hipMemsetAsync, ALL)                                                 \
	X(hipMemsetD8Async, ALL)                                               \
	X(hipPointerGetAttributes, ALL)                                        \
	X(hipMemAddressReserve, ALL)                                           \
	X(hipMemAddressFree, ALL)                                              \
	X(hipMemCreate, ALL)                                                   \
	X(hipMemRelease, ALL)                                                  \
	X(hipMemMap, ALL)                                                      \
	X(hipMemUnmap, ALL)                                                    \
	X(hipMemSetAccess, ALL)                                                \
	X(hipMemGetAllocationGranularity, ALL)                                 \
	X(hipMemExportToShareableHandle, ALL)                                  \
	X(hipMemImportFromShareableHandle, ALL)                                \
	X(hipIpcGetMemHandle, ALL)                                             \
	X(hipIpcOpenMemHandle, ALL)                                            \
	X(hipIpcCloseMemHandle, ALL)                                           \
	X(hipMallocArray, ALL)                                                 \
	X(hipMalloc3DArray, ALL)                                               \
	X(hipMallocMipmappedArray, ALL)                                        \
	X(hipArrayCreate, ALL)                                                 \
	X(hipArray3DCreate, ALL)                                               \
	X(hipMipmappedArrayCreate, ALL)                                        \
	X(hipFreeArray, ALL)                                                   \
	X(hipArrayDestroy, ALL)                                                \
	X(hipFreeMipmappedArray, ALL)                                          \
	X(hipMipmappedArrayDestroy, ALL)

#define HIP_SYMBOLS_STREAM(X)                                                  \
	X(hipStreamCreate, ALL)                                                \
	X(hipStreamCreateWithFlags, ALL)                                       \
	X(hipStreamDestroy, ALL)                                               \
	X(hipStreamQuery, ALL)                                                 \
	X(hipStreamSynchronize, ALL)                                           \
	X(hipStreamWaitEvent, ALL)                                             \
	X(hipStreamGetFlags, ALL)                                              \
	X(hipStreamGetDevice, NEW)                                             \
	X(hipStreamAddCallback, ALL)                                           \
	X(hipLaunchHostFunc, NEW)                                              \
	X(hipEventCreate, ALL)                                                 \
	X(hipEventCreateWithFlags, ALL)                                        \
	X(hipEventDestroy, ALL)                                                \
	X(hipEventRecord, ALL)                                                 \
	X(hipEventQuery, ALL)                                                  \
	X(hipEventSynchronize, ALL)                                            \
	X(hipStreamBeginCapture, ALL)                                          \
	X(hipStreamEndCapture, ALL)                                            \
	X(hipStreamIsCapturing, ALL)                                           \
	X(hipStreamGetCaptureInfo, ALL)                                        \
	X(hipStreamGetCaptureInfo_v2, ALL)                                     \
	X(hipThreadExchangeStreamCaptureMode, ALL)

#define HIP_SYMBOLS_GRAPH(X)                                                   \
	X(hipGraphCreate, ALL)                                                 \
	X(hipGraphDestroy, ALL)                                                \
	X(hipGraphInstantiateWithFlags, ALL)                                   \
	X(hipGraphInstantiateWithParams, NEW)                                  \
	X(hipGraphExecDestroy, ALL)                                            \
	X(hipGraphAddMemAllocNode, NEW)                                        \
	X(hipGraphAddMemFreeNode, NEW)                                         \
	X(hipGraphAddNode, NEW)                                                \
	X(hipGraphUpload, NEW)                                                 \
	X(hipGraphLaunch, ALL)                                                 \
	X(hipGraphLaunch_spt, NEW)                                             \
	X(hipDeviceGraphMemTrim, NEW)                                          \
	X(hipDeviceGetGraphMemAttribute, NEW)

#define HIP_SYMBOLS(X)                                                         \
	HIP_SYMBOLS_DEVICE(X)                                                  \
	HIP_SYMBOLS_MEMORY(X)                                                  \
	HIP_SYMBOLS_STREAM(X)                                                  \
	HIP_SYMBOLS_GRAPH(X)

#endif
