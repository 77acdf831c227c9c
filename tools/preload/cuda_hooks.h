/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The functions of NVIDIA's driver that are wrapped, CUDA_HOOKS(X), and those
 * that the wrappers call besides, CUDA_CALLS(X): X(name, type). The names are
 * those that the driver exports, each one ABI: cuMemAlloc without _v2 has
 * 32-bit sizes and is none of these, cuMemGetInfo has, and is one. `type` is
 * NVIDIA's own of that ABI.
 */
#ifndef GPUMEM_PRELOAD_CUDA_HOOKS_H
#define GPUMEM_PRELOAD_CUDA_HOOKS_H

#include "hooks.h"

#include <cuda.h>
#include <cudaTypedefs.h>

/* cuda.h turns the plain names into those of its newest ABI. */
#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuDeviceTotalMem
#undef cuGetProcAddress
#undef cuGraphAddNode
#undef cuMemGetInfo
#undef cuStreamBeginCapture
#undef cuStreamDestroy

/* Older headers do not have these; pointers and numbers of theirs are passed on
 * as they are. */
typedef CUresult(CUDAAPI *cuda_get_proc_v12000)(const char *symbol, void **pfn,
						int version, cuuint64_t flags,
						void *status);
typedef CUresult(CUDAAPI *cuda_info_v2000)(unsigned *free_out,
					   unsigned *total_out);
typedef CUresult(CUDAAPI *cuda_context_create_v12050)(CUcontext *context_out,
						      void *params,
						      unsigned flags,
						      CUdevice device);
typedef CUresult(CUDAAPI *cuda_green_create_v12040)(void **green_out,
						    void *resources,
						    CUdevice device,
						    unsigned flags);
typedef CUresult(CUDAAPI *cuda_begin_v10000)(CUstream stream);
typedef CUresult(CUDAAPI *cuda_begin_to_graph_v12030)(
	CUstream stream, CUgraph graph, const CUgraphNode *nodes,
	const void *edges, size_t count, CUstreamCaptureMode mode);
typedef CUresult(CUDAAPI *cuda_begin_again_v13030)(CUstream stream,
						   CUstreamCaptureMode mode,
						   CUgraph graph,
						   void (*callback)(void),
						   void *context);
typedef CUresult(CUDAAPI *cuda_begin_to_graphics_v13010)(CUstream stream,
							 void *params);
typedef CUresult(CUDAAPI *cuda_range_handle_v11070)(void *handle_out,
						    CUdeviceptr address,
						    size_t bytes, int type,
						    unsigned long long flags);
typedef CUresult(CUDAAPI *cuda_multicast_bind_v12010)(
	CUmemGenericAllocationHandle multicast, size_t offset,
	CUdeviceptr address, size_t bytes, unsigned long long flags);
typedef CUresult(CUDAAPI *cuda_multicast_bind_v13010)(
	CUmemGenericAllocationHandle multicast, CUdevice device, size_t offset,
	CUdeviceptr address, size_t bytes, unsigned long long flags);
typedef CUresult(CUDAAPI *cuda_endpoint_bind_v13030)(
	unsigned endpoint, CUdevice device, cuuint64_t offset, void *address,
	cuuint64_t bytes, unsigned long long flags);

typedef CUresult(CUDAAPI *cuda_retain_v11000)(
	CUmemGenericAllocationHandle *handle_out, void *address);
typedef CUresult(CUDAAPI *cuda_add_node_v12020)(CUgraphNode *node_out,
						CUgraph graph,
						const CUgraphNode *needs,
						size_t count, void *params);
typedef CUresult(CUDAAPI *cuda_add_node_v12030)(CUgraphNode *node_out,
						CUgraph graph,
						const CUgraphNode *needs,
						const void *edges, size_t count,
						void *params);
typedef CUresult(CUDAAPI *cuda_instantiate_v12000)(CUgraphExec *exec_out,
						   CUgraph graph, void *params);

/* Who does not see all of these cannot know what is safe: which streams there
 * are, which are captured, what lives, and whose addresses are known. */
#define CUDA_DECISIVE_HOOKS(X)                                                 \
	X(cuCtxCreate, PFN_cuCtxCreate_v3020)                                  \
	X(cuCtxCreate_v2, PFN_cuCtxCreate_v3020)                               \
	X(cuCtxCreate_v3, PFN_cuCtxCreate_v11040)                              \
	X(cuCtxCreate_v4, cuda_context_create_v12050)                          \
	X(cuGreenCtxCreate, cuda_green_create_v12040)                          \
	X(cuCtxDestroy, PFN_cuCtxDestroy_v4000)                                \
	X(cuCtxDestroy_v2, PFN_cuCtxDestroy_v4000)                             \
	X(cuCtxDetach, PFN_cuCtxDetach_v2000)                                  \
	X(cuDevicePrimaryCtxRetain, PFN_cuDevicePrimaryCtxRetain_v7000)        \
	X(cuDevicePrimaryCtxRelease, PFN_cuDevicePrimaryCtxRelease_v11000)     \
	X(cuDevicePrimaryCtxRelease_v2, PFN_cuDevicePrimaryCtxRelease_v11000)  \
	X(cuDevicePrimaryCtxReset, PFN_cuDevicePrimaryCtxReset_v11000)         \
	X(cuDevicePrimaryCtxReset_v2, PFN_cuDevicePrimaryCtxReset_v11000)      \
	X(cuStreamCreate, PFN_cuStreamCreate_v2000)                            \
	X(cuStreamCreateWithPriority, PFN_cuStreamCreateWithPriority_v5050)    \
	X(cuStreamDestroy, PFN_cuStreamDestroy_v4000)                          \
	X(cuStreamDestroy_v2, PFN_cuStreamDestroy_v4000)                       \
	X(cuStreamBeginCapture, cuda_begin_v10000)                             \
	X(cuStreamBeginCapture_ptsz, cuda_begin_v10000)                        \
	X(cuStreamBeginCapture_v2, PFN_cuStreamBeginCapture_v10010)            \
	X(cuStreamBeginCapture_v2_ptsz, PFN_cuStreamBeginCapture_v10010)       \
	X(cuStreamBeginCaptureToGraph, cuda_begin_to_graph_v12030)             \
	X(cuStreamBeginCaptureToGraph_ptsz, cuda_begin_to_graph_v12030)        \
	X(cuStreamBeginRecaptureToGraph, cuda_begin_again_v13030)              \
	X(cuStreamBeginRecaptureToGraph_ptsz, cuda_begin_again_v13030)         \
	X(cuStreamBeginCaptureToCig, cuda_begin_to_graphics_v13010)            \
	X(cuStreamBeginCaptureToCig_ptsz, cuda_begin_to_graphics_v13010)       \
	X(cuIpcGetMemHandle, PFN_cuIpcGetMemHandle_v4010)                      \
	X(cuMemGetHandleForAddressRange, cuda_range_handle_v11070)             \
	X(cuMulticastBindAddr, cuda_multicast_bind_v12010)                     \
	X(cuMulticastBindAddr_v2, cuda_multicast_bind_v13010)                  \
	X(cuLogicalEndpointBindAddr, cuda_endpoint_bind_v13030)                \
	X(cuPointerSetAttribute, PFN_cuPointerSetAttribute_v6000)

#define CUDA_HOOKS(X)                                                          \
	CUDA_DECISIVE_HOOKS(X)                                                 \
	X(cuGetProcAddress, PFN_cuGetProcAddress_v11030)                       \
	X(cuGetProcAddress_v2, cuda_get_proc_v12000)                           \
	X(cuDeviceTotalMem_v2, PFN_cuDeviceTotalMem_v3020)                     \
	X(cuMemGetInfo, cuda_info_v2000)                                       \
	X(cuMemGetInfo_v2, PFN_cuMemGetInfo_v3020)                             \
	X(cuMemGetAddressRange_v2, PFN_cuMemGetAddressRange_v3020)             \
	X(cuPointerGetAttribute, PFN_cuPointerGetAttribute_v4000)              \
	X(cuPointerGetAttributes, PFN_cuPointerGetAttributes_v7000)            \
	X(cuMemAlloc_v2, PFN_cuMemAlloc_v3020)                                 \
	X(cuMemAllocPitch_v2, PFN_cuMemAllocPitch_v3020)                       \
	X(cuMemAllocManaged, PFN_cuMemAllocManaged_v6000)                      \
	X(cuMemFree_v2, PFN_cuMemFree_v3020)                                   \
	X(cuMemCreate, PFN_cuMemCreate_v10020)                                 \
	X(cuMemRelease, PFN_cuMemRelease_v10020)                               \
	X(cuMemMap, PFN_cuMemMap_v10020)                                       \
	X(cuMemUnmap, PFN_cuMemUnmap_v10020)                                   \
	X(cuMemRetainAllocationHandle, cuda_retain_v11000)                     \
	X(cuMemAllocHost_v2, PFN_cuMemAllocHost_v3020)                         \
	X(cuMemHostAlloc, PFN_cuMemHostAlloc_v2020)                            \
	X(cuMemFreeHost, PFN_cuMemFreeHost_v2000)                              \
	X(cuMemHostRegister_v2, PFN_cuMemHostRegister_v6050)                   \
	X(cuMemHostUnregister, PFN_cuMemHostUnregister_v4000)                  \
	X(cuMemAllocAsync, PFN_cuMemAllocAsync_v11020)                         \
	X(cuMemAllocAsync_ptsz, PFN_cuMemAllocAsync_v11020_ptsz)               \
	X(cuMemAllocFromPoolAsync, PFN_cuMemAllocFromPoolAsync_v11020)         \
	X(cuMemAllocFromPoolAsync_ptsz,                                        \
	  PFN_cuMemAllocFromPoolAsync_v11020_ptsz)                             \
	X(cuMemFreeAsync, PFN_cuMemFreeAsync_v11020)                           \
	X(cuMemFreeAsync_ptsz, PFN_cuMemFreeAsync_v11020_ptsz)                 \
	X(cuMemPoolCreate, PFN_cuMemPoolCreate_v11020)                         \
	X(cuMemPoolDestroy, PFN_cuMemPoolDestroy_v11020)                       \
	X(cuMemPoolTrimTo, PFN_cuMemPoolTrimTo_v11020)                         \
	X(cuMemPoolSetAttribute, PFN_cuMemPoolSetAttribute_v11020)             \
	X(cuMemPoolGetAttribute, PFN_cuMemPoolGetAttribute_v11020)             \
	X(cuMemPoolSetAccess, PFN_cuMemPoolSetAccess_v11020)                   \
	X(cuArrayCreate_v2, PFN_cuArrayCreate_v3020)                           \
	X(cuArray3DCreate_v2, PFN_cuArray3DCreate_v3020)                       \
	X(cuArrayDestroy, PFN_cuArrayDestroy_v2000)                            \
	X(cuMipmappedArrayCreate, PFN_cuMipmappedArrayCreate_v5000)            \
	X(cuMipmappedArrayDestroy, PFN_cuMipmappedArrayDestroy_v5000)          \
	X(cuGraphAddMemAllocNode, PFN_cuGraphAddMemAllocNode_v11040)           \
	X(cuGraphAddNode, cuda_add_node_v12020)                                \
	X(cuGraphAddNode_v2, cuda_add_node_v12030)                             \
	X(cuGraphAddNode_v3, cuda_add_node_v12030)                             \
	X(cuGraphInstantiateWithParams, cuda_instantiate_v12000)               \
	X(cuGraphInstantiateWithParams_ptsz, cuda_instantiate_v12000)          \
	X(cuGraphUpload, PFN_cuGraphUpload_v11010)                             \
	X(cuGraphUpload_ptsz, PFN_cuGraphUpload_v11010_ptsz)                   \
	X(cuGraphLaunch, PFN_cuGraphLaunch_v10000)                             \
	X(cuGraphLaunch_ptsz, PFN_cuGraphLaunch_v10000_ptsz)                   \
	X(cuDeviceGraphMemTrim, PFN_cuDeviceGraphMemTrim_v11040)

#define CUDA_CALLS(X)                                                          \
	X(cuCtxGetCurrent, PFN_cuCtxGetCurrent_v4000)                          \
	X(cuCtxGetDevice, PFN_cuCtxGetDevice_v2000)                            \
	X(cuCtxPushCurrent_v2, PFN_cuCtxPushCurrent_v4000)                     \
	X(cuCtxPopCurrent_v2, PFN_cuCtxPopCurrent_v4000)                       \
	X(cuCtxSynchronize, PFN_cuCtxSynchronize_v2000)                        \
	X(cuDeviceGetDefaultMemPool, PFN_cuDeviceGetDefaultMemPool_v11020)     \
	X(cuDeviceGetMemPool, PFN_cuDeviceGetMemPool_v11020)                   \
	X(cuDeviceGetGraphMemAttribute,                                        \
	  PFN_cuDeviceGetGraphMemAttribute_v11040)                             \
	X(cuDevicePrimaryCtxGetState, PFN_cuDevicePrimaryCtxGetState_v7000)    \
	X(cuEventCreate, PFN_cuEventCreate_v2000)                              \
	X(cuEventDestroy_v2, PFN_cuEventDestroy_v4000)                         \
	X(cuEventQuery, PFN_cuEventQuery_v2000)                                \
	X(cuEventRecord, PFN_cuEventRecord_v2000)                              \
	X(cuStreamGetCtx, PFN_cuStreamGetCtx_v9020)                            \
	X(cuStreamIsCapturing, PFN_cuStreamIsCapturing_v10000)                 \
	X(cuThreadExchangeStreamCaptureMode,                                   \
	  PFN_cuThreadExchangeStreamCaptureMode_v10010)

enum cuda_hook {
#define CUDA_HOOK(name, type) HOOK_##name,
	CUDA_HOOKS(CUDA_HOOK) CUDA_CALLS(CUDA_HOOK)
#undef CUDA_HOOK
		CUDA_HOOK_COUNT
};

enum {
#define CUDA_HOOK(name, type) +1
	CUDA_DECISIVE_COUNT = 0 CUDA_DECISIVE_HOOKS(CUDA_HOOK),
	CUDA_WRAPPED_COUNT = 0 CUDA_HOOKS(CUDA_HOOK)
#undef CUDA_HOOK
};

/* wrap_NAME is exported as NAME. cuda.h's prototypes of other ABIs do not get
 * in the way so. */
#define CUDA_HOOK(name, type)                                                  \
	extern __attribute__((visibility("default"))) __typeof__(*(            \
		type)NULL) wrap_##name __asm__(#name);
CUDA_HOOKS(CUDA_HOOK)
#undef CUDA_HOOK

#define CUDA_HOOK(name, type) typedef type real_##name;
CUDA_HOOKS(CUDA_HOOK)
CUDA_CALLS(CUDA_HOOK)
#undef CUDA_HOOK

/* The driver's own function, or one that says CUDA_ERROR_NOT_FOUND. */
#define REAL(name) ((real_##name)hook_real(&cuda_hooks, HOOK_##name))

#endif
