/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pools of stream-ordered memory for other processes: a descriptor of a file
 * that names the pool, and data that name a block. Only the process that has
 * the pool can open them here; what a test needs is that they reach the driver.
 * By cuda.h: a pool is made for it, and one that was opened gives no memory.
 */
#include "cuda_fake.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct exported {
	uint64_t magic, number;
};

#define MAGIC_POOL UINT64_C(0x6c6f6f70656b6166)
#define MAGIC_BLOCK UINT64_C(0x6b636c6265656b61)

_Static_assert(sizeof(struct exported) <= sizeof(CUmemPoolPtrExportData),
	       "it fits");

static CUresult export_pool(void *fd_out, CUmemoryPool handle,
			    CUmemAllocationHandleType type,
			    unsigned long long flags)
{
	const struct fake_pool *pool = fake_pool_find(handle);
	struct exported data = {MAGIC_POOL, (uintptr_t)handle};
	int fd;

	if (!fd_out || !pool || flags || !pool->shared ||
	    type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_INVALID_VALUE;
	fd = memfd_create("fakecuda-pool", MFD_CLOEXEC);
	if (fd < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	if (write(fd, &data, sizeof(data)) != sizeof(data)) {
		close(fd);
		return CUDA_ERROR_OPERATING_SYSTEM;
	}
	*(int *)fd_out = fd;
	return CUDA_SUCCESS;
}

static CUresult import_pool(CUmemoryPool *pool_out, void *from,
			    CUmemAllocationHandleType type,
			    unsigned long long flags)
{
	int fd = (int)(intptr_t)from;
	const struct fake_pool *pool;
	struct fake_pool *opened;
	struct exported data;

	if (!pool_out || flags ||
	    type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
	    pread(fd, &data, sizeof(data), 0) != sizeof(data) ||
	    data.magic != MAGIC_POOL)
		return CUDA_ERROR_INVALID_VALUE;
	pool = fake_pool_find((CUmemoryPool)(uintptr_t)data.number);
	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	opened = fake_pool_new(pool->device);
	if (!opened)
		return CUDA_ERROR_OUT_OF_MEMORY;
	opened->opened = true;
	*pool_out = fake_handle_of(opened);
	return CUDA_SUCCESS;
}

static CUresult export_block(CUmemPoolPtrExportData *data_out,
			     CUdeviceptr address)
{
	const struct fake_region *region = fake_region_at(address, FAKE_ALLOC);
	struct exported data = {MAGIC_BLOCK, address};

	if (!data_out || !region || !region->pool || !region->pool->shared ||
	    region->freed_on)
		return CUDA_ERROR_INVALID_VALUE;
	memset(data_out, 0, sizeof(*data_out));
	memcpy(data_out, &data, sizeof(data));
	return CUDA_SUCCESS;
}

static CUresult import_block(CUdeviceptr *address_out, CUmemoryPool handle,
			     const CUmemPoolPtrExportData *from)
{
	const struct fake_pool *pool = fake_pool_find(handle);
	struct exported data;

	if (!address_out || !pool || !pool->opened || !from)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&data, from, sizeof(data));
	if (data.magic != MAGIC_BLOCK ||
	    !fake_region_at(data.number, FAKE_ALLOC))
		return CUDA_ERROR_INVALID_VALUE;
	*address_out = data.number;
	return CUDA_SUCCESS;
}

CUresult cuMemPoolExportToShareableHandle(void *fd_out, CUmemoryPool pool,
					  CUmemAllocationHandleType type,
					  unsigned long long flags)
{
	FAKE_CALL(cuMemPoolExportToShareableHandle,
		  export_pool(fd_out, pool, type, flags));
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *from,
					    CUmemAllocationHandleType type,
					    unsigned long long flags)
{
	FAKE_CALL(cuMemPoolImportFromShareableHandle,
		  import_pool(pool_out, from, type, flags));
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data_out,
				CUdeviceptr address)
{
	FAKE_CALL(cuMemPoolExportPointer, export_block(data_out, address));
}

CUresult cuMemPoolImportPointer(CUdeviceptr *address_out, CUmemoryPool pool,
				CUmemPoolPtrExportData *data)
{
	FAKE_CALL(cuMemPoolImportPointer,
		  import_block(address_out, pool, data));
}
