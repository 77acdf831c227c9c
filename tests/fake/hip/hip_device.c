/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Devices: which there are, what they say of themselves, the thread's current
 * one, and its context. NVIDIA's driver has the same ordinals.
 */
#include "hip_fake.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* From 5.7 on; the header of 5.2 has no name for it. */
#define ATTRIBUTE_VIRTUAL_MEMORY 89

_Thread_local int hip_device;

bool hip_device_good(int device)
{
	return device >= 0 && device < hip.device_count;
}

hipError_t hip_context_of(int device, CUcontext *context_out)
{
	CUresult result = CUDA_SUCCESS;

	if (!hip_device_good(device))
		return hipErrorInvalidDevice;
	fake_lock();
	if (!hip.contexts[device])
		result = cu.cuDevicePrimaryCtxRetain(&hip.contexts[device],
						     device);
	*context_out = hip.contexts[device];
	fake_unlock();
	return hip_error_of(result);
}

/* Later releases have another name for the null stream, CUDA's. */
static bool of_every_device(hipStream_t stream)
{
	return !stream || stream == hipStreamPerThread ||
	       (FAKEHIP_MAJOR >= 6 && stream == (hipStream_t)1);
}

/* One whose capture is spoilt does not
 * tell its context (seen); the call itself says what is wrong. */
static hipError_t context_of_stream(hipStream_t stream, CUcontext *context_out)
{
	CUresult result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;

	if (!of_every_device(stream))
		result = cu.cuStreamGetCtx((CUstream)stream, context_out);
	switch ((int)result) {
	case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
		return hip_context_of(hip_device, context_out);
	case CUDA_ERROR_INVALID_HANDLE: /* as HIP says of a stream */
		return hipErrorContextIsDestroyed;
	default:
		return hip_error_of(result);
	}
}

hipError_t hip_context_push(hipStream_t stream)
{
	CUcontext context;
	hipError_t error = context_of_stream(stream, &context);

	if (error != hipSuccess)
		return error;
	return hip_error_of(cu.cuCtxPushCurrent_v2(context));
}

void hip_context_pop(void)
{
	CUcontext context;

	(void)cu.cuCtxPopCurrent_v2(&context);
}

static hipError_t version(int *version_out)
{
	if (!version_out)
		return hipErrorInvalidValue;
	*version_out = hip.version;
	return hipSuccess;
}

static hipError_t get(int *device_out, int device)
{
	if (!device_out)
		return hipErrorInvalidValue;
	if (!hip_device_good(device))
		return hipErrorInvalidDevice;
	*device_out = device;
	return hipSuccess;
}

static hipError_t set(int device)
{
	if (!hip_device_good(device))
		return hipErrorInvalidDevice;
	hip_device = device;
	return hipSuccess;
}

static hipError_t name(char *name_out, int length, int device)
{
	if (!name_out || length <= 0)
		return hipErrorInvalidValue;
	return hip_error_of(cu.cuDeviceGetName(name_out, length, device));
}

/* AMD writes it in small letters. */
static hipError_t pci(char *name_out, int length, int device)
{
	hipError_t error;

	if (!name_out || length <= 0)
		return hipErrorInvalidValue;
	error = hip_error_of(cu.cuDeviceGetPCIBusId(name_out, length, device));
	if (error != hipSuccess)
		return error;
	for (char *at = name_out; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return hipSuccess;
}

/* AMD's are 8 bytes, written as 16 hexadecimal digits. */
static hipError_t uuid(hipUUID *uuid_out, int device)
{
	char text[sizeof(uuid_out->bytes) + 1];
	CUuuid theirs;
	hipError_t error;

	if (!uuid_out)
		return hipErrorInvalidValue;
	error = hip_error_of(cu.cuDeviceGetUuid(&theirs, device));
	if (error != hipSuccess)
		return error;
	for (int i = 0; i < 8; i++)
		snprintf(&text[2 * i], 3, "%02x",
			 (theirs.bytes[i] ^ theirs.bytes[i + 8]) & 0xff);
	memcpy(uuid_out->bytes, text, sizeof(uuid_out->bytes));
	return hipSuccess;
}

/* 0: none that means the same. */
static CUdevice_attribute attribute(int which)
{
	switch (which) {
	case hipDeviceAttributeManagedMemory:
		return CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY;
	case hipDeviceAttributeConcurrentManagedAccess:
		return CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
	case hipDeviceAttributePageableMemoryAccess:
		return CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS;
	case hipDeviceAttributeIntegrated:
		return CU_DEVICE_ATTRIBUTE_INTEGRATED;
	case hipDeviceAttributeUnifiedAddressing:
		return CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING;
	case hipDeviceAttributeCanMapHostMemory:
		return CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY;
	case hipDeviceAttributeTextureAlignment:
		return CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT;
	case hipDeviceAttributeMultiprocessorCount:
		return CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
	case hipDeviceAttributeComputeCapabilityMajor:
		return CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
	case hipDeviceAttributeComputeCapabilityMinor:
		return CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR;
	case hipDeviceAttributePciDomainID:
		return CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID;
	case hipDeviceAttributePciBusId:
		return CU_DEVICE_ATTRIBUTE_PCI_BUS_ID;
	case hipDeviceAttributePciDeviceId:
		return CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID;
	case ATTRIBUTE_VIRTUAL_MEMORY:
		return CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
	default:
		return 0;
	}
}

static hipError_t get_attribute(int *value_out, int which, int device)
{
	if (!value_out)
		return hipErrorInvalidValue;
	if (!hip_device_good(device))
		return hipErrorInvalidDevice;
	if (which == ATTRIBUTE_VIRTUAL_MEMORY && !hip.vm && FAKEHIP_MAJOR == 5)
		return hipErrorInvalidValue; /* 5.2 has none of that number */
	if (which == hipDeviceAttributeMemoryPoolsSupported ||
	    (which == ATTRIBUTE_VIRTUAL_MEMORY && !hip.vm)) {
		*value_out = which == hipDeviceAttributeMemoryPoolsSupported;
		return hipSuccess;
	}
	if (!attribute(which))
		return hipErrorInvalidValue;
	return hip_error_of(
		cu.cuDeviceGetAttribute(value_out, attribute(which), device));
}

hipError_t hipInit(unsigned flags)
{
	HIP_CALL(hipInit, flags ? hipErrorInvalidValue : hipSuccess);
}

hipError_t hipDriverGetVersion(int *version_out)
{
	HIP_CALL(hipDriverGetVersion, version(version_out));
}

hipError_t hipRuntimeGetVersion(int *version_out)
{
	HIP_CALL(hipRuntimeGetVersion, version(version_out));
}

static hipError_t count(int *count_out)
{
	if (!count_out)
		return hipErrorInvalidValue;
	*count_out = hip.device_count;
	return hipSuccess;
}

/* The only one that also answers with an error. */
hipError_t hipGetDeviceCount(int *count_out)
{
	hipError_t error = hip_enter(HIP_hipGetDeviceCount);

	if (error == hipErrorNoDevice && count_out)
		*count_out = 0;
	if (error == hipSuccess)
		error = count(count_out);
	return hip_leave(error);
}

hipError_t hipGetDevice(int *device_out)
{
	HIP_CALL(hipGetDevice, get(device_out, hip_device));
}

hipError_t hipSetDevice(int device)
{
	HIP_CALL(hipSetDevice, set(device));
}

hipError_t hipDeviceGet(hipDevice_t *device_out, int ordinal)
{
	HIP_CALL(hipDeviceGet, get(device_out, ordinal));
}

hipError_t hipDeviceGetName(char *name_out, int length, hipDevice_t device)
{
	HIP_CALL(hipDeviceGetName, name(name_out, length, device));
}

hipError_t hipDeviceTotalMem(size_t *bytes_out, hipDevice_t device)
{
	HIP_CALL(hipDeviceTotalMem,
		 hip_error_of(cu.cuDeviceTotalMem_v2(bytes_out, device)));
}

hipError_t hipDeviceGetAttribute(int *value_out, hipDeviceAttribute_t which,
				 int device)
{
	HIP_CALL(hipDeviceGetAttribute,
		 get_attribute(value_out, (int)which, device));
}

hipError_t hipDeviceGetPCIBusId(char *name_out, int length, int device)
{
	HIP_CALL(hipDeviceGetPCIBusId, pci(name_out, length, device));
}

hipError_t hipDeviceGetStreamPriorityRange(int *least_out, int *greatest_out)
{
	HIP_CALL_ON(NULL, hipDeviceGetStreamPriorityRange,
		    hip_error_of(cu.cuCtxGetStreamPriorityRange(least_out,
								greatest_out)));
}

hipError_t hipDeviceGetUuid(hipUUID *uuid_out, hipDevice_t device)
{
	HIP_CALL(hipDeviceGetUuid, uuid(uuid_out, device));
}
