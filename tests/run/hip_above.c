/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A driver that calls itself NVIDIA's and is made of AMD's runtime, as far as
 * hip.c calls it, for tests/tool_run_hip.sh.
 */
#include <stddef.h>

int hipMalloc(void **out, size_t bytes);
int hipFree(void *address);

int cuInit(unsigned flags)
{
	return 0;
}

int cuDevicePrimaryCtxRetain(void **out, int device)
{
	*out = (void *)4096;
	return 0;
}

int cuCtxSetCurrent(void *context)
{
	return 0;
}

int cuCtxGetCurrent(void **out)
{
	*out = (void *)4096;
	return 0;
}

int cuCtxGetDevice(int *out)
{
	*out = 0;
	return 0;
}

int cuMemAlloc_v2(void **out, size_t bytes)
{
	return hipMalloc(out, bytes);
}

int cuMemFree_v2(void *address)
{
	return hipFree(address);
}
