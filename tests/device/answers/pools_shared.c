/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Questions of stream-ordered pools for other processes, and of the host.
 */
#include "answers.h"

enum { HOST = 2 }; /* of enum CUmemLocationType; newer headers have it */

static CUmemoryPool pool_for(CUmemAllocationHandleType types)
{
	CUmemPoolProps props;
	CUmemoryPool pool = NULL;

	memset(&props, 0, sizeof(props));
	props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	props.handleTypes = types;
	props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	DO(cuMemPoolCreate(&pool, &props));
	return pool;
}

static void ask_of_block(CUdeviceptr block, CUmemoryPool pool)
{
	CUmemoryPool says = NULL;
	CUresult result = cuPointerGetAttribute(&says, 17, block);

	question("cuPointerGetAttribute(&pool, 17, block): it is the pool");
	answer_bool(result, says == pool);
}

void ask_pools_shared(void)
{
	CUmemPoolPtrExportData data;
	CUmemoryPool pool, own, opened = NULL;
	CUstream stream = NULL;
	CUdeviceptr block = 0;
	int fd = -1;

	(void)start();
	DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	own = pool_for(CU_MEM_HANDLE_TYPE_NONE);
	pool = pool_for(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	situation("of a pool that was not made for it");
	ASK(cuMemPoolExportToShareableHandle(&fd, own, 1, 0));
	DO(cuMemAllocFromPoolAsync(&block, 2 * MIB, own, stream));
	ask_of_block(block, own);
	ASK(cuMemPoolExportPointer(&data, block));
	DO(cuMemFreeAsync(block, stream));
	situation("");
	ASK(cuMemPoolExportToShareableHandle(&fd, pool, 1, 0));
	DO(cuMemAllocFromPoolAsync(&block, 2 * MIB, pool, stream));
	ask_of_block(block, pool);
	ASK(cuMemPoolExportPointer(&data, block));
	question("cuMemPoolImportFromShareableHandle(&opened, fd, 1, 0)");
	answer_pointer(cuMemPoolImportFromShareableHandle(
			       &opened, (void *)(intptr_t)fd, 1, 0),
		       &opened);
	DO(cuMemFreeAsync(block, stream));
	DO(cuCtxSynchronize());
}

/* From 12.6 on; its pages are no device's. */
void ask_pools_of_host(void)
{
	CUmemPoolProps props;
	CUmemoryPool pool = NULL;

	(void)start();
	memset(&props, 0, sizeof(props));
	props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	props.location.type = (CUmemLocationType)HOST;
	ASK_FOR(cuMemPoolCreate(&pool, &props), pool);
	ASK(cuMemPoolDestroy(pool));
}
