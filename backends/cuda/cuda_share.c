/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Groups SHARE_IPC and SHARE_FD: the driver's legacy IPC for its own
 * allocations, and descriptors for pages that were created for it. Keeps
 * nothing; nobody locks.
 */
#include "plugin.h"
#include "../common/descriptor.h"

#include <string.h>

#define FD CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

_Static_assert(sizeof(CUipcMemHandle) <= GPUMEM_SHARE_HANDLE_BYTES, "it fits");

gpumem_status gm_cuda_ipc_export(void *handle, uint64_t address, uint64_t bytes,
				 void *handle_out)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, handle);
	CUipcMemHandle ipc;

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(gm_cuda.IpcGetMemHandle(&ipc, address),
			       "cuIpcGetMemHandle of %llu bytes at 0x%llx",
			       (unsigned long long)bytes,
			       (unsigned long long)address);
	if (status == GPUMEM_OK)
		memcpy(handle_out, &ipc, sizeof(ipc));
	gm_cuda_leave(&visit);
	return status;
}

/* What the driver says to a handle that it will not open is about the handle:
 * INVALID_CONTEXT is not the loss of the device here, but a handle of this
 * process. */
static gpumem_status refuse(CUresult result)
{
	switch ((int)result) {
	case CUDA_ERROR_INVALID_CONTEXT:
		return gm_cuda_fail(GPUMEM_INVALID, result,
				    "cuIpcOpenMemHandle: it is an allocation "
				    "of this process");
	case CUDA_ERROR_MAP_FAILED:
		return gm_cuda_fail(GPUMEM_INVALID, result,
				    "cuIpcOpenMemHandle: the process that "
				    "shares it has ended or freed it");
	default:
		return gm_cuda_check(result, "cuIpcOpenMemHandle");
	}
}

/* How large it is the sender says, and the driver knows. */
static gpumem_status check_range(CUdeviceptr address, uint64_t bytes)
{
	CUdeviceptr base = 0;
	size_t found = 0;
	gpumem_status status = gm_cuda_check(
		gm_cuda.MemGetAddressRange(&base, &found, address),
		"cuMemGetAddressRange of what cuIpcOpenMemHandle gave");

	if (status != GPUMEM_OK)
		return status;
	if (address - base < found && bytes <= found - (address - base))
		return GPUMEM_OK;
	return gm_cuda_fail(GPUMEM_INVALID, CUDA_SUCCESS,
			    "the handle is of %zu bytes, and %llu are said to "
			    "be shared",
			    found, (unsigned long long)bytes);
}

static gpumem_status open_handle(CUipcMemHandle ipc, uint64_t bytes,
				 uint64_t *address_out)
{
	CUdeviceptr address;
	CUresult result = gm_cuda.IpcOpenMemHandle(
		&address, ipc, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
	gpumem_status status;

	if (result != CUDA_SUCCESS)
		return refuse(result);
	status = check_range(address, bytes);
	if (status == GPUMEM_OK)
		*address_out = address;
	else
		(void)gm_cuda.IpcCloseMemHandle(address);
	return status;
}

gpumem_status gm_cuda_ipc_open(void *handle, const void *bytes_of,
			       uint64_t bytes, uint64_t *address_out)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, handle);
	CUipcMemHandle ipc;

	if (status != GPUMEM_OK)
		return status;
	memcpy(&ipc, bytes_of, sizeof(ipc));
	status = open_handle(ipc, bytes, address_out);
	gm_cuda_leave(&visit);
	return status;
}

gpumem_status gm_cuda_ipc_close(void *handle, uint64_t address)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, handle);

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(gm_cuda.IpcCloseMemHandle(address),
			       "cuIpcCloseMemHandle");
	gm_cuda_leave(&visit);
	return status;
}

gpumem_status gm_cuda_page_create_shared(void *handle, uint64_t bytes,
					 gpumem_page *page_out)
{
	const struct cuda_device *device = handle;
	CUmemAllocationProp page = device->traits.page;
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, device);
	CUmemGenericAllocationHandle memory;

	if (status != GPUMEM_OK)
		return status;
	page.requestedHandleTypes = FD;
	status = gm_cuda_check(gm_cuda.MemCreate(&memory, bytes, &page, 0),
			       "cuMemCreate of %llu bytes to be shared",
			       (unsigned long long)bytes);
	if (status == GPUMEM_OK)
		*page_out = gm_cuda_page_of(memory);
	gm_cuda_leave(&visit);
	return status;
}

/* Whether its descriptors are closed on exec the driver does not say. */
static gpumem_status hand_out(int fd, int *fd_out)
{
	fd = gm_descriptor_move(fd, GM_DESCRIPTOR_LEAST);
	if (fd < 0)
		return gm_cuda_fail(GPUMEM_NO_HOST_MEMORY, CUDA_SUCCESS,
				    "no descriptor is left (ulimit -n bounds "
				    "them)");
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	*fd_out = fd;
	return GPUMEM_OK;
}

gpumem_status gm_cuda_page_export(void *handle, gpumem_page page,
				  uint64_t bytes, int *fd_out)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, handle);
	int fd = -1;

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(gm_cuda.MemExportToShareableHandle(
				       &fd, gm_cuda_memory_of(page), FD, 0),
			       "cuMemExportToShareableHandle of %llu bytes",
			       (unsigned long long)bytes);
	if (status == GPUMEM_OK)
		status = hand_out(fd, fd_out);
	gm_cuda_leave(&visit);
	return status;
}

/* How large it is the driver finds out when it is mapped. */
gpumem_status gm_cuda_page_import(void *handle, int fd, uint64_t bytes,
				  gpumem_page *page_out)
{
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, handle);
	CUmemGenericAllocationHandle memory;

	if (status != GPUMEM_OK)
		return status;
	status = gm_cuda_check(gm_cuda.MemImportFromShareableHandle(
				       &memory, (void *)(intptr_t)fd, FD),
			       "cuMemImportFromShareableHandle of descriptor "
			       "%d, %llu bytes",
			       fd, (unsigned long long)bytes);
	if (status == GPUMEM_OK)
		*page_out = gm_cuda_page_of(memory);
	gm_cuda_leave(&visit);
	return status;
}
