/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The functions of NVIDIA's driver that are wrapped, CUDA_HOOKS(X), and those
 * that the wrappers call besides, CUDA_CALLS(X): X(name, type). The names are
 * those that the driver exports, each one ABI: cuMemAlloc without _v2 has
 * 32-bit sizes and is none of these. `type` is NVIDIA's own of that ABI.
 */
#ifndef GPUMEM_PRELOAD_CUDA_HOOKS_H
#define GPUMEM_PRELOAD_CUDA_HOOKS_H

#include <cuda.h>
#include <cudaTypedefs.h>
#include <stdbool.h>

/* cuda.h turns the plain name into that of its newest ABI. */
#undef cuGetProcAddress

/* Headers before 12.0 do not have it. */
typedef CUresult(CUDAAPI *cuda_get_proc_v12000)(const char *symbol, void **pfn,
						int version, cuuint64_t flags,
						void *status);

#define CUDA_HOOKS(X)                                                          \
	X(cuGetProcAddress, PFN_cuGetProcAddress_v11030)                       \
	X(cuGetProcAddress_v2, cuda_get_proc_v12000)                           \
	X(cuCtxDestroy_v2, PFN_cuCtxDestroy_v4000)                             \
	X(cuDevicePrimaryCtxRetain, PFN_cuDevicePrimaryCtxRetain_v7000)        \
	X(cuDevicePrimaryCtxRelease_v2, PFN_cuDevicePrimaryCtxRelease_v11000)  \
	X(cuDevicePrimaryCtxReset_v2, PFN_cuDevicePrimaryCtxReset_v11000)      \
	X(cuMemAlloc_v2, PFN_cuMemAlloc_v3020)                                 \
	X(cuMemAllocPitch_v2, PFN_cuMemAllocPitch_v3020)                       \
	X(cuMemAllocManaged, PFN_cuMemAllocManaged_v6000)                      \
	X(cuMemFree_v2, PFN_cuMemFree_v3020)                                   \
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
	X(cuMemCreate, PFN_cuMemCreate_v10020)                                 \
	X(cuMemRelease, PFN_cuMemRelease_v10020)                               \
	X(cuMemMap, PFN_cuMemMap_v10020)                                       \
	X(cuMemUnmap, PFN_cuMemUnmap_v10020)

#define CUDA_CALLS(X)                                                          \
	X(cuCtxGetCurrent, PFN_cuCtxGetCurrent_v4000)                          \
	X(cuCtxGetDevice, PFN_cuCtxGetDevice_v2000)                            \
	X(cuDevicePrimaryCtxGetState, PFN_cuDevicePrimaryCtxGetState_v7000)

enum cuda_hook {
#define CUDA_HOOK(name, type) HOOK_##name,
	CUDA_HOOKS(CUDA_HOOK) CUDA_CALLS(CUDA_HOOK)
#undef CUDA_HOOK
		CUDA_HOOK_COUNT
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
#define REAL(name) ((real_##name)cuda_real(HOOK_##name))
void (*cuda_real(enum cuda_hook hook))(void);

/* Which hook has a wrapper of that exported name; -1: none. */
int cuda_hook_named(const char *name);
/* What a program is to get that looked up a hook's name and found this. */
void *cuda_hook_swap(int hook, void *found);
/* The same of what cuGetProcAddress() found for a name without suffix. */
void *cuda_hook_swap_base(const char *symbol, void *found);
/* Whether an address lies in the driver. */
bool cuda_hook_is_driver(const void *address);

#endif
