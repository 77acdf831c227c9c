/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory for other processes. HIP's handle of a block also says where in the
 * block the address is; CUDA's, which takes as much room, knows the block only.
 * It is mostly zeros: those are left out, to make room for the offset.
 */
#include "hip_fake.h"

#include <string.h>

/* hipIpcMemLazyEnablePeerAccess, as each of them has it. */
#define LAZY_PEERS (FAKEHIP_MAJOR >= 6 ? 1u : 0u)

struct packed {
	uint64_t present; /* bit for each byte of CUDA's that is not 0 */
	uint64_t offset_bytes;
	unsigned char rest[sizeof(hipIpcMemHandle_t) - 2 * sizeof(uint64_t)];
};
_Static_assert(sizeof(CUipcMemHandle) == 64, "a bit for each byte");
_Static_assert(sizeof(struct packed) == sizeof(hipIpcMemHandle_t), "all of it");

static bool pack(const CUipcMemHandle *theirs, uint64_t offset_bytes,
		 struct packed *packed_out)
{
	size_t used = 0;

	memset(packed_out, 0, sizeof(*packed_out));
	packed_out->offset_bytes = offset_bytes;
	for (unsigned i = 0; i < sizeof(theirs->reserved); i++) {
		if (!theirs->reserved[i])
			continue;
		if (used == sizeof(packed_out->rest))
			return false;
		packed_out->present |= 1ull << i;
		packed_out->rest[used++] = (unsigned char)theirs->reserved[i];
	}
	return true;
}

static void unpack(const struct packed *packed, CUipcMemHandle *theirs_out)
{
	size_t used = 0;

	memset(theirs_out, 0, sizeof(*theirs_out));
	for (unsigned i = 0; i < sizeof(theirs_out->reserved); i++)
		if (packed->present >> i & 1 && used < sizeof(packed->rest))
			theirs_out->reserved[i] = (char)packed->rest[used++];
}

static hipError_t get(hipIpcMemHandle_t *handle_out, const void *address)
{
	CUipcMemHandle theirs;
	struct packed packed;
	CUdeviceptr start;
	size_t bytes;
	hipError_t error;

	if (!handle_out || !address)
		return hipErrorInvalidValue;
	hip_block_of(address, &start, &bytes);
	if (!start)
		return hipErrorInvalidValue;
	error = hip_error_of(cu.cuIpcGetMemHandle(&theirs, start));
	if (error != hipSuccess)
		return error;
	if (!pack(&theirs, (uintptr_t)address - start, &packed))
		return hipErrorNotSupported;
	memcpy(handle_out, &packed, sizeof(packed));
	return hipSuccess;
}

static hipError_t open_it(void **out, const hipIpcMemHandle_t *handle,
			  unsigned flags)
{
	CUipcMemHandle theirs;
	struct packed packed;
	CUdeviceptr start = 0;
	hipError_t error;

	if (!out || flags != LAZY_PEERS)
		return hipErrorInvalidValue;
	memcpy(&packed, handle, sizeof(packed));
	unpack(&packed, &theirs);
	error = hip_error_of(cu.cuIpcOpenMemHandle_v2(
		&start, theirs, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	if (error == hipSuccess)
		*out = (void *)(uintptr_t)(start + packed.offset_bytes);
	return error;
}

static hipError_t close_it(const void *address)
{
	CUdeviceptr start;
	size_t bytes;

	hip_block_of(address, &start, &bytes);
	if (!start)
		return hipErrorInvalidValue;
	return hip_error_of(cu.cuIpcCloseMemHandle(start));
}

static hipError_t export_it(void *out, hipMemGenericAllocationHandle_t name,
			    hipMemAllocationHandleType type,
			    unsigned long long flags)
{
	const struct hip_handle *handle = hip_handle_find(name);

	if (!handle || !out || type != hipMemHandleTypePosixFileDescriptor)
		return hipErrorInvalidValue;
	return hip_error_of(cu.cuMemExportToShareableHandle(
		out, handle->memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		flags));
}

static hipError_t import(hipMemGenericAllocationHandle_t *name_out, void *from,
			 hipMemAllocationHandleType type)
{
	CUmemGenericAllocationHandle memory;
	hipError_t error;

	if (!name_out || !from || type != hipMemHandleTypePosixFileDescriptor)
		return hipErrorInvalidValue;
	/* Before 7.1 it is the address of the descriptor. */
	if (hip.version < HIP_RELEASE(7, 1))
		from = (void *)(intptr_t) * (const int *)from;
	error = hip_error_of(cu.cuMemImportFromShareableHandle(
		&memory, from, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
	if (error != hipSuccess)
		return error;
	return hip_handle_adopt(memory, hip_device, 0, name_out);
}

static hipError_t range_of(hipDeviceptr_t *base_out, size_t *bytes_out,
			   const void *address)
{
	CUdeviceptr start;
	size_t bytes;

	hip_block_of(address, &start, &bytes);
	if (!start)
		return hipErrorNotFound;
	if (base_out)
		*base_out = (hipDeviceptr_t)(uintptr_t)start;
	if (bytes_out)
		*bytes_out = bytes;
	return hipSuccess;
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t *base_out, size_t *bytes_out,
				 hipDeviceptr_t address)
{
	HIP_CALL_ON(NULL, hipMemGetAddressRange,
		    range_of(base_out, bytes_out,
			     (const void *)(uintptr_t)address));
}

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *handle_out, void *address)
{
	HIP_CALL_ON(NULL, hipIpcGetMemHandle, get(handle_out, address));
}

hipError_t hipIpcOpenMemHandle(void **out, hipIpcMemHandle_t handle,
			       unsigned flags)
{
	HIP_CALL_ON(NULL, hipIpcOpenMemHandle, open_it(out, &handle, flags));
}

hipError_t hipIpcCloseMemHandle(void *address)
{
	HIP_CALL_ON(NULL, hipIpcCloseMemHandle, close_it(address));
}

hipError_t hipMemExportToShareableHandle(void *out,
					 hipMemGenericAllocationHandle_t name,
					 hipMemAllocationHandleType type,
					 unsigned long long flags)
{
	HIP_CALL_ON(NULL, hipMemExportToShareableHandle,
		    HIP_VM(export_it(out, name, type, flags)));
}

hipError_t
hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t *name_out,
				void *from, hipMemAllocationHandleType type)
{
	HIP_CALL_ON(NULL, hipMemImportFromShareableHandle,
		    HIP_VM(import(name_out, from, type)));
}
