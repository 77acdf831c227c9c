/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What backends/common/gpu/ says, in CUDA's words: that source, which is there
 * once for cuda and hip, is compiled into this plugin with these names. Read
 * beside hip/names.h.
 */
#ifndef GM_CUDA_NAMES_H
#define GM_CUDA_NAMES_H

#include "cuda_symbols.h"

/* Ours. */
#define GPU(name) gm_cuda_##name
#define gpu gm_cuda /* the table of the driver's functions */
#define gpu_device cuda_device
#define gpu_visit cuda_visit

/* All raw allocations are the driver's own. */
#define gpu_raw_info gm_cuda_memory_info
#define gpu_raw_alloc gm_cuda_alloc
#define gpu_raw_free gm_cuda_free
#define gpu_raw_peer gm_cuda_peer_enable

/* The driver's types. */
typedef CUresult gpu_result;
typedef CUstream gpu_stream;
typedef CUdeviceptr gpu_address;
typedef CUmemAccessDesc gpu_access;
typedef CUmemAllocationProp gpu_page_kind;
typedef CUmemGenericAllocationHandle gpu_handle;
typedef CUipcMemHandle gpu_ipc;
typedef CUstreamCaptureStatus gpu_capture_status;
typedef cuuint64_t gpu_capture_number;

/* What the names of its functions begin with, and those that are not the same
 * as HIP's after that. */
#define PREFIX "cu"
#define CTX_ENABLE_PEER_ACCESS "cuCtxEnablePeerAccess"
#define MEM_ALLOC "cuMemAlloc"
#define MEM_ALLOC_MANAGED "cuMemAllocManaged"
#define MEM_FREE "cuMemFree"
#define MEM_FREE_HOST "cuMemFreeHost"
#define MEM_HOST_ALLOC "cuMemHostAlloc"
#define MEMSET "cuMemsetD8Async"
#define NON_BLOCKING "CU_STREAM_NON_BLOCKING"
#define STREAM_CREATE "cuStreamCreate"

/* Its results and flags. */
#define GPU_SUCCESS CUDA_SUCCESS
#define GPU_NOT_READY CUDA_ERROR_NOT_READY
#define GPU_INVALID_CONTEXT CUDA_ERROR_INVALID_CONTEXT
#define GPU_MAP_FAILED CUDA_ERROR_MAP_FAILED
#define GPU_PEER_ALREADY_ENABLED CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
#define GPU_CAPTURE_IMPLICIT CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
#define GPU_CAPTURE_NONE CU_STREAM_CAPTURE_STATUS_NONE
#define GPU_CAPTURE_ACTIVE CU_STREAM_CAPTURE_STATUS_ACTIVE
#define GPU_CAPTURE_INVALIDATED CU_STREAM_CAPTURE_STATUS_INVALIDATED
#define GPU_STREAM_LEGACY CU_STREAM_LEGACY
#define GPU_STREAM_PER_THREAD CU_STREAM_PER_THREAD
#define GPU_ATTACH_GLOBAL CU_MEM_ATTACH_GLOBAL
#define GPU_DESCRIPTOR CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define GPU_IPC_FLAGS CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
#define GPU_LOCATION_DEVICE CU_MEM_LOCATION_TYPE_DEVICE
#define GPU_READ_WRITE CU_MEM_ACCESS_FLAGS_PROT_READWRITE
#define GPU_PINNED_EVERYWHERE                                                  \
	(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP)
#define GPU_STREAM_NON_BLOCKING CU_STREAM_NON_BLOCKING

#endif
