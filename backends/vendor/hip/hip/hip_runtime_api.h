/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The functions of AMD's HIP runtime, libamdhip64.so, that gpumem uses, with
 * their types in driver_types.h: what a build takes that finds no headers of
 * ROCm. It is neither complete nor meant for programs, and has no code.
 *
 * It says what HIP 7.1 does, and a library built with it serves 5.0 to 7: a
 * number, a structure or a prototype that stands here is the same in each
 * release that has it. What is not is left out, as hipDeviceProp_t, or has no
 * members, as hipMemAllocationProp. A comment that begins with "if" says from
 * which release on AMD's headers have such a thing; the plugin looks functions
 * up when it is started, and does without those that the runtime has not.
 * tests/hip_headers.sh compares all of it with AMD's headers, and knows the
 * layout of this file, not C.
 */
#ifndef GPUMEM_VENDOR_HIP_RUNTIME_API_H
#define GPUMEM_VENDOR_HIP_RUNTIME_API_H

#include <stdint.h>
#include <hip/driver_types.h>
#include <hip/hip_version.h>

/* ---- The runtime and its errors ---------------------------------------- */

hipError_t hipInit(unsigned flags);
hipError_t hipDriverGetVersion(int *version);
hipError_t hipRuntimeGetVersion(int *version);
const char *hipGetErrorName(hipError_t error);
const char *hipGetErrorString(hipError_t error);
hipError_t hipGetLastError(void);
hipError_t hipPeekAtLastError(void);
/* if HIP_VERSION >= 60000000 */
hipError_t hipExtGetLastError(void);

/* ---- Devices ----------------------------------------------------------- */

hipError_t hipGetDeviceCount(int *count);
hipError_t hipGetDevice(int *number);
hipError_t hipSetDevice(int number);
hipError_t hipDeviceGet(hipDevice_t *device, int number);
hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t which,
				 int number);
hipError_t hipDeviceGetName(char *name, int bytes, hipDevice_t device);
hipError_t hipDeviceGetPCIBusId(char *id, int bytes, int number);
hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device);
hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device);
hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest);
hipError_t hipDeviceSynchronize(void);
hipError_t hipDeviceReset(void);
hipError_t hipDeviceCanAccessPeer(int *can, int number, int peer);
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags);
hipError_t hipDeviceDisablePeerAccess(int peer);

/* ---- Memory ------------------------------------------------------------ */

hipError_t hipMemGetInfo(size_t *free_bytes, size_t *total_bytes);
hipError_t hipMemGetAddressRange(hipDeviceptr_t *start, size_t *bytes,
				 hipDeviceptr_t address);
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *about,
				   const void *address);
hipError_t hipMalloc(void **address, size_t bytes);
hipError_t hipExtMallocWithFlags(void **address, size_t bytes, unsigned flags);
hipError_t hipMallocManaged(void **address, size_t bytes, unsigned flags);
hipError_t hipMallocPitch(void **address, size_t *pitch, size_t width,
			  size_t height);
hipError_t hipMemAllocPitch(hipDeviceptr_t *address, size_t *pitch,
			    size_t width, size_t height, unsigned element);
hipError_t hipMalloc3D(hipPitchedPtr *pitched, hipExtent extent);
hipError_t hipFree(void *address);
hipError_t hipMallocAsync(void **address, size_t bytes, hipStream_t stream);
hipError_t hipFreeAsync(void *address, hipStream_t stream);
hipError_t hipMallocFromPoolAsync(void **address, size_t bytes,
				  hipMemPool_t pool, hipStream_t stream);
hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *pool, int device);
hipError_t hipDeviceGetMemPool(hipMemPool_t *pool, int device);
hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool);
hipError_t hipMemPoolCreate(hipMemPool_t *pool, const hipMemPoolProps *about);
hipError_t hipMemPoolDestroy(hipMemPool_t pool);
hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t keep_bytes);
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr which,
				  void *value);
hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr which,
				  void *value);

hipError_t hipHostMalloc(void **address, size_t bytes, unsigned flags);
hipError_t hipHostAlloc(void **address, size_t bytes, unsigned flags);
hipError_t hipMallocHost(void **address, size_t bytes);
hipError_t hipMemAllocHost(void **address, size_t bytes);
hipError_t hipHostFree(void *address);
hipError_t hipFreeHost(void *address);
hipError_t hipHostRegister(void *address, size_t bytes, unsigned flags);
hipError_t hipHostUnregister(void *address);

hipError_t hipMemcpy(void *to, const void *from, size_t bytes,
		     hipMemcpyKind kind);
hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes);
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes,
			  hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemsetAsync(void *to, int value, size_t bytes,
			  hipStream_t stream);
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value,
			    size_t count, hipStream_t stream);

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *handle, void *address);
hipError_t hipIpcOpenMemHandle(void **address, hipIpcMemHandle_t handle,
			       unsigned flags);
hipError_t hipIpcCloseMemHandle(void *address);

/* ---- Virtual memory ---------------------------------------------------- */

hipError_t hipMemAddressReserve(void **address, size_t bytes, size_t alignment,
				void *wanted, unsigned long long flags);
hipError_t hipMemAddressFree(void *address, size_t bytes);
hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *handle, size_t bytes,
			const hipMemAllocationProp *about,
			unsigned long long flags);
hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle);
hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t *handle,
					void *address);
hipError_t hipMemMap(void *address, size_t bytes, size_t offset,
		     hipMemGenericAllocationHandle_t handle,
		     unsigned long long flags);
hipError_t hipMemUnmap(void *address, size_t bytes);
hipError_t hipMemSetAccess(void *address, size_t bytes,
			   const hipMemAccessDesc *who, size_t count);
hipError_t
hipMemGetAllocationGranularity(size_t *bytes, const hipMemAllocationProp *about,
			       hipMemAllocationGranularity_flags which);
hipError_t hipMemExportToShareableHandle(void *shared,
					 hipMemGenericAllocationHandle_t handle,
					 hipMemAllocationHandleType type,
					 unsigned long long flags);
hipError_t
hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t *handle,
				void *shared, hipMemAllocationHandleType type);

/* ---- Arrays ------------------------------------------------------------ */

hipError_t hipMallocArray(hipArray_t *array, const hipChannelFormatDesc *about,
			  size_t width, size_t height, unsigned flags);
hipError_t hipMalloc3DArray(hipArray_t *array,
			    const hipChannelFormatDesc *about, hipExtent extent,
			    unsigned flags);
hipError_t hipMallocMipmappedArray(hipMipmappedArray_t *array,
				   const hipChannelFormatDesc *about,
				   hipExtent extent, unsigned levels,
				   unsigned flags);
hipError_t hipArrayCreate(hipArray_t *array, const HIP_ARRAY_DESCRIPTOR *about);
hipError_t hipArray3DCreate(hipArray_t *array,
			    const HIP_ARRAY3D_DESCRIPTOR *about);
hipError_t hipMipmappedArrayCreate(hipMipmappedArray_t *array,
				   HIP_ARRAY3D_DESCRIPTOR *about,
				   unsigned levels);
hipError_t hipFreeArray(hipArray_t array);
hipError_t hipArrayDestroy(hipArray_t array);
hipError_t hipFreeMipmappedArray(hipMipmappedArray_t array);
hipError_t hipMipmappedArrayDestroy(hipMipmappedArray_t array);

/* ---- Streams and events ------------------------------------------------ */

hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event,
			      unsigned flags);
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags);
/* if HIP_VERSION >= 50600000 */
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device);
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t call,
				void *user, unsigned flags);
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t call, void *user);

hipError_t hipEventCreate(hipEvent_t *event);
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipEventSynchronize(hipEvent_t event);

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph);
hipError_t hipStreamIsCapturing(hipStream_t stream,
				hipStreamCaptureStatus *status);
hipError_t hipStreamGetCaptureInfo(hipStream_t stream,
				   hipStreamCaptureStatus *status,
				   unsigned long long *number);
hipError_t
hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *status,
			   unsigned long long *number, hipGraph_t *graph,
			   const hipGraphNode_t **needs, size_t *count);
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode);

/* ---- Graphs ------------------------------------------------------------ */

hipError_t hipGraphCreate(hipGraph_t *graph, unsigned flags);
hipError_t hipGraphDestroy(hipGraph_t graph);
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *exec, hipGraph_t graph,
					unsigned long long flags);
hipError_t hipGraphExecDestroy(hipGraphExec_t exec);
/* if HIP_VERSION >= 60200000 */
hipError_t hipGraphInstantiateWithParams(hipGraphExec_t *exec, hipGraph_t graph,
					 hipGraphInstantiateParams *params);
hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream);
/* if HIP_VERSION >= 50500000 */
hipError_t hipGraphLaunch_spt(hipGraphExec_t exec, hipStream_t stream);
/* if HIP_VERSION >= 50300000 */
hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t stream);

/* if HIP_VERSION >= 60200000 */
hipError_t hipGraphAddNode(hipGraphNode_t *node, hipGraph_t graph,
			   const hipGraphNode_t *needs, size_t count,
			   hipGraphNodeParams *params);
/* if HIP_VERSION >= 50500000 */
hipError_t hipGraphAddMemAllocNode(hipGraphNode_t *node, hipGraph_t graph,
				   const hipGraphNode_t *needs, size_t count,
				   hipMemAllocNodeParams *params);
/* if HIP_VERSION >= 50500000 */
hipError_t hipGraphAddMemFreeNode(hipGraphNode_t *node, hipGraph_t graph,
				  const hipGraphNode_t *needs, size_t count,
				  void *address);
/* if HIP_VERSION >= 50300000 */
hipError_t hipDeviceGetGraphMemAttribute(int number,
					 hipGraphMemAttributeType which,
					 void *value);
/* if HIP_VERSION >= 50300000 */
hipError_t hipDeviceGraphMemTrim(int number);

#endif
