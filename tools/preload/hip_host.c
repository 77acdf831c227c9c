/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of the host that AMD's runtime allocates, or knows.
 */
#include "hip_current.h"

#define ALLOC(name)                                                            \
	hipError_t wrap_##name(void **address_out, size_t bytes)               \
	{                                                                      \
		HIP_ALLOC(name, address_out, LEDGER_PINNED, bytes, NULL,       \
			  address_out, bytes);                                 \
	}

#define ALLOC_FLAGS(name)                                                      \
	hipError_t wrap_##name(void **address_out, size_t bytes,               \
			       unsigned flags)                                 \
	{                                                                      \
		HIP_ALLOC(name, address_out, LEDGER_PINNED, bytes, NULL,       \
			  address_out, bytes, flags);                          \
	}

#define FREE(name)                                                             \
	hipError_t wrap_##name(void *address)                                  \
	{                                                                      \
		HIP_FREE(name, BLOCK_HIP_ADDRESS, address, NULL, address);     \
	}

ALLOC(hipMallocHost)
ALLOC(hipMemAllocHost)
ALLOC_FLAGS(hipHostMalloc)
ALLOC_FLAGS(hipHostAlloc)
ALLOC_FLAGS(hipExtHostAlloc)
FREE(hipHostFree)
FREE(hipFreeHost)

hipError_t wrap_hipHostRegister(void *address, size_t bytes, unsigned flags)
{
	HIP_ALLOC(hipHostRegister, &address, LEDGER_REGISTERED, bytes, NULL,
		  address, bytes, flags);
}

hipError_t wrap_hipHostUnregister(void *address)
{
	HIP_FREE(hipHostUnregister, BLOCK_HIP_REGISTERED, address, NULL,
		 address);
}
