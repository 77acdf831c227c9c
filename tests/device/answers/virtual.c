/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Questions of handles of memory, and of addresses for them.
 */
#include "answers.h"

#include <unistd.h>

static CUmemAllocationProp device_prop(void)
{
	CUmemAllocationProp prop;

	memset(&prop, 0, sizeof(prop));
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	return prop;
}

static CUmemAccessDesc device_desc(void)
{
	CUmemAccessDesc desc;

	memset(&desc, 0, sizeof(desc));
	desc.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	return desc;
}

static void ask_granularity(void)
{
	CUmemAllocationProp prop = device_prop();
	uint64_t bytes = 0;

	ASK_FOR(cuMemGetAllocationGranularity(&bytes, &prop, 0), bytes);
	ASK_FOR(cuMemGetAllocationGranularity(&bytes, &prop, 1), bytes);
	ASK(cuMemGetAllocationGranularity(&bytes, &prop, 2));
	ASK(cuMemGetAllocationGranularity(NULL, &prop, 0));
	ASK(cuMemGetAllocationGranularity(&bytes, NULL, 0));
}

void ask_handles(void)
{
	CUmemAllocationProp prop = device_prop();
	CUmemGenericAllocationHandle handle = 0;
	int fd = -1;

	(void)start();
	ask_granularity();
	ASK(cuMemCreate(NULL, 2 * MIB, &prop, 0));
	ASK(cuMemCreate(&handle, 2 * MIB, NULL, 0));
	ASK(cuMemCreate(&handle, 0, &prop, 0));
	ASK(cuMemCreate(&handle, 4096, &prop, 0));
	ASK(cuMemCreate(&handle, 2 * MIB, &prop, 1));
	ASK(cuMemCreate(&handle, (size_t)1 << 60, &prop, 0));
	prop.location.id = 99;
	situation("of device 99");
	ASK(cuMemCreate(&handle, 2 * MIB, &prop, 0));
	prop = device_prop();
	prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
	situation("of no type");
	ASK(cuMemCreate(&handle, 2 * MIB, &prop, 0));
	prop = device_prop();
	situation("not for export");
	DO(cuMemCreate(&handle, 2 * MIB, &prop, 0));
	ASK(cuMemExportToShareableHandle(&fd, handle, 1, 0));
	ASK(cuMemRelease(handle));
	situation("for export");
	prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	DO(cuMemCreate(&handle, 2 * MIB, &prop, 0));
	ASK(cuMemExportToShareableHandle(NULL, handle, 1, 0));
	ASK(cuMemExportToShareableHandle(&fd, handle, 0, 0));
	ASK(cuMemExportToShareableHandle(&fd, handle, 1, 1));
	ASK(cuMemExportToShareableHandle(&fd, handle, 1, 0));
	DO(cuMemRelease(handle));
	ASK(cuMemImportFromShareableHandle(NULL, (void *)(intptr_t)fd, 1));
	ASK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd, 1));
	DO(cuMemRelease(handle));
	(void)close(fd);
}

static void ask_reserve(void)
{
	CUdeviceptr range = 0;

	ASK(cuMemAddressReserve(NULL, 2 * MIB, 0, 0, 0));
	ASK(cuMemAddressReserve(&range, 0, 0, 0, 0));
	ASK(cuMemAddressReserve(&range, 4096, 0, 0, 0));
	ASK(cuMemAddressReserve(&range, 2 * MIB, 3, 0, 0));
	ASK(cuMemAddressReserve(&range, 2 * MIB, 0, 0, 1));
	ASK(cuMemAddressFree(NOWHERE, 2 * MIB));
	DO(cuMemAddressReserve(&range, 4 * MIB, 4 * MIB, 0, 0));
	question("of 4 MiB it is a multiple");
	answer_bool(CUDA_SUCCESS, !(range & (4 * MIB - 1)));
	ASK(cuMemAddressFree(range, 2 * MIB));
	ASK(cuMemAddressFree(range + 2 * MIB, 2 * MIB));
	ASK(cuMemAddressFree(range, 4 * MIB));
}

static void ask_map(CUdeviceptr range, CUmemGenericAllocationHandle handle)
{
	CUmemAccessDesc desc = device_desc();

	ASK(cuMemMap(range, 2 * MIB, 0, handle, 1));
	ASK(cuMemMap(range, 2 * MIB, 2 * MIB, handle, 0));
	ASK(cuMemMap(range, 2 * MIB, 0, handle, 0));
	ASK(cuMemMap(range + 4096, 4 * MIB, 0, handle, 0));
	ASK(cuMemMap(NOWHERE, 4 * MIB, 0, handle, 0));
	ASK(cuMemSetAccess(range, 4 * MIB, &desc, 1));
	ASK(cuMemMap(range, 4 * MIB, 0, handle, 0));
	ASK(cuMemMap(range + 2 * MIB, 4 * MIB, 0, handle, 0));
	ASK(cuMemSetAccess(range, 4 * MIB, NULL, 1));
	ASK(cuMemSetAccess(range, 4 * MIB, &desc, 0));
	ASK(cuMemSetAccess(range, 2 * MIB, &desc, 1));
	ASK(cuMemSetAccess(range, 8 * MIB, &desc, 1));
	desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
	situation("read only");
	ASK(cuMemSetAccess(range, 4 * MIB, &desc, 1));
	desc = device_desc();
	desc.location.id = 99;
	situation("for device 99");
	ASK(cuMemSetAccess(range, 4 * MIB, &desc, 1));
	desc.location.id = 0;
	situation("");
	ASK(cuMemSetAccess(range, 4 * MIB, &desc, 1));
}

void ask_addresses(void)
{
	CUmemAllocationProp prop = device_prop();
	CUmemGenericAllocationHandle handle = 0, again = 0;
	CUdeviceptr range = 0;

	(void)start();
	ask_reserve();
	DO(cuMemCreate(&handle, 4 * MIB, &prop, 0));
	DO(cuMemAddressReserve(&range, 8 * MIB, 0, 0, 0));
	ask_map(range, handle);
	ASK(cuMemRetainAllocationHandle(NULL, (void *)(uintptr_t)range));
	ASK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)NOWHERE));
	ASK(cuMemRetainAllocationHandle(&again,
					(void *)(uintptr_t)(range + 4096)));
	question("that is the handle");
	answer_bool(CUDA_SUCCESS, again == handle);
	DO(cuMemRelease(again));
	ASK(cuMemFree(range));
	ASK(cuMemAddressFree(range, 8 * MIB));
	ASK(cuMemUnmap(range, 2 * MIB));
	ASK(cuMemUnmap(NOWHERE, 2 * MIB));
	situation("released");
	DO(cuMemRelease(handle));
	ASK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)range));
	ASK(cuMemRelease(again));
	ASK(cuMemUnmap(range, 4 * MIB));
	situation("unmapped");
	ASK(cuMemUnmap(range, 4 * MIB));
	ASK(cuMemAddressFree(range, 8 * MIB));
}
