/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The calls of virtual memory, each with its sentence, for hip_virtual.c,
 * hip_piece.c and hip_segment.c. Between enter and leave. Keeps nothing; nobody
 * locks.
 */
#include "plugin.h"

_Static_assert(sizeof(struct hip_page_kind) == 32, "as in ROCm 5.7 to 7");
_Static_assert(offsetof(struct hip_page_kind, location) == 8, "the same");

gpumem_status gm_hip_addresses_reserve(uint64_t bytes, uint64_t alignment,
				       uint64_t *address_out)
{
	gpumem_status status;
	void *address;

	status = gm_hip_check(
		gm_hip.MemAddressReserve(&address, bytes, alignment, NULL, 0),
		"hipMemAddressReserve of %llu bytes",
		(unsigned long long)bytes);
	if (status == GPUMEM_OK)
		*address_out = (uintptr_t)address;
	return status;
}

gpumem_status gm_hip_addresses_free(uint64_t address, uint64_t bytes)
{
	return gm_hip_check(
		gm_hip.MemAddressFree((void *)(uintptr_t)address, bytes),
		"hipMemAddressFree of %llu bytes at 0x%llx",
		(unsigned long long)bytes, (unsigned long long)address);
}

gpumem_status gm_hip_handle_create(uint64_t bytes,
				   const struct hip_page_kind *kind,
				   hipMemGenericAllocationHandle_t *out)
{
	return gm_hip_check(gm_hip.MemCreate(out, bytes, (const void *)kind, 0),
			    "hipMemCreate of %llu bytes",
			    (unsigned long long)bytes);
}

/* Never of a handle that is mapped: ROCR-Runtime#257. */
gpumem_status gm_hip_handle_release(hipMemGenericAllocationHandle_t handle)
{
	return gm_hip_check(gm_hip.MemRelease(handle), "hipMemRelease");
}

gpumem_status gm_hip_handle_map(uint64_t address, uint64_t bytes,
				hipMemGenericAllocationHandle_t handle)
{
	return gm_hip_check(
		gm_hip.MemMap((void *)(uintptr_t)address, bytes, 0, handle, 0),
		"hipMemMap of %llu bytes at 0x%llx", (unsigned long long)bytes,
		(unsigned long long)address);
}

/* Some releases refuse it on some devices (llama.cpp#18650 and others): the
 * trial at open finds that out. */
gpumem_status gm_hip_set_access(uint64_t address, uint64_t bytes,
				uint64_t devices)
{
	hipMemAccessDesc access[64];
	size_t count = 0;

	for (int i = 0; i < 64; i++)
		if (devices >> i & 1)
			access[count++] = (hipMemAccessDesc){
				.location = {.type = hipMemLocationTypeDevice,
					     .id = i},
				.flags = hipMemAccessFlagsProtReadWrite,
			};
	return gm_hip_check(gm_hip.MemSetAccess((void *)(uintptr_t)address,
						bytes, access, count),
			    "hipMemSetAccess of %llu bytes for %zu devices",
			    (unsigned long long)bytes, count);
}

gpumem_status gm_hip_mapping_unmap(uint64_t address, uint64_t bytes)
{
	return gm_hip_check(gm_hip.MemUnmap((void *)(uintptr_t)address, bytes),
			    "hipMemUnmap of %llu bytes at 0x%llx",
			    (unsigned long long)bytes,
			    (unsigned long long)address);
}
