/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Questions of memory that is allocated at once, and of addresses.
 */
#include "answers.h"

#include <stdlib.h>

void ask_memory(void)
{
	CUdeviceptr block = 0, other = 0;
	size_t free_bytes = 0, total = 0;
	uint64_t bytes = 0;

	(void)start();
	ASK(cuMemGetInfo(&free_bytes, &total));
	ASK(cuMemGetInfo(&free_bytes, NULL));
	ASK(cuMemGetInfo(NULL, &total));
	ASK(cuMemGetInfo(NULL, NULL));
	question("one number alone is the same as with the other");
	(void)cuMemGetInfo(NULL, &free_bytes);
	answer_bool(CUDA_SUCCESS, free_bytes == total && total);
	ASK(cuMemAlloc(NULL, 1));
	ASK(cuMemAlloc(&block, 0));
	ASK(cuMemAlloc(&block, SIZE_MAX));
	ASK(cuMemAlloc(&block, (size_t)1 << 62));
	ASK_FOR(cuMemAlloc(&block, 3), block);
	ASK(cuMemGetAddressRange(NULL, NULL, block));
	ASK_FOR(cuMemGetAddressRange(&other, &bytes, block + 1), bytes);
	ASK(cuMemGetAddressRange(&other, &bytes, NOWHERE));
	ASK(cuMemGetAddressRange(&other, &bytes, 0));
	ASK(cuMemFree(block + 1));
	ASK(cuMemFree(NOWHERE));
	ASK(cuMemFree(0));
	ASK(cuMemFree(block));
	situation("freed");
	ASK(cuMemFree(block));
	ASK(cuMemGetAddressRange(&other, &bytes, block));
	situation("managed");
	ASK(cuMemAllocManaged(NULL, 1, CU_MEM_ATTACH_GLOBAL));
	ASK(cuMemAllocManaged(&block, 0, CU_MEM_ATTACH_GLOBAL));
	ASK(cuMemAllocManaged(&block, 1, 0));
	ASK(cuMemAllocManaged(&block, 1, 3));
	ASK(cuMemAllocManaged(&block, 1, CU_MEM_ATTACH_SINGLE));
	DO(cuMemAllocManaged(&block, 4096, CU_MEM_ATTACH_GLOBAL));
	ASK(cuMemFreeAsync(block, NULL));
}

static void ask_rows(void)
{
	CUdeviceptr block = 0;
	uint64_t pitch = 0;

	situation("rows");
	ASK(cuMemAllocPitch(&block, NULL, 100, 2, 4));
	ASK(cuMemAllocPitch(NULL, &pitch, 100, 2, 4));
	ASK(cuMemAllocPitch(&block, &pitch, 0, 2, 4));
	ASK(cuMemAllocPitch(&block, &pitch, 100, 0, 4));
	ASK(cuMemAllocPitch(&block, &pitch, 100, 2, 0));
	ASK(cuMemAllocPitch(&block, &pitch, 100, 2, 3));
	ASK(cuMemAllocPitch(&block, &pitch, 100, 2, 32));
	ASK(cuMemAllocPitch(&block, &pitch, 100, 2, 4));
	question("a row has 512 bytes");
	answer_bool(CUDA_SUCCESS, pitch == 512);
	DO(cuMemFree(block));
}

void ask_pinned(void)
{
	static char ours[1 << 16] __attribute__((aligned(4096)));
	CUdeviceptr block = 0;
	void *memory = ours;

	(void)start();
	ask_rows();
	situation("");
	ASK(cuMemHostAlloc(NULL, 4096, 0));
	ASK_FOR(cuMemHostAlloc(&memory, 0, 0), memory);
	ASK(cuMemHostAlloc(&memory, 4096, 8));
	ASK(cuMemHostAlloc(&memory, 4096, 64));
	ASK(cuMemAllocHost(NULL, 4096));
	ASK_FOR(cuMemAllocHost(&memory, 4096), memory);
	ASK(cuMemFreeHost((char *)memory + 1));
	ASK(cuMemFree((CUdeviceptr)(uintptr_t)memory));
	ASK(cuMemHostUnregister(memory));
	ASK(cuMemHostRegister(memory, 4096, 0));
	ASK(cuMemFreeHost(memory));
	ASK(cuMemFreeHost(NULL));
	ASK(cuMemFreeHost(ours));
	DO(cuMemAlloc(&block, 4096));
	ASK(cuMemFreeHost((void *)(uintptr_t)block));
	ASK(cuMemFree(block));
	situation("registered");
	ASK(cuMemHostUnregister(ours));
	ASK(cuMemHostUnregister(NULL));
	ASK(cuMemHostRegister(NULL, 4096, 0));
	ASK(cuMemHostRegister(ours, 0, 0));
	ASK(cuMemHostRegister(ours, 4096, 64));
	ASK(cuMemHostRegister(ours, 8192, 0));
	ASK(cuMemHostRegister(ours, 8192, 0));
	ASK(cuMemHostRegister(ours + 4096, 8192, 0));
	ASK(cuMemHostUnregister(ours + 4096));
	ASK(cuMemFreeHost(ours));
	ASK(cuMemHostUnregister(ours));
}

static void ask_attributes(CUdeviceptr address)
{
	CUdeviceptr start_address = 0;
	unsigned number = 0;
	uint64_t bytes = 0;
	int ordinal = -9;
	void *pointer = NULL;
	int yes = 7; /* the driver writes all of it */

	ASK_FOR(cuPointerGetAttribute(&pointer, 1, address), pointer);
	ASK_FOR(cuPointerGetAttribute(&number, 2, address), number);
	ASK_FOR(cuPointerGetAttribute(&pointer, 3, address), pointer);
	ASK_FOR(cuPointerGetAttribute(&pointer, 4, address), pointer);
	ASK_YES(cuPointerGetAttribute(&yes, 8, address), yes);
	ASK_FOR(cuPointerGetAttribute(&ordinal, 9, address), ordinal);
	ASK_YES(cuPointerGetAttribute(&yes, 10, address), yes);
	ASK_FOR(cuPointerGetAttribute(&start_address, 11, address),
		start_address);
	ASK_FOR(cuPointerGetAttribute(&bytes, 12, address), bytes);
	ASK_YES(cuPointerGetAttribute(&yes, 13, address), yes);
	ASK_FOR(cuPointerGetAttribute(&bytes, 14, address), bytes);
}

static void ask_several(CUdeviceptr address)
{
	CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
				       CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
	int type = -9, ordinal = -9;
	void *places[] = {&type, &ordinal};

	ASK_FOR(cuPointerGetAttributes(2, which, places, address), type);
	ASK_FOR(cuPointerGetAttributes(2, which, places, address), ordinal);
}

void ask_pointers(void)
{
	CUpointer_attribute which = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
	CUdeviceptr block, managed, async;
	unsigned number = 1;
	void *pinned, *place = &number;

	(void)start();
	DO(cuMemAlloc(&block, 3 * MIB));
	DO(cuMemAllocManaged(&managed, 2 * MIB, CU_MEM_ATTACH_GLOBAL));
	DO(cuMemAllocAsync(&async, 2 * MIB, NULL));
	DO(cuMemHostAlloc(&pinned, 2 * MIB, 0));
	situation("a block");
	ask_attributes(block);
	ask_several(block);
	situation("managed");
	ask_attributes(managed);
	situation("of a pool");
	ask_attributes(async);
	situation("pinned");
	ask_attributes((CUdeviceptr)(uintptr_t)pinned);
	situation("nothing");
	ask_attributes(NOWHERE);
	ask_several(NOWHERE);
	situation("wrong");
	ASK(cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_CONTEXT, block));
	ASK(cuPointerGetAttribute(&number, 0, block));
	ASK(cuPointerGetAttribute(&number, 999, block));
	ASK(cuPointerGetAttributes(0, &which, &place, block));
	ASK(cuPointerGetAttributes(1, NULL, &place, block));
	ASK(cuPointerSetAttribute(NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
				  block));
	ASK(cuPointerSetAttribute(&number, CU_POINTER_ATTRIBUTE_CONTEXT,
				  block));
	ASK(cuPointerSetAttribute(&number, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
				  NOWHERE));
	ASK(cuPointerSetAttribute(&number, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
				  block));
}

void ask_ipc(void)
{
	CUipcMemHandle handle = {{0}};
	CUdeviceptr block, async, address;

	(void)start();
	DO(cuMemAlloc(&block, MIB));
	DO(cuMemAllocAsync(&async, MIB, NULL));
	ASK(cuIpcGetMemHandle(NULL, block));
	ASK(cuIpcGetMemHandle(&handle, NOWHERE));
	ASK(cuIpcGetMemHandle(&handle, async));
	ASK(cuIpcGetMemHandle(&handle, block));
	ASK(cuIpcOpenMemHandle(&address, handle, 0));
	ASK(cuIpcOpenMemHandle(&address, handle, 1));
	ASK(cuIpcCloseMemHandle(NOWHERE));
	ASK(cuIpcCloseMemHandle(block));
	memset(&handle, 0, sizeof(handle));
	situation("zeros");
	ASK(cuIpcOpenMemHandle(&address, handle, 1));
}

void ask_arrays(void)
{
	CUDA_ARRAY_DESCRIPTOR flat = {64, 64, CU_AD_FORMAT_FLOAT, 1};
	CUDA_ARRAY3D_DESCRIPTOR deep = {64, 64, 4, CU_AD_FORMAT_HALF, 2, 0};
	CUmipmappedArray levels = NULL;
	CUarray array = NULL;

	(void)start();
	ASK(cuArrayCreate(NULL, &flat));
	ASK(cuArrayCreate(&array, NULL));
	ASK_FOR(cuArrayCreate(&array, &flat), array);
	ASK(cuArrayDestroy(array));
	ASK_FOR(cuArray3DCreate(&array, &deep), array);
	ASK(cuArrayDestroy(array));
	ASK_FOR(cuMipmappedArrayCreate(&levels, &deep, 3), levels);
	ASK(cuMipmappedArrayDestroy(levels));
	ASK(cuMipmappedArrayCreate(&levels, &deep, 0));
	situation("three channels");
	flat.NumChannels = 3;
	ASK(cuArrayCreate(&array, &flat));
	situation("no width");
	flat.NumChannels = 1;
	flat.Width = 0;
	ASK(cuArrayCreate(&array, &flat));
	flat.Width = 64;
	situation("of int16");
	flat.Format = CU_AD_FORMAT_SIGNED_INT16;
	ASK(cuArrayCreate(&array, &flat));
	situation("of uint32");
	flat.Format = CU_AD_FORMAT_UNSIGNED_INT32;
	ASK(cuArrayCreate(&array, &flat));
	situation("of nothing");
	flat.Format = (CUarray_format)0x77;
	ASK(cuArrayCreate(&array, &flat));
	situation("");
	ASK(cuArrayDestroy(NULL));
}
