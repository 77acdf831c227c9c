/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Starting the driver, and what can be asked about a device without a context.
 */
#include "cuda_fake.h"

#include <stdio.h>

/* As many as CUDA 13.0 has, and one. */
#define ATTRIBUTE_END 148

bool fake_device_good(CUdevice device)
{
	return device >= 0 && device < fake.device_count;
}

static CUresult init(unsigned flags)
{
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (fake.init_result)
		return (CUresult)fake.init_result;
	if (fake.forked)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!fake.device_count)
		return CUDA_ERROR_NO_DEVICE;
	fake.initialised = true;
	return CUDA_SUCCESS;
}

static CUresult version(int *version_out)
{
	if (!version_out)
		return CUDA_ERROR_INVALID_VALUE;
	*version_out = fake.version;
	return CUDA_SUCCESS;
}

static CUresult count(int *count_out)
{
	if (!count_out)
		return CUDA_ERROR_INVALID_VALUE;
	*count_out = fake.device_count;
	return CUDA_SUCCESS;
}

static CUresult get(CUdevice *device_out, int ordinal)
{
	if (!device_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!fake_device_good(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*device_out = ordinal;
	return CUDA_SUCCESS;
}

static CUresult text_of(char *text_out, int length, CUdevice device,
			const char *format)
{
	if (!text_out || length <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!fake_device_good(device))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(text_out, (size_t)length, format, 0x41 + device);
	return CUDA_SUCCESS;
}

static CUresult total(size_t *bytes_out, CUdevice device)
{
	if (!bytes_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!fake_device_good(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*bytes_out = fake.capacity_bytes;
	return CUDA_SUCCESS;
}

static CUresult uuid(CUuuid *uuid_out, CUdevice device)
{
	if (!uuid_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!fake_device_good(device))
		return CUDA_ERROR_INVALID_DEVICE;
	memcpy(uuid_out->bytes, "fake libcuda \xca\xfe", sizeof(CUuuid));
	uuid_out->bytes[15] = (char)(0x41 + device);
	return CUDA_SUCCESS;
}

/* CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID and _MEM_DECOMPRESS_ALGORITHM_MASK, which
 * older headers do not have. */
enum { HOST_NUMA_ID = 134, DECOMPRESS_ALGORITHMS = 136 };

static int attribute(CUdevice_attribute which, CUdevice device)
{
	if ((int)which == HOST_NUMA_ID)
		return fake.host_node;
	if ((int)which == DECOMPRESS_ALGORITHMS)
		return fake.decompresses;
	switch (which) {
	case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
		return fake.vmm;
	case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
	case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
	case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
	case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
	case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
	case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
		return 1;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		return 9;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		return 132;
	case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
		return 512;
	case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
		return 0x41 + device;
	default:
		return 0;
	}
}

static CUresult get_attribute(int *value_out, CUdevice_attribute which,
			      CUdevice device)
{
	if (!value_out || (int)which < 1 || (int)which >= ATTRIBUTE_END)
		return CUDA_ERROR_INVALID_VALUE;
	if (!fake_device_good(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*value_out = attribute(which, device);
	return CUDA_SUCCESS;
}

static CUresult can_access(int *yes_out, CUdevice device, CUdevice peer)
{
	if (!yes_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!fake_device_good(device) || !fake_device_good(peer))
		return CUDA_ERROR_INVALID_DEVICE;
	*yes_out = fake.peers && device != peer;
	return CUDA_SUCCESS;
}

CUresult cuInit(unsigned flags)
{
	FAKE_CALL(cuInit, init(flags));
}

CUresult cuDriverGetVersion(int *version_out)
{
	FAKE_CALL(cuDriverGetVersion, version(version_out));
}

CUresult cuDeviceGetCount(int *count_out)
{
	FAKE_CALL(cuDeviceGetCount, count(count_out));
}

CUresult cuDeviceGet(CUdevice *device_out, int ordinal)
{
	FAKE_CALL(cuDeviceGet, get(device_out, ordinal));
}

CUresult cuDeviceGetName(char *name_out, int length, CUdevice device)
{
	FAKE_CALL(cuDeviceGetName,
		  text_of(name_out, length, device, "fake NVIDIA device %02X"));
}

CUresult cuDeviceGetPCIBusId(char *name_out, int length, CUdevice device)
{
	FAKE_CALL(
		cuDeviceGetPCIBusId,
		length < (int)sizeof("0000:00:00.0")
			? CUDA_ERROR_INVALID_VALUE
			: text_of(name_out, length, device, "0000:%02X:00.0"));
}

CUresult cuDeviceTotalMem_v2(size_t *bytes_out, CUdevice device)
{
	FAKE_CALL(cuDeviceTotalMem_v2, total(bytes_out, device));
}

CUresult cuDeviceGetUuid(CUuuid *uuid_out, CUdevice device)
{
	FAKE_CALL(cuDeviceGetUuid, uuid(uuid_out, device));
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid_out, CUdevice device)
{
	FAKE_CALL(cuDeviceGetUuid_v2, uuid(uuid_out, device));
}

CUresult cuDeviceGetAttribute(int *value_out, CUdevice_attribute which,
			      CUdevice device)
{
	FAKE_CALL(cuDeviceGetAttribute,
		  get_attribute(value_out, which, device));
}

CUresult cuDeviceCanAccessPeer(int *yes_out, CUdevice device, CUdevice peer)
{
	FAKE_CALL(cuDeviceCanAccessPeer, can_access(yes_out, device, peer));
}
