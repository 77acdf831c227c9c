/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What HIP says of an address. An address that it does not know is an error,
 * unlike in CUDA's runtime.
 */
#include "hip_fake.h"

#include <string.h>

/* The numbers that hipMemoryType had before 6.0, and has since. Of managed
 * memory 5.2 says that it is the host's: so its source was read. */
#if FAKEHIP_MAJOR >= 6
enum { HOST = 1, DEVICE = 2, MANAGED = 3 };
#else
enum { HOST = 0, DEVICE = 1, MANAGED = HOST };
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

	if (!out || !address ||
	    !ask(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address, &kind))
		return hipErrorInvalidValue;
	(void)ask(CU_POINTER_ATTRIBUTE_IS_MANAGED, address, &managed);
	(void)ask(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address, &device);
	if (kind == CU_MEMORYTYPE_HOST)
		type = HOST;
	if (managed & 0xff)
		type = MANAGED;
	memset(out, 0, sizeof(*out));
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
