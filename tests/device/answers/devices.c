/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Questions of devices and contexts.
 */
#include "answers.h"

void ask_before_init(void)
{
	const char *text = "";
	CUcontext context;
	CUdeviceptr block;
	size_t bytes;
	int number = 0;

	ASK(cuDeviceGetCount(&number));
	ASK(cuCtxGetCurrent(&context));
	ASK(cuMemAlloc(&block, 1));
	ASK(cuMemFree(0));
	ASK(cuMemGetInfo(&bytes, &bytes));
	ASK(cuDriverGetVersion(NULL));
	ASK(cuGetErrorName(CUDA_SUCCESS, &text));
	ASK_FOR(cuGetErrorName((CUresult)12345, &text), text);
	ASK_FOR(cuGetErrorString((CUresult)12345, &text), text);
	question("what cuGetErrorName wrote of 12345");
	answer_pointer(CUDA_SUCCESS, &text);
	ASK(cuInit(1));
	ASK(cuInit(0));
	ASK(cuInit(0));
}

void ask_devices(void)
{
	CUdevice device;
	char text[64] = "";
	size_t bytes;
	int number = -1;
	CUuuid uuid;

	DO(cuInit(0));
	ASK(cuDeviceGetCount(NULL));
	ASK(cuDeviceGet(NULL, 0));
	ASK(cuDeviceGet(&device, -1));
	ASK(cuDeviceGet(&device, 99));
	ASK(cuDeviceGetName(NULL, 9, 0));
	ASK(cuDeviceGetName(text, 9, 99));
	ASK(cuDeviceGetName(text, 3, 0));
	question("that is two letters of it");
	answer_bool(CUDA_SUCCESS, strlen(text) == 2);
	ASK(cuDeviceTotalMem(&bytes, 99));
	ASK(cuDeviceGetUuid(&uuid, 99));
	ASK(cuDeviceGetPCIBusId(text, 3, 0));
	ASK(cuDeviceGetPCIBusId(text, 20, 99));
	ASK(cuDeviceGetAttribute(&number, 0, 0));
	ASK(cuDeviceGetAttribute(&number, 9999, 0));
	ASK(cuDeviceGetAttribute(&number, 16, 99));
	ASK_FOR(cuDeviceGetAttribute(&number, 115, 0), number); /* pools */
	ASK_FOR(cuDeviceCanAccessPeer(&number, 0, 0), number);
	ASK(cuDeviceCanAccessPeer(&number, 0, 99));
}

void ask_primary(void)
{
	CUcontext context;
	unsigned flags = 9;
	int active = -1;

	DO(cuInit(0));
	ASK(cuDevicePrimaryCtxRelease(0));
	ASK(cuDevicePrimaryCtxRelease(99));
	ASK(cuDevicePrimaryCtxRetain(NULL, 0));
	ASK(cuDevicePrimaryCtxRetain(&context, 99));
	ASK(cuDevicePrimaryCtxReset(99));
	ASK_FOR(cuDevicePrimaryCtxGetState(0, &flags, &active), active);
	ASK(cuDevicePrimaryCtxGetState(0, NULL, &active));
	ASK(cuDevicePrimaryCtxGetState(0, &flags, NULL));
	ASK(cuDevicePrimaryCtxGetState(99, &flags, &active));
	ASK(cuDevicePrimaryCtxReset(0));
	ASK(cuDevicePrimaryCtxRetain(&context, 0));
	ASK_FOR(cuDevicePrimaryCtxGetState(0, &flags, &active), active);
	ASK(cuDevicePrimaryCtxRelease(0));
	situation("released");
	ASK_FOR(cuDevicePrimaryCtxGetState(0, &flags, &active), active);
	ASK(cuDevicePrimaryCtxRelease(0));
}

void ask_no_context(void)
{
	CUmemoryPool pool = NULL;
	unsigned long long id;
	CUdeviceptr block;
	CUcontext context;
	CUstream stream;
	CUdevice device;
	CUevent event;
	size_t bytes;
	void *memory;

	DO(cuInit(0));
	ASK(cuCtxGetCurrent(NULL));
	ASK_FOR(cuCtxGetCurrent(&context), context);
	ASK(cuCtxGetDevice(&device));
	ASK(cuCtxGetDevice(NULL));
	ASK(cuCtxSynchronize());
	ASK(cuCtxPopCurrent(&context));
	ASK(cuCtxPushCurrent(NULL));
	ASK(cuCtxSetCurrent(NULL));
	ASK(cuCtxGetStreamPriorityRange(NULL, NULL));
#if CUDA_VERSION >= 12000
	ASK(cuCtxGetId(NULL, &id));
#else
	(void)id;
#endif
	ASK(cuMemGetInfo(&bytes, &bytes));
	ASK(cuMemAlloc(&block, 1));
	ASK(cuMemFree(0));
	ASK(cuMemFree(NOWHERE));
	ASK(cuMemHostAlloc(&memory, 4096, 0));
	ASK(cuMemFreeHost(NULL));
	ASK(cuStreamCreate(&stream, 0));
	ASK(cuStreamQuery(NULL));
	ASK(cuEventCreate(&event, 0));
	ASK(cuMemAllocAsync(&block, 1, NULL));
	ASK(cuMemFreeAsync(0, NULL));
	ASK_FOR(cuDeviceGetDefaultMemPool(&pool, 0), pool);
	ASK(cuMemGetAddressRange(NULL, NULL, NOWHERE));
	ASK(cuMemGetAddressRange(&block, NULL, NOWHERE));
}

void ask_contexts(void)
{
	CUcontext context = start(), other = NULL;
	unsigned long long id = 0;
	CUdevice device;
	int least = -99;

	ASK(cuCtxGetCurrent(NULL));
	ASK(cuCtxGetDevice(NULL));
	ASK_FOR(cuCtxGetDevice(&device), device);
	ASK(cuCtxPushCurrent(NULL));
	ASK(cuCtxGetStreamPriorityRange(NULL, NULL));
	ASK_FOR(cuCtxGetStreamPriorityRange(&least, NULL), least);
#if CUDA_VERSION >= 12000
	ASK(cuCtxGetId(context, NULL));
	ASK(cuCtxGetId(NULL, &id));
#else
	(void)id;
#endif
	ASK(cuCtxEnablePeerAccess(NULL, 0));
	ASK(cuCtxEnablePeerAccess(context, 0));
	ASK(cuCtxEnablePeerAccess(context, 1));
	ASK(cuCtxDisablePeerAccess(NULL));
	ASK(cuCtxDisablePeerAccess(context));
	ASK(cuCtxPopCurrent(NULL));
	situation("popped");
	ASK(cuCtxPopCurrent(NULL));
	ASK_FOR(cuCtxGetCurrent(&other), other);
	ASK(cuCtxPushCurrent(context));
	ASK(cuCtxSetCurrent(NULL));
	ASK_FOR(cuCtxGetCurrent(&other), other);
}
