/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Groups SHARE_IPC and SHARE_FD: the driver's legacy IPC for its own
 * allocations, and descriptors for pages that were created for it. Keeps
 * nothing; no lock.
 */
#include "plugin.h"
#include "../descriptor.h"

#include <string.h>

_Static_assert(sizeof(gpu_ipc) <= GPUMEM_SHARE_HANDLE_BYTES, "it fits");

gpumem_status GPU(ipc_export)(void *handle, uint64_t address, uint64_t bytes,
			      void *handle_out)
{
	struct gpu_call call = gpu_begin(handle);
	gpu_ipc ipc;

	if (call.status == GPUMEM_OK)
		call.status = gpu_check_memory(
			gpu.IpcGetMemHandle(&ipc, gpu_at(address)),
			PREFIX "IpcGetMemHandle", bytes, address);
	if (call.status == GPUMEM_OK)
		memcpy(handle_out, &ipc, sizeof(ipc));
	return gpu_end(&call);
}

/* What the driver says to a handle that it will not open is about the handle:
 * an invalid context is not the loss of the device here, but a handle of this
 * process. */
static gpumem_status refuse(gpu_result result)
{
	switch ((int)result) {
	case GPU_INVALID_CONTEXT:
		return gpu_fail(GPUMEM_INVALID, result,
				PREFIX "IpcOpenMemHandle: it is an allocation "
				       "of this process");
	case GPU_MAP_FAILED:
		return gpu_fail(GPUMEM_INVALID, result,
				PREFIX "IpcOpenMemHandle: the process that "
				       "shares it has ended or freed it");
	default:
		return gpu_check(result, PREFIX "IpcOpenMemHandle");
	}
}

/* How large it is the sender says, and the driver knows. AMD's may not tell,
 * and then the sender is believed. */
static gpumem_status check_range(gpu_address address, uint64_t bytes)
{
	gpu_address base = 0;
	size_t found = 0, before;
	gpu_result result = gpu.MemGetAddressRange(&base, &found, address);

	if (result != GPU_SUCCESS && !GPU_TELLS_RANGES)
		return GPUMEM_OK;
	if (result != GPU_SUCCESS)
		return gpu_check(result,
				 PREFIX "MemGetAddressRange of what " PREFIX
					"IpcOpenMemHandle gave");
	/* A handle may be of a place inside an allocation. */
	before = (size_t)((uintptr_t)address - (uintptr_t)base);
	if (before < found && bytes <= found - before)
		return GPUMEM_OK;
	return gpu_fail(GPUMEM_INVALID, GPU_SUCCESS,
			"the handle is of %zu bytes, and %llu are said to be "
			"shared",
			found, (unsigned long long)bytes);
}

static gpumem_status open_handle(gpu_ipc ipc, uint64_t bytes,
				 uint64_t *address_out)
{
	gpu_address address;
	gpu_result result = gpu.IpcOpenMemHandle(&address, ipc, GPU_IPC_FLAGS);
	gpumem_status status;

	if (result != GPU_SUCCESS)
		return refuse(result);
	status = check_range(address, bytes);
	if (status == GPUMEM_OK)
		*address_out = (uintptr_t)address;
	else
		(void)gpu.IpcCloseMemHandle(address);
	return status;
}

gpumem_status GPU(ipc_open)(void *handle, const void *bytes_of, uint64_t bytes,
			    uint64_t *address_out)
{
	struct gpu_call call = gpu_begin(handle);
	gpu_ipc ipc;

	memcpy(&ipc, bytes_of, sizeof(ipc));
	if (call.status == GPUMEM_OK)
		call.status = open_handle(ipc, bytes, address_out);
	return gpu_end(&call);
}

gpumem_status GPU(ipc_close)(void *handle, uint64_t address)
{
	struct gpu_call call = gpu_begin(handle);

	if (call.status == GPUMEM_OK)
		call.status = gpu_check(gpu.IpcCloseMemHandle(gpu_at(address)),
					PREFIX "IpcCloseMemHandle");
	return gpu_end(&call);
}

/* Whether its descriptors are closed on exec the driver does not say. */
static gpumem_status hand_out(int fd, int *fd_out)
{
	fd = gm_descriptor_move(fd, GM_DESCRIPTOR_LEAST);
	if (fd < 0)
		return gpu_fail(GPUMEM_NO_HOST_MEMORY, GPU_SUCCESS,
				"no descriptor is left (ulimit -n bounds "
				"them)");
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	*fd_out = fd;
	return GPUMEM_OK;
}

gpumem_status GPU(page_export)(void *handle, gpumem_page page, uint64_t bytes,
			       int *fd_out)
{
	struct gpu_call call = gpu_begin(handle);
	int fd = -1;

	if (call.status == GPUMEM_OK)
		call.status = gpu_check_pages(handle);
	if (call.status == GPUMEM_OK)
		call.status = gpu_check_memory(
			gpu.MemExportToShareableHandle(&fd, gpu_handle_of(page),
						       GPU_DESCRIPTOR, 0),
			PREFIX "MemExportToShareableHandle", bytes, 0);
	if (call.status == GPUMEM_OK)
		call.status = hand_out(fd, fd_out);
	return gpu_end(&call);
}

/* How large it is the driver finds out when it is mapped. */
gpumem_status GPU(page_import)(void *handle, int fd, uint64_t bytes,
			       gpumem_page *page_out)
{
	struct gpu_call call = gpu_begin_good(handle);
	gpu_handle memory;

	if (call.status == GPUMEM_OK)
		call.status = gpu_check_pages(handle);
	if (call.status == GPUMEM_OK)
		call.status = gpu_check(
			gpu.MemImportFromShareableHandle(
				&memory, gpu_descriptor(&fd), GPU_DESCRIPTOR),
			PREFIX "MemImportFromShareableHandle of descriptor "
			       "%d, %llu bytes",
			fd, (unsigned long long)bytes);
	if (call.status == GPUMEM_OK)
		*page_out = gpu_page_of(memory);
	return gpu_end(&call);
}
