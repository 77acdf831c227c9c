/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What gpumem uses of OpenCL's extensions: see cl.h.
 */
#ifndef GPUMEM_VENDOR_OPENCL_CL_EXT_H
#define GPUMEM_VENDOR_OPENCL_CL_EXT_H

#include <CL/cl.h>

/* cl_khr_icd */
#define CL_PLATFORM_NOT_FOUND_KHR (-1001)

/* cl_khr_device_uuid */
#define CL_DEVICE_UUID_KHR 0x106a
#define CL_UUID_SIZE_KHR 16

/* cl_khr_pci_bus_info */
#define CL_DEVICE_PCI_BUS_INFO_KHR 0x410f

typedef struct _cl_device_pci_bus_info_khr {
	cl_uint pci_domain;
	cl_uint pci_bus;
	cl_uint pci_device;
	cl_uint pci_function;
} cl_device_pci_bus_info_khr;

/* cl_amd_device_attribute_query */
#define CL_DEVICE_TOPOLOGY_AMD 0x4037
#define CL_DEVICE_GLOBAL_FREE_MEMORY_AMD 0x4039

/* cl_intel_unified_shared_memory */
#define CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL 0x4191
#define CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL (1 << 0)

typedef cl_bitfield cl_mem_properties_intel;

typedef void *(CL_API_CALL *clDeviceMemAllocINTEL_fn)(
	cl_context context, cl_device_id device,
	const cl_mem_properties_intel *properties, size_t bytes,
	cl_uint alignment, cl_int *result);
typedef cl_int(CL_API_CALL *clMemFreeINTEL_fn)(cl_context context,
					       void *address);
typedef cl_int(CL_API_CALL *clEnqueueMemFillINTEL_fn)(
	cl_command_queue queue, void *to, const void *pattern, size_t each,
	size_t bytes, cl_uint count, const cl_event *events, cl_event *event);
typedef cl_int(CL_API_CALL *clEnqueueMemcpyINTEL_fn)(
	cl_command_queue queue, cl_bool wait, void *to, const void *from,
	size_t bytes, cl_uint count, const cl_event *events, cl_event *event);

#endif
