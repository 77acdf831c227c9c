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

/* The driver's types. */
typedef CUresult gpu_result;
typedef CUstream gpu_stream;
typedef CUdeviceptr gpu_address;

/* What the names of its functions begin with, and those that are not the same
 * as HIP's after that. */
#define PREFIX "cu"
#define MEM_ALLOC_MANAGED "cuMemAllocManaged"
#define MEM_FREE "cuMemFree"
#define MEM_FREE_HOST "cuMemFreeHost"
#define MEM_HOST_ALLOC "cuMemHostAlloc"
#define STREAM_CREATE "cuStreamCreate"

/* Its results and flags. */
#define GPU_SUCCESS CUDA_SUCCESS
#define GPU_ATTACH_GLOBAL CU_MEM_ATTACH_GLOBAL
#define GPU_PINNED_EVERYWHERE                                                  \
	(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP)
#define GPU_STREAM_NON_BLOCKING CU_STREAM_NON_BLOCKING

#endif
