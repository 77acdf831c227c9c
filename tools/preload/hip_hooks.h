/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The functions of AMD's HIP runtime that are wrapped, and those that the
 * wrappers call besides, HIP_CALLS(X): X(name, type). One library serves ROCm
 * 5, 6 and 7: a type has nothing in it that has another layout in one of them.
 * Those of HIP_OLD_HOOKS(X) and HIP_OLD_CALLS(X) are in each header that
 * configure takes, and are compared with it.
 */
#ifndef GPUMEM_PRELOAD_HIP_HOOKS_H
#define GPUMEM_PRELOAD_HIP_HOOKS_H

#include "hooks.h"

#include <hip/hip_runtime_api.h>

/* Headers of ROCm 6 turn the plain name into that of its newest layout. */
#undef hipGetDeviceProperties

typedef hipError_t (*hip_none)(void);
typedef hipError_t (*hip_alloc)(void **address_out, size_t bytes);
typedef hipError_t (*hip_alloc_flags)(void **address_out, size_t bytes,
				      unsigned flags);
typedef hipError_t (*hip_alloc_pitch)(void **address_out, size_t *pitch_out,
				      size_t width, size_t height);
typedef hipError_t (*hip_alloc_element)(void **address_out, size_t *pitch_out,
					size_t width, size_t height,
					unsigned element);
typedef hipError_t (*hip_alloc_3d)(hipPitchedPtr *pitched_out,
				   hipExtent extent);
typedef hipError_t (*hip_alloc_async)(void **address_out, size_t bytes,
				      hipStream_t stream);
typedef hipError_t (*hip_alloc_pool)(void **address_out, size_t bytes,
				     void *pool, hipStream_t stream);
typedef hipError_t (*hip_free)(void *address);
typedef hipError_t (*hip_free_async)(void *address, hipStream_t stream);
typedef hipError_t (*hip_register)(void *address, size_t bytes, unsigned flags);
typedef hipError_t (*hip_info)(size_t *free_out, size_t *total_out);
typedef hipError_t (*hip_total)(size_t *bytes_out, hipDevice_t device);
typedef hipError_t (*hip_properties)(void *properties_out, int device);
typedef hipError_t (*hip_create)(hipMemGenericAllocationHandle_t *handle_out,
				 size_t bytes, const hipMemAllocationProp *prop,
				 unsigned long long flags);
typedef hipError_t (*hip_release)(hipMemGenericAllocationHandle_t handle);
typedef hipError_t (*hip_retain)(hipMemGenericAllocationHandle_t *handle_out,
				 void *address);
typedef hipError_t (*hip_map)(void *address, size_t bytes, size_t offset,
			      hipMemGenericAllocationHandle_t handle,
			      unsigned long long flags);
typedef hipError_t (*hip_unmap)(void *address, size_t bytes);
typedef hipError_t (*hip_array)(hipArray_t *out,
				const hipChannelFormatDesc *about, size_t width,
				size_t height, unsigned flags);
typedef hipError_t (*hip_array_3d)(hipArray_t *out,
				   const hipChannelFormatDesc *about,
				   hipExtent extent, unsigned flags);
typedef hipError_t (*hip_array_levels)(hipMipmappedArray_t *out,
				       const hipChannelFormatDesc *about,
				       hipExtent extent, unsigned levels,
				       unsigned flags);
typedef hipError_t (*hip_array_create)(hipArray_t *out,
				       const HIP_ARRAY_DESCRIPTOR *about);
typedef hipError_t (*hip_array_create_3d)(hipArray_t *out,
					  const HIP_ARRAY3D_DESCRIPTOR *about);
typedef hipError_t (*hip_array_create_levels)(hipMipmappedArray_t *out,
					      HIP_ARRAY3D_DESCRIPTOR *about,
					      unsigned levels);
typedef hipError_t (*hip_array_free)(hipArray_t array);
typedef hipError_t (*hip_array_free_levels)(hipMipmappedArray_t array);
typedef hipError_t (*hip_add_alloc)(hipGraphNode_t *node_out, hipGraph_t graph,
				    const hipGraphNode_t *needs, size_t count,
				    void *params);
typedef hipError_t (*hip_instantiate)(hipGraphExec_t *exec_out,
				      hipGraph_t graph, void *params);
typedef hipError_t (*hip_launch)(hipGraphExec_t exec, hipStream_t stream);
typedef hipError_t (*hip_trim)(int device);
typedef hipError_t (*hip_captures)(hipStream_t stream,
				   hipStreamCaptureStatus *status_out);
typedef hipError_t (*hip_graph_memory)(int device, int which, void *value_out);
typedef hipError_t (*hip_number)(int *number_out);
typedef hipError_t (*hip_get_proc)(const char *symbol, void **pfn, int version,
				   uint64_t flags, void *status);
typedef hipError_t (*hip_get_entry)(const char *symbol, void **pfn,
				    unsigned long long flags, void *status);

#define HIP_OLD_HOOKS(X)                                                       \
	X(hipDeviceReset, hip_none)                                            \
	X(hipDeviceTotalMem, hip_total)                                        \
	X(hipMemGetInfo, hip_info)                                             \
	X(hipMalloc, hip_alloc)                                                \
	X(hipExtMallocWithFlags, hip_alloc_flags)                              \
	X(hipMallocPitch, hip_alloc_pitch)                                     \
	X(hipMemAllocPitch, hip_alloc_element)                                 \
	X(hipMalloc3D, hip_alloc_3d)                                           \
	X(hipMallocManaged, hip_alloc_flags)                                   \
	X(hipFree, hip_free)                                                   \
	X(hipHostMalloc, hip_alloc_flags)                                      \
	X(hipHostAlloc, hip_alloc_flags)                                       \
	X(hipMallocHost, hip_alloc)                                            \
	X(hipMemAllocHost, hip_alloc)                                          \
	X(hipHostFree, hip_free)                                               \
	X(hipFreeHost, hip_free)                                               \
	X(hipHostRegister, hip_register)                                       \
	X(hipHostUnregister, hip_free)                                         \
	X(hipMemCreate, hip_create)                                            \
	X(hipMemRelease, hip_release)                                          \
	X(hipMemRetainAllocationHandle, hip_retain)                            \
	X(hipMemMap, hip_map)                                                  \
	X(hipMemUnmap, hip_unmap)                                              \
	X(hipMallocArray, hip_array)                                           \
	X(hipMalloc3DArray, hip_array_3d)                                      \
	X(hipMallocMipmappedArray, hip_array_levels)                           \
	X(hipArrayCreate, hip_array_create)                                    \
	X(hipArray3DCreate, hip_array_create_3d)                               \
	X(hipMipmappedArrayCreate, hip_array_create_levels)                    \
	X(hipFreeArray, hip_array_free)                                        \
	X(hipArrayDestroy, hip_array_free)                                     \
	X(hipFreeMipmappedArray, hip_array_free_levels)                        \
	X(hipMipmappedArrayDestroy, hip_array_free_levels)                     \
	X(hipGraphLaunch, hip_launch)

#define HIP_NEW_HOOKS(X)                                                       \
	X(hipGetProcAddress, hip_get_proc)                                     \
	X(hipGetProcAddress_spt, hip_get_proc)                                 \
	X(hipGetDriverEntryPoint, hip_get_entry)                               \
	X(hipGetDriverEntryPoint_spt, hip_get_entry)                           \
	X(hipGetDeviceProperties, hip_properties)                              \
	X(hipGetDevicePropertiesR0000, hip_properties)                         \
	X(hipGetDevicePropertiesR0600, hip_properties)                         \
	X(hipExtHostAlloc, hip_alloc_flags)                                    \
	X(hipMallocAsync, hip_alloc_async)                                     \
	X(hipMallocFromPoolAsync, hip_alloc_pool)                              \
	X(hipFreeAsync, hip_free_async)                                        \
	X(hipGraphAddMemAllocNode, hip_add_alloc)                              \
	X(hipGraphAddNode, hip_add_alloc)                                      \
	X(hipGraphInstantiateWithParams, hip_instantiate)                      \
	X(hipGraphUpload, hip_launch)                                          \
	X(hipGraphLaunch_spt, hip_launch)                                      \
	X(hipDeviceGraphMemTrim, hip_trim)

#define HIP_HOOKS(X)                                                           \
	HIP_OLD_HOOKS(X)                                                       \
	HIP_NEW_HOOKS(X)

#define HIP_OLD_CALLS(X)                                                       \
	X(hipGetDevice, hip_number)                                            \
	X(hipGetDeviceCount, hip_number)                                       \
	X(hipGetLastError, hip_none)                                           \
	X(hipRuntimeGetVersion, hip_number)                                    \
	X(hipStreamIsCapturing, hip_captures)

#define HIP_CALLS(X)                                                           \
	HIP_OLD_CALLS(X)                                                       \
	X(hipDeviceGetGraphMemAttribute, hip_graph_memory)

enum hip_hook {
#define HIP_HOOK(name, type) HOOK_##name,
	HIP_HOOKS(HIP_HOOK) HIP_CALLS(HIP_HOOK)
#undef HIP_HOOK
		HIP_HOOK_COUNT
};

enum {
#define HIP_HOOK(name, type) +1
	HIP_WRAPPED_COUNT = 0 HIP_HOOKS(HIP_HOOK)
#undef HIP_HOOK
};

/* wrap_NAME is exported as NAME. */
#define HIP_HOOK(name, type)                                                   \
	extern __attribute__((visibility("default"))) __typeof__(*(            \
		type)NULL) wrap_##name __asm__(#name);                         \
	typedef type real_##name;
HIP_HOOKS(HIP_HOOK)
#undef HIP_HOOK

#define HIP_HOOK(name, type) typedef type real_##name;
HIP_CALLS(HIP_HOOK)
#undef HIP_HOOK

/* The runtime's own function, or one that says hipErrorNotSupported. */
#define REAL(name) ((real_##name)hook_real(&hip_hooks, HOOK_##name))

#endif
