/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The types, constants and names with which this plugin compiles the source
 * that it shares with hip, backends/common/gpu/. The same lines as in
 * hip/names.h, for CUDA.
 */
#ifndef GM_CUDA_NAMES_H
#define GM_CUDA_NAMES_H

#include "cuda_symbols.h"

/* Ours. */
#define GPU_BACKEND "cuda"
#define GPU(name) gm_cuda_##name
#define GPU_DECLARE(slot, ...) GPUMEM_SLOT_DECLARE(gm_cuda_, slot)
#define GPU_ENTRY(slot, ...) GPUMEM_SLOT_ENTRY(gm_cuda_, slot)
#define GPU_OWN_SLOTS(X) GPUMEM_SLOTS_ADOPT(X)

/* The driver's types. */
typedef CUresult gpu_result;
typedef CUdevice_attribute gpu_attribute;
typedef CUuuid gpu_uuid;
typedef CUcontext gpu_context;
typedef CUstream gpu_stream;
typedef CUevent gpu_event;
typedef CUdeviceptr gpu_address;
typedef CUmemAccessDesc gpu_access;
typedef CUmemAllocationProp gpu_page_kind;
typedef CUmemGenericAllocationHandle gpu_handle;
typedef CUipcMemHandle gpu_ipc;
typedef CUstreamCaptureMode gpu_capture_mode;
typedef CUstreamCaptureStatus gpu_capture_status;
typedef cuuint64_t gpu_capture_number;

/* What a call changes of the thread's stack of contexts: so many are pushed. */
struct gpu_place {
	int pushed;
};

/* What the names of its functions begin with, and those that are not the same
 * as HIP's after that. */
#define PREFIX "cu"
#define CTX_ENABLE_PEER_ACCESS "cuCtxEnablePeerAccess"
#define DEVICE_COUNT "cuDeviceGetCount"
#define EVENT_CREATE "cuEventCreate"
#define GET_VERSION "cuDriverGetVersion"
#define MEM_ALLOC "cuMemAlloc"
#define MEM_ALLOC_MANAGED "cuMemAllocManaged"
#define MEM_FREE "cuMemFree"
#define MEM_FREE_HOST "cuMemFreeHost"
#define MEM_HOST_ALLOC "cuMemHostAlloc"
#define MEM_HOST_REGISTER "cuMemHostRegister"
#define MEM_HOST_UNREGISTER "cuMemHostUnregister"
#define MEMSET "cuMemsetD8Async"
#define NON_BLOCKING "CU_STREAM_NON_BLOCKING"
#define STREAM_CREATE "cuStreamCreate"

/* Its results and flags. */
#define GPU_SUCCESS CUDA_SUCCESS
#define GPU_NOT_READY CUDA_ERROR_NOT_READY
#define GPU_NOT_SUPPORTED CUDA_ERROR_NOT_SUPPORTED
#define GPU_INVALID_CONTEXT CUDA_ERROR_INVALID_CONTEXT
#define GPU_MAP_FAILED CUDA_ERROR_MAP_FAILED
#define GPU_PEER_ALREADY_ENABLED CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
#define GPU_CAPTURE_IMPLICIT CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
#define GPU_CAPTURE_RELAXED CU_STREAM_CAPTURE_MODE_RELAXED
#define GPU_CAPTURE_NONE CU_STREAM_CAPTURE_STATUS_NONE
#define GPU_CAPTURE_ACTIVE CU_STREAM_CAPTURE_STATUS_ACTIVE
#define GPU_CAPTURE_INVALIDATED CU_STREAM_CAPTURE_STATUS_INVALIDATED
#define GPU_STREAM_LEGACY CU_STREAM_LEGACY
#define GPU_STREAM_PER_THREAD CU_STREAM_PER_THREAD
#define GPU_HAS_VIRTUAL_MEMORY                                                 \
	CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
#define GPU_HAS_CONCURRENT_MANAGED CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS
#define GPU_RECOMMENDED CU_MEM_ALLOC_GRANULARITY_RECOMMENDED
#define GPU_ATTACH_GLOBAL CU_MEM_ATTACH_GLOBAL
#define GPU_DESCRIPTOR CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define GPU_IPC_FLAGS CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
#define GPU_LOCATION_DEVICE CU_MEM_LOCATION_TYPE_DEVICE
#define GPU_READ_WRITE CU_MEM_ACCESS_FLAGS_PROT_READWRITE
#define GPU_PINNED_EVERYWHERE                                                  \
	(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP)
#define GPU_REGISTER_EVERYWHERE CU_MEMHOSTREGISTER_PORTABLE
/* CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, which came with CUDA 12.2. */
#define CUDA_HOST_NODE ((CUdevice_attribute)134)
/* CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK and
 * CU_MEM_CREATE_USAGE_HW_DECOMPRESS, which came with CUDA 12.8. */
#define CUDA_DECOMPRESSES ((CUdevice_attribute)136)
#define CUDA_FOR_DECOMPRESSION 0x2
#define GPU_EVENT_DISABLE_TIMING CU_EVENT_DISABLE_TIMING
#define GPU_STREAM_NON_BLOCKING CU_STREAM_NON_BLOCKING

/* Its versions. */
#define GPU_SYMBOL_LIST CUDA_SYMBOL_LIST
#define GPU_SINCE(version) version
#define GPU_VERSION_MIN CUDA_DRIVER_MIN
#define GPU_MAJOR(version) ((version) / 1000)
#define GPU_MINOR(version) ((version) % 1000 / 10)

/* What is said of a driver that cannot be used. */
#define IS_NOT_INSTALLED                                                       \
	"the NVIDIA driver is not installed, or the container has no GPU: on " \
	"Debian apt install libcuda1, in a container use --gpus all"
#define IS_TOO_OLD                                                             \
	"the driver, %s, is made for CUDA %d.%d, and 11.0 or later is "        \
	"needed: "                                                             \
	"install a newer driver"
#define IS_NO_DRIVER                                                           \
	"%s has no function %s, so it is no driver of NVIDIA, or not a whole " \
	"one"
#define SHOWS_NO_DEVICE                                                        \
	"the driver shows no device; see nvidia-smi and CUDA_VISIBLE_DEVICES"

#endif
