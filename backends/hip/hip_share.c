/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Groups SHARE_IPC and SHARE_FD: the runtime's IPC for its own allocations,
 * which there are none of at HIP_VM_RESERVE, and descriptors for pages that
 * were created for it. Keeps nothing; nobody locks.
 */
#include "plugin.h"
#include "../common/descriptor.h"

#include <string.h>

#define FD hipMemHandleTypePosixFileDescriptor

_Static_assert(sizeof(hipIpcMemHandle_t) <= GPUMEM_SHARE_HANDLE_BYTES,
	       "it fits");

gpumem_status gm_hip_ipc_export(void *handle, uint64_t address, uint64_t bytes,
				void *handle_out)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, handle);
	hipIpcMemHandle_t ipc;

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(
		gm_hip.IpcGetMemHandle(&ipc, (void *)(uintptr_t)address),
		"hipIpcGetMemHandle of %llu bytes at 0x%llx",
		(unsigned long long)bytes, (unsigned long long)address);
	if (status == GPUMEM_OK)
		memcpy(handle_out, &ipc, sizeof(ipc));
	gm_hip_leave(&visit);
	return status;
}

/* What the runtime says to a handle that it will not open is about the handle:
 * INVALID_CONTEXT is a handle of this process. */
static gpumem_status refuse(hipError_t error)
{
	switch ((int)error) {
	case hipErrorInvalidContext:
		return gm_hip_fail(GPUMEM_INVALID, error,
				   "hipIpcOpenMemHandle: it is an allocation "
				   "of this process");
	case hipErrorMapFailed:
		return gm_hip_fail(GPUMEM_INVALID, error,
				   "hipIpcOpenMemHandle: the process that "
				   "shares it has ended or freed it");
	default:
		return gm_hip_check(error, "hipIpcOpenMemHandle");
	}
}

/* How large it is the sender says, and the runtime as a rule knows. Where it
 * does not say, the sender is believed. */
static gpumem_status check_range(void *address, uint64_t bytes)
{
	hipDeviceptr_t base = NULL;
	size_t found = 0, before;

	if (gm_hip.MemGetAddressRange(&base, &found, (hipDeviceptr_t)address) !=
	    hipSuccess)
		return GPUMEM_OK;
	/* A handle may be of a place inside an allocation. */
	before = (size_t)((uintptr_t)address - (uintptr_t)base);
	if (before < found && bytes <= found - before)
		return GPUMEM_OK;
	return gm_hip_fail(GPUMEM_INVALID, hipSuccess,
			   "the handle is of %zu bytes, and %llu are said to "
			   "be shared",
			   found, (unsigned long long)bytes);
}

static gpumem_status open_handle(hipIpcMemHandle_t ipc, uint64_t bytes,
				 uint64_t *address_out)
{
	void *address;
	hipError_t error =
		gm_hip.IpcOpenMemHandle(&address, ipc, gm_hip.ipc_flags);
	gpumem_status status;

	if (error != hipSuccess)
		return refuse(error);
	status = check_range(address, bytes);
	if (status == GPUMEM_OK)
		*address_out = (uintptr_t)address;
	else
		(void)gm_hip.IpcCloseMemHandle(address);
	return status;
}

gpumem_status gm_hip_ipc_open(void *handle, const void *bytes_of,
			      uint64_t bytes, uint64_t *address_out)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, handle);
	hipIpcMemHandle_t ipc;

	if (status != GPUMEM_OK)
		return status;
	memcpy(&ipc, bytes_of, sizeof(ipc));
	status = open_handle(ipc, bytes, address_out);
	gm_hip_leave(&visit);
	return status;
}

gpumem_status gm_hip_ipc_close(void *handle, uint64_t address)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, handle);

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(
		gm_hip.IpcCloseMemHandle((void *)(uintptr_t)address),
		"hipIpcCloseMemHandle");
	gm_hip_leave(&visit);
	return status;
}

static gpumem_status check_level(const struct hip_device *device)
{
	if (device->level >= HIP_VM_SINGLE)
		return GPUMEM_OK;
	return gm_hip_fail(GPUMEM_UNSUPPORTED, hipSuccess,
			   "the device's virtual memory does not work: there "
			   "are no pages to share");
}

gpumem_status gm_hip_page_create_shared(void *handle, uint64_t bytes,
					gpumem_page *page_out)
{
	const struct hip_device *device = handle;
	struct hip_page_kind kind = device->traits.page;
	hipMemGenericAllocationHandle_t memory;
	struct hip_visit visit;
	gpumem_status status = check_level(device);

	if (status == GPUMEM_OK)
		status = gm_hip_enter_good(&visit, device);
	if (status != GPUMEM_OK)
		return status;
	kind.requested_handle_type = FD;
	status = gm_hip_handle_create(bytes, &kind, &memory);
	if (status == GPUMEM_OK)
		*page_out = (uintptr_t)memory;
	gm_hip_leave(&visit);
	return status;
}

/* Whether its descriptors are closed on exec the runtime does not say. */
static gpumem_status hand_out(int fd, int *fd_out)
{
	fd = gm_descriptor_move(fd, GM_DESCRIPTOR_LEAST);
	if (fd < 0)
		return gm_hip_fail(GPUMEM_NO_HOST_MEMORY, hipSuccess,
				   "no descriptor is left (ulimit -n bounds "
				   "them)");
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	*fd_out = fd;
	return GPUMEM_OK;
}

gpumem_status gm_hip_page_export(void *handle, gpumem_page page, uint64_t bytes,
				 int *fd_out)
{
	struct hip_visit visit;
	gpumem_status status = check_level(handle);
	int fd = -1;

	if (status == GPUMEM_OK)
		status = gm_hip_enter(&visit, handle);
	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(
		gm_hip.MemExportToShareableHandle(
			&fd, (hipMemGenericAllocationHandle_t)(uintptr_t)page,
			FD, 0),
		"hipMemExportToShareableHandle of %llu bytes",
		(unsigned long long)bytes);
	if (status == GPUMEM_OK)
		status = hand_out(fd, fd_out);
	gm_hip_leave(&visit);
	return status;
}

/* How large it is the runtime finds out when it is mapped. */
gpumem_status gm_hip_page_import(void *handle, int fd, uint64_t bytes,
				 gpumem_page *page_out)
{
	hipMemGenericAllocationHandle_t memory;
	struct hip_visit visit;
	gpumem_status status = check_level(handle);

	if (status == GPUMEM_OK)
		status = gm_hip_enter_good(&visit, handle);
	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_check(
		gm_hip.MemImportFromShareableHandle(
			&memory,
			gm_hip.fd_by_value ? (void *)(intptr_t)fd : &fd, FD),
		"hipMemImportFromShareableHandle of descriptor %d, %llu bytes",
		fd, (unsigned long long)bytes);
	if (status == GPUMEM_OK)
		*page_out = (uintptr_t)memory;
	gm_hip_leave(&visit);
	return status;
}
