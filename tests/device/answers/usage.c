/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Questions of what memory is to be used for: decompression by the device. The
 * numbers are those of cuda.h of CUDA 12.8.
 */
#include "answers.h"

enum { ALGORITHMS = 136, CAPABLE = 21, DECOMPRESS = 2 };

/* It is a boolean of more than one byte. */
static void ask_of(CUdeviceptr address)
{
	unsigned char data[16];
	CUresult result;
	int bytes;

	memset(data, 7, sizeof(data));
	question("whether it is capable");
	result = cuPointerGetAttribute(data, CAPABLE, address);
	answer_bool(result, data[0] != 0);
	for (bytes = sizeof(data); bytes && data[bytes - 1] == 7;)
		bytes--;
	question("in so many bytes");
	answer_value(result, &bytes);
}

static void ask_mapping(unsigned short use)
{
	CUmemAllocationProp prop;
	CUmemAccessDesc desc;
	CUmemGenericAllocationHandle handle = 0;
	CUdeviceptr range = 0;
	uint64_t bytes = 0;

	memset(&prop, 0, sizeof(prop));
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.allocFlags.usage = use;
	memset(&desc, 0, sizeof(desc));
	desc.location = prop.location;
	desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	ASK_FOR(cuMemGetAllocationGranularity(&bytes, &prop, 1), bytes);
	DO(cuMemAddressReserve(&range, 2 * MIB, 0, 0, 0));
	if (ASK(cuMemCreate(&handle, 2 * MIB, &prop, 0)))
		return;
	DO(cuMemMap(range, 2 * MIB, 0, handle, 0));
	DO(cuMemSetAccess(range, 2 * MIB, &desc, 1));
	ask_of(range);
	DO(cuMemUnmap(range, 2 * MIB));
	DO(cuMemRelease(handle));
}

static void ask_pool(unsigned short use, CUstream stream)
{
	CUmemPoolProps props;
	CUmemoryPool pool = NULL;
	CUdeviceptr block = 0;

	memset(&props, 0, sizeof(props));
	props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	memcpy((char *)(&props.win32SecurityAttributes + 1) + sizeof(uint64_t),
	       &use, sizeof(use));
	if (ASK(cuMemPoolCreate(&pool, &props)))
		return;
	DO(cuMemAllocFromPoolAsync(&block, MIB, pool, stream));
	ask_of(block);
	DO(cuMemFreeAsync(block, stream));
	DO(cuMemPoolDestroy(pool));
}

void ask_usage(void)
{
	CUdeviceptr block = 0;
	CUstream stream = NULL;
	int algorithms = 7;

	(void)start();
	ASK_FOR(cuDeviceGetAttribute(&algorithms, ALGORITHMS, 0), algorithms);
	DO(cuMemAlloc(&block, MIB));
	situation("of cuMemAlloc");
	ask_of(block);
	DO(cuMemFree(block));
	situation("of the default pool");
	DO(cuStreamCreate(&stream, 0));
	DO(cuMemAllocAsync(&block, MIB, stream));
	ask_of(block);
	DO(cuMemFreeAsync(block, stream));
	situation("of a pool");
	ask_pool(0, stream);
	situation("of a pool for decompression");
	ask_pool(DECOMPRESS, stream);
	situation("of a pool for something unknown");
	ask_pool(4, stream);
	situation("of a handle");
	ask_mapping(0);
	situation("of a handle for decompression");
	ask_mapping(DECOMPRESS);
}
