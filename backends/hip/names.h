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

/* The runtime's types. */
typedef hipError_t gpu_result;
typedef hipStream_t gpu_stream;
typedef void *gpu_address;

/* What the names of its functions begin with, and those that are not the same
 * as CUDA's after that. */
#define PREFIX "hip"
#define MEM_ALLOC_MANAGED "hipMallocManaged"
#define MEM_FREE "hipFree"
#define MEM_FREE_HOST "hipHostFree"
#define MEM_HOST_ALLOC "hipHostMalloc"
#define STREAM_CREATE "hipStreamCreateWithFlags"

/* Its errors and flags. */
#define GPU_SUCCESS hipSuccess
#define GPU_ATTACH_GLOBAL hipMemAttachGlobal
#define GPU_PINNED_EVERYWHERE (hipHostMallocPortable | hipHostMallocMapped)
#define GPU_STREAM_NON_BLOCKING hipStreamNonBlocking

#endif
