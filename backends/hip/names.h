/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What backends/common/gpu/ says, in HIP's words: that source, which is there
 * once for cuda and hip, is compiled into this plugin with these names. Read
 * beside cuda/names.h.
 */
#ifndef GM_HIP_NAMES_H
#define GM_HIP_NAMES_H

#include "hip_symbols.h"

/* Ours. */
#define GPU(name) gm_hip_##name
#define gpu gm_hip /* the table of the runtime's functions */
#define gpu_device hip_device
#define gpu_visit hip_visit

/* Raw allocations are the runtime's own, or else made by hip_segment.c. */
#define gpu_raw_info gm_hip_raw_info
#define gpu_raw_alloc gm_hip_raw_alloc
#define gpu_raw_free gm_hip_raw_free
#define gpu_raw_peer gm_hip_raw_peer

/* The runtime's types. */
typedef hipError_t gpu_result;
typedef hipStream_t gpu_stream;
typedef void *gpu_address;
typedef hipMemAccessDesc gpu_access;
typedef struct hip_page_kind gpu_page_kind;
typedef hipMemGenericAllocationHandle_t gpu_handle;
typedef hipIpcMemHandle_t gpu_ipc;
typedef hipStreamCaptureStatus gpu_capture_status;
typedef unsigned long long gpu_capture_number;

/* What the names of its functions begin with, and those that are not the same
 * as CUDA's after that. */
#define PREFIX "hip"
#define CTX_ENABLE_PEER_ACCESS "hipDeviceEnablePeerAccess"
#define MEM_ALLOC "hipMalloc"
#define MEM_ALLOC_MANAGED "hipMallocManaged"
#define MEM_FREE "hipFree"
#define MEM_FREE_HOST "hipHostFree"
#define MEM_HOST_ALLOC "hipHostMalloc"
#define MEMSET "hipMemsetAsync"
#define NON_BLOCKING "hipStreamNonBlocking"
#define STREAM_CREATE "hipStreamCreateWithFlags"

/* Its errors and flags. */
#define GPU_SUCCESS hipSuccess
#define GPU_NOT_READY hipErrorNotReady
#define GPU_INVALID_CONTEXT hipErrorInvalidContext
#define GPU_MAP_FAILED hipErrorMapFailed
#define GPU_PEER_ALREADY_ENABLED hipErrorPeerAccessAlreadyEnabled
#define GPU_CAPTURE_IMPLICIT hipErrorStreamCaptureImplicit
#define GPU_CAPTURE_NONE hipStreamCaptureStatusNone
#define GPU_CAPTURE_ACTIVE hipStreamCaptureStatusActive
#define GPU_CAPTURE_INVALIDATED hipStreamCaptureStatusInvalidated
#define GPU_STREAM_LEGACY ((hipStream_t)1) /* older headers have no name */
#define GPU_STREAM_PER_THREAD hipStreamPerThread
#define GPU_ATTACH_GLOBAL hipMemAttachGlobal
#define GPU_DESCRIPTOR hipMemHandleTypePosixFileDescriptor
#define GPU_IPC_FLAGS gm_hip.ipc_flags
#define GPU_LOCATION_DEVICE hipMemLocationTypeDevice
#define GPU_READ_WRITE hipMemAccessFlagsProtReadWrite
#define GPU_PINNED_EVERYWHERE (hipHostMallocPortable | hipHostMallocMapped)
#define GPU_STREAM_NON_BLOCKING hipStreamNonBlocking

#endif
