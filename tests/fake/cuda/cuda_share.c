/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory for other processes: a handle's descriptor is its memory file, whose
 * name says which device it is of, and a legacy IPC handle says where in
 * /proc/PID/fd the exporter's file is. Each process counts only what it made
 * itself against the capacity.
 */
#include "cuda_fake.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Descriptors ----------------------------------------------------------
 */

static CUresult export_fd(void *fd_out, CUmemGenericAllocationHandle name,
			  CUmemAllocationHandleType type,
			  unsigned long long flags)
{
	const struct fake_handle *handle = fake_handle_find(name);
	CUresult result = fake_vm_usable();
	int fd;

	if (result != CUDA_SUCCESS)
		return result;
	/* The type is fixed when the handle is made (seen: 1). */
	if (!fd_out || !handle || flags ||
	    type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
	    !(handle->types & type))
		return CUDA_ERROR_INVALID_VALUE;
	fd = fcntl(handle->chunk->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	*(int *)fd_out = fd;
	return CUDA_SUCCESS;
}

/* Which device a descriptor's memory is of; -1: it is no such memory. */
static int device_of(int fd, uint64_t *bytes_out)
{
	char path[64], name[128] = "";
	struct stat status;
	int device;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (readlink(path, name, sizeof(name) - 1) < 0 || fstat(fd, &status) ||
	    sscanf(name, "/memfd:fakecuda-export-%d", &device) != 1)
		return -1;
	*bytes_out = (uint64_t)status.st_size;
	return fake_device_good(device) ? device : -1;
}

static CUresult import_chunk(struct fake_handle *handle, int fd, int device,
			     uint64_t bytes)
{
	handle->chunk = calloc(1, sizeof(*handle->chunk));
	if (!handle->chunk)
		return CUDA_ERROR_OUT_OF_MEMORY;
	handle->chunk->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (handle->chunk->fd < 0) {
		free(handle->chunk);
		return CUDA_ERROR_OPERATING_SYSTEM;
	}
	handle->chunk->own_fd = true;
	handle->chunk->device = device;
	handle->chunk->bytes = bytes;
	handle->chunk->refs = 1;
	handle->types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	return CUDA_SUCCESS;
}

static CUresult import_fd(CUmemGenericAllocationHandle *handle_out, void *from,
			  CUmemAllocationHandleType type)
{
	int fd = (int)(intptr_t)from;
	CUresult result = fake_vm_usable();
	struct fake_handle *handle;
	uint64_t bytes = 0;
	int device;

	if (result != CUDA_SUCCESS)
		return result;
	if (!handle_out || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_INVALID_VALUE;
	device = device_of(fd, &bytes);
	if (device < 0) /* seen: 1 of a tty, 999 of a closed one */
		return CUDA_ERROR_INVALID_VALUE;
	handle = fake_object_new(FAKE_HANDLE, sizeof(*handle));
	if (!handle)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = import_chunk(handle, fd, device, bytes);
	if (result != CUDA_SUCCESS) {
		fake_object_retire(handle);
		free(handle);
		return result;
	}
	*handle_out = handle->object.handle;
	return CUDA_SUCCESS;
}

/* ---- Legacy IPC -----------------------------------------------------------
 */

struct ipc {
	char magic[8];
	int pid, fd, device, skew;
	uint64_t offset, bytes, file_bytes;
};

_Static_assert(sizeof(struct ipc) <= sizeof(CUipcMemHandle), "it fits");

/* Of the base of a cuMemAlloc block. The real driver also takes an address
 * inside (seen); which one the importer then gets is nowhere written. */
static CUresult get_ipc(CUipcMemHandle *handle_out, CUdeviceptr address)
{
	struct ipc ipc = {.magic = "fakeipc"};
	struct fake_context *context;
	CUresult result = fake_context_current(&context);
	const struct fake_region *region = fake_region_at(address, FAKE_ALLOC);

	if (result != CUDA_SUCCESS)
		return result;
	if (!handle_out || !region || region->pool)
		return CUDA_ERROR_INVALID_VALUE;
	ipc.pid = getpid();
	ipc.fd = region->chunk->fd;
	ipc.device = region->device;
	ipc.skew = (int)(region->start - region->mapped_start);
	ipc.offset = region->chunk->offset;
	ipc.bytes = region->bytes;
	ipc.file_bytes = region->chunk->bytes;
	memset(handle_out, 0, sizeof(*handle_out));
	memcpy(handle_out, &ipc, sizeof(ipc));
	return CUDA_SUCCESS;
}

/* 0: the exporter is gone, or let nobody see its files. */
static uint64_t map_ipc(const struct ipc *ipc)
{
	char path[64];
	void *map;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", ipc->pid, ipc->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	map = mmap(NULL, ipc->file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		   fd, (off_t)ipc->offset);
	close(fd);
	return map == MAP_FAILED ? 0 : (uintptr_t)map;
}

static struct fake_region *opened(const struct fake_context *context,
				  const CUipcMemHandle *handle)
{
	for (size_t i = 0; i < fake_regions.count; i++) {
		struct fake_region *region = fake_regions.items[i];

		if (region->kind == FAKE_OPENED && region->context == context &&
		    !memcmp(&region->ipc, handle, sizeof(*handle)))
			return region;
	}
	return NULL;
}

static CUresult new_opened(struct fake_context *context,
			   const CUipcMemHandle *handle, const struct ipc *ipc,
			   CUdeviceptr *address_out)
{
	struct fake_region *region = calloc(1, sizeof(*region));

	if (!region)
		return CUDA_ERROR_OUT_OF_MEMORY;
	region->mapped_start = map_ipc(ipc);
	if (!region->mapped_start) {
		free(region);
		return CUDA_ERROR_MAP_FAILED;
	}
	region->mapped_bytes = ipc->file_bytes;
	region->start = region->mapped_start + (uint64_t)ipc->skew;
	region->bytes = ipc->bytes;
	region->kind = FAKE_OPENED;
	region->device = ipc->device;
	region->context = context;
	region->ipc = *handle;
	region->refs = 1;
	*address_out = region->start;
	return fake_region_add(region);
}

static CUresult open_ipc(CUdeviceptr *address_out, CUipcMemHandle handle,
			 unsigned flags)
{
	struct fake_context *context;
	struct fake_region *region;
	struct ipc ipc;
	CUresult result = fake_context_current(&context);

	if (result != CUDA_SUCCESS)
		return result;
	memcpy(&ipc, &handle, sizeof(ipc));
	if (!address_out || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS ||
	    memcmp(ipc.magic, "fakeipc", 8))
		return CUDA_ERROR_INVALID_VALUE;
	if (ipc.pid == getpid()) /* seen */
		return CUDA_ERROR_INVALID_CONTEXT;
	region = opened(context, &handle);
	if (!region)
		return new_opened(context, &handle, &ipc, address_out);
	region->refs++;
	*address_out = region->start;
	return CUDA_SUCCESS;
}

static CUresult close_ipc(CUdeviceptr address)
{
	struct fake_region *region = fake_region_at(address, FAKE_OPENED);

	if (!region)
		return CUDA_ERROR_INVALID_VALUE;
	if (!--region->refs)
		fake_region_drop(region);
	return CUDA_SUCCESS;
}

/* ---- The calls ------------------------------------------------------------
 */

CUresult cuMemExportToShareableHandle(void *out,
				      CUmemGenericAllocationHandle handle,
				      CUmemAllocationHandleType type,
				      unsigned long long flags)
{
	FAKE_CALL(cuMemExportToShareableHandle,
		  export_fd(out, handle, type, flags));
}

CUresult
cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle_out,
			       void *from, CUmemAllocationHandleType type)
{
	FAKE_CALL(cuMemImportFromShareableHandle,
		  import_fd(handle_out, from, type));
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle_out, CUdeviceptr address)
{
	FAKE_CALL(cuIpcGetMemHandle, get_ipc(handle_out, address));
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address_out, CUipcMemHandle handle,
			       unsigned flags)
{
	FAKE_CALL(cuIpcOpenMemHandle_v2, open_ipc(address_out, handle, flags));
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address)
{
	FAKE_CALL(cuIpcCloseMemHandle, close_ipc(address));
}

/* ---- Other devices --------------------------------------------------------
 * No device of the double has multicast, or a fabric.
 */

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle multicast,
			     size_t offset, CUdeviceptr address, size_t bytes,
			     unsigned long long flags)
{
	(void)multicast;
	(void)offset;
	(void)address;
	(void)bytes;
	(void)flags;
	FAKE_CALL(cuMulticastBindAddr, CUDA_ERROR_NOT_SUPPORTED);
}

CUresult cuMulticastBindAddr_v2(CUmemGenericAllocationHandle multicast,
				CUdevice device, size_t offset,
				CUdeviceptr address, size_t bytes,
				unsigned long long flags)
{
	(void)multicast;
	(void)device;
	(void)offset;
	(void)address;
	(void)bytes;
	(void)flags;
	FAKE_CALL(cuMulticastBindAddr_v2, CUDA_ERROR_NOT_SUPPORTED);
}

CUresult cuLogicalEndpointBindAddr(CUlogicalEndpointId endpoint,
				   CUdevice device, cuuint64_t offset,
				   void *address, cuuint64_t bytes,
				   unsigned long long flags)
{
	(void)endpoint;
	(void)device;
	(void)offset;
	(void)address;
	(void)bytes;
	(void)flags;
	FAKE_CALL(cuLogicalEndpointBindAddr, CUDA_ERROR_NOT_SUPPORTED);
}
