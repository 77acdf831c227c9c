/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What HIP says of an address. One that it does not know is an error before
 * 6.0, and memory that is not registered (0) since.
 */
#include "hip_fake.h"

#include <string.h>

/* The numbers that hipMemoryType had before 6.0, and has since. Of managed
 * memory the former say that it is the host's. */
#if FAKEHIP_MAJOR >= 6
enum { HOST = 1, DEVICE = 2, MANAGED = 3 };
#define UNKNOWN hipSuccess
#else
enum { HOST = 0, DEVICE = 1, MANAGED = HOST };
#define UNKNOWN hipErrorInvalidValue
#endif

static bool ask(CUpointer_attribute which, const void *address, void *out)
{
	return cu.cuPointerGetAttribute(out, which,
					(CUdeviceptr)(uintptr_t)address) ==
	       CUDA_SUCCESS;
}

static hipError_t attributes(hipPointerAttribute_t *out, const void *address)
{
	unsigned kind = 0, managed = 0;
	int device = 0, type = DEVICE;

	if (!out || !address)
		return hipErrorInvalidValue;
	memset(out, 0, sizeof(*out));
	out->device = -2;
	if (!ask(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address, &kind))
		return UNKNOWN;
	(void)ask(CU_POINTER_ATTRIBUTE_IS_MANAGED, address, &managed);
	(void)ask(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address, &device);
	if (kind == CU_MEMORYTYPE_HOST)
		type = HOST;
	if (managed & 0xff)
		type = MANAGED;
	memcpy(out, &type, sizeof(type)); /* its name depends on the header */
	out->device = device;
	out->devicePointer = (void *)(uintptr_t)address;
	if (kind == CU_MEMORYTYPE_HOST || managed & 0xff)
		out->hostPointer = (void *)(uintptr_t)address;
	out->isManaged = managed & 0xff;
	return hipSuccess;
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t *out,
				   const void *address)
{
	HIP_CALL_ON(NULL, hipPointerGetAttributes, attributes(out, address));
}
